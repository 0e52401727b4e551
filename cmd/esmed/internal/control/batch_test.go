package control_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

// batchOf opens a batch, sends it whole and gives what each of its lines was answered, in few words.
func batchOf(ctx context.Context, c *control.Client, o control.BatchOptions, lines ...string) ([]string, error) {
	results, err := exchangeWith(ctx, c, o, lines)
	var got []string
	for _, r := range results {
		what := "accepted"
		switch {
		case r.Error != nil:
			what = fmt.Sprint(r.Error.Status)
		case r.Existing:
			what = "existing"
		case r.ID == "":
			what = "fine"
		}
		got = append(got, fmt.Sprintf("%d %s", r.Line, what))
	}
	return got, err
}

const (
	toOne = `{"to":"+393331234561","text":"x"}`
	toTwo = `{"to":"+393331234562","text":"x"}`
)

func TestBatch_aDryRunJudgesAndAcceptsNothing(t *testing.T) {
	f := newFake(t)
	f.fail = fmt.Errorf("store: %w", control.ErrDiskFull) // nobody asks it
	c := newClient(t, newAPI(t, f.config()))
	got, err := batchOf(t.Context(), c, control.BatchOptions{DryRun: true}, toOne, "", `{"to":"1"}`, `{"to":`, toOne)
	require.NoError(t, err)
	require.Equal(t, []string{"1 fine", "3 422", "4 400", "5 fine"}, got)
	require.Empty(t, f.mem.Messages)
}

func TestBatch_aKeyMakesItsLinesRepeatable(t *testing.T) {
	f := newFake(t)
	c := newClient(t, newAPI(t, f.config()))
	keyed := func(o control.BatchOptions, lines ...string) []string {
		o.Key = "k"
		got, err := batchOf(t.Context(), c, o, lines...)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, []string{"1 accepted", "2 accepted", "3 accepted"}, keyed(control.BatchOptions{}, toOne, toOne, line(7)))
	require.Equal(t, []string{"1 existing", "2 existing", "3 existing"}, keyed(control.BatchOptions{}, toOne, toOne, line(7)), "the same again")
	require.Equal(t, []string{"1 existing", "2 409"}, keyed(control.BatchOptions{}, toOne, toTwo), "another line in a line's place")
	require.Equal(t, []string{"2 existing", "4 accepted"}, keyed(control.BatchOptions{FirstLine: 2}, toOne, "", toTwo), "from its middle on")
	require.Equal(t, []string{"9 existing"}, keyed(control.BatchOptions{FirstLine: 9}, line(7)), "a ref is known wherever it stands")
	got, err := batchOf(t.Context(), c, control.BatchOptions{Key: "another"}, toOne)
	require.NoError(t, err)
	require.Equal(t, []string{"1 accepted"}, got)
	_, existing, err := c.Submit(t.Context(), control.Submission{To: "+393331234561", Text: "x"}, "k/1")
	require.NoError(t, err)
	require.True(t, existing, "a line can be repeated alone")
}

func TestBatch_whatItsQueryAndHeaderMustNotSay(t *testing.T) {
	tests := []struct{ name, query, key, path string }{
		{"dry_run is no boolean", "?dry_run=perhaps", "", "query.dry_run"},
		{"line 0", "?first_line=0", "", "query.first_line"},
		{"a line below 0", "?first_line=-1", "", "query.first_line"},
		{"a line that no batch has", "?first_line=99999999999", "", "query.first_line"},
		{"an unknown parameter", "?dry=true", "", "query.dry"},
		{"a key that is too long", "", strings.Repeat("k", 256), "header.Idempotency-Key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := control.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				batch := httptest.NewRequest(http.MethodPost, "/v1/messages/batch"+tt.query, strings.NewReader(toOne)).WithContext(r.Context())
				batch.Header.Set("Idempotency-Key", tt.key)
				newAPI(t, newFake(t).config()).ServeHTTP(w, batch)
			}))
			_, err := c.Batch(t.Context())
			var p *control.ProblemError
			require.ErrorAs(t, err, &p)
			require.Equal(t, http.StatusUnprocessableEntity, p.Status)
			require.Len(t, p.Errors, 1)
			require.Equal(t, tt.path, p.Errors[0].Path)
		})
	}
}
