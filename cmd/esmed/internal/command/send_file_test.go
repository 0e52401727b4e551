package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// endpoint answers the first n lines of a batch and then ends it.
func endpoint(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		dec, enc := json.NewDecoder(r.Body), json.NewEncoder(w)
		for i := 1; i <= n; i++ {
			var s control.Submission
			if dec.Decode(&s) != nil {
				return
			}
			_ = enc.Encode(control.BatchResult{Line: i, ID: fmt.Sprintf("ID%d", i), State: "QUEUED"})
		}
	})
}

// stopping answers the first n lines of a batch, and the next that the daemon stops.
func stopping(n int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		endpoint(n).ServeHTTP(w, r)
		_ = json.NewEncoder(w).Encode(control.BatchResult{Line: n + 1, Error: &control.Problem{
			Title: "Service Unavailable", Status: http.StatusServiceUnavailable, Detail: "the daemon is stopping", Hint: "submit again when it is back",
		}})
	})
}

func sendRows(t *testing.T, ctx context.Context, h http.Handler, rows int, prefix string) (stdout string, err error) {
	t.Helper()
	var file, out bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&file, "{\"to\":\"+3933312300%05d\",\"text\":\"hello\"}\n", i)
	}
	s := sendFlags{file: filepath.Join(t.TempDir(), "m.ndjson"), refPrefix: prefix, format: formatText}
	require.NoError(t, os.WriteFile(s.file, file.Bytes(), 0o600))
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	err = s.sendFile(cmd, control.NewInProcess(h))
	return out.String(), err
}

func TestSendFile(t *testing.T) {
	const rows = 3 * linesAhead
	t.Run("all rows are answered, far more than are on their way at once", func(t *testing.T) {
		out, err := sendRows(t, t.Context(), endpoint(rows), rows, "")
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d rows: %d accepted by us, 0 accepted before, 0 refused\n", rows, rows), out)
	})
	t.Run("cut short with refs: run it again", func(t *testing.T) {
		out, err := sendRows(t, t.Context(), endpoint(7), rows, "c-")
		require.Equal(t, fmt.Sprintf("%d rows: 7 accepted by us, 0 accepted before, 0 refused, %d not answered\n", rows, rows-7), out)
		f := asFailure(err)
		require.Equal(t, "the daemon ended the batch before all rows were answered", f.text)
		require.Equal(t, []string{"the last row answered is line 7"}, f.more)
		require.Equal(t, "run the same command again: rows that were accepted are recognised by their ref", f.hint)
	})
	t.Run("cut short without refs: compare first", func(t *testing.T) {
		_, err := sendRows(t, t.Context(), endpoint(7), rows, "")
		require.Contains(t, asFailure(err).hint, "rows without an answer may have been accepted or not")
	})
	t.Run("the daemon stops: what it did not take is not refused", func(t *testing.T) {
		out, err := sendRows(t, t.Context(), stopping(7), 20, "c-")
		require.Equal(t, "20 rows: 7 accepted by us, 0 accepted before, 0 refused, 13 not taken\n", out)
		f := asFailure(err)
		require.Equal(t, "the daemon is stopping, and 13 rows were not taken", f.text)
		require.Equal(t, []string{"the last row answered is line 7"}, f.more)
		require.Equal(t, "run the same command again: rows that were accepted are recognised by their ref", f.hint)
	})
	t.Run("the daemon stops, without refs: go on from there", func(t *testing.T) {
		_, err := sendRows(t, t.Context(), stopping(7), 20, "")
		require.Contains(t, asFailure(err).hint, "send the rows from line 8 on again, and none before it")
	})
	t.Run("the daemon stops before the first row", func(t *testing.T) {
		_, err := sendRows(t, t.Context(), stopping(0), 1, "c-")
		require.Equal(t, "the daemon is stopping, and 1 row was not taken", asFailure(err).text)
		require.Equal(t, []string{"no row was answered"}, asFailure(err).more)
	})
	t.Run("interrupted in the middle", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := endpoint(rows)
		_, err := sendRows(t, ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			cancel()
			h.ServeHTTP(w, r)
		}), rows, "c-")
		require.Error(t, err)
	})
	t.Run("no rows at all", func(t *testing.T) {
		out, err := sendRows(t, t.Context(), endpoint(0), 0, "")
		require.NoError(t, err)
		require.Equal(t, "0 rows: 0 accepted by us, 0 accepted before, 0 refused\n", out)
	})
}
