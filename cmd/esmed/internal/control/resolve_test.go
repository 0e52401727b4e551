package control_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

// contradicted is a life whose second final state contradicts the first: exception x7.
func contradicted(t testing.TB) *fake {
	f := life(t)
	f.receive(t, "id:5A3C99F1 stat:UNDELIV done date:2611301205")
	return f
}

// resolve has a decision recorded and gives what came of each.
func resolve(t testing.TB, c *control.Client, r control.Resolve) ([]control.Resolved, control.ResolveSummary) {
	t.Helper()
	var all []control.Resolved
	sum, err := c.Resolve(t.Context(), r, func(one control.Resolved) error {
		all = append(all, one)
		return nil
	})
	require.NoError(t, err)
	return all, sum
}

func TestResolve_saysWhatCameOfEach(t *testing.T) {
	f := contradicted(t)
	c := newClient(t, newAPI(t, f.config()))
	all, sum := resolve(t, c, control.Resolve{IDs: []string{"x7", "x99", "x7", "i99", "ix"}, Action: "take", Reason: "they said so"})
	require.Equal(t, control.ResolveSummary{Resolved: 1, Failed: 3}, sum, "one that is named twice is decided once")
	require.Equal(t, control.Resolved{
		ID: "x7", OK: true, Record: 8, Exception: "x7", Kind: "conflict", Status: "resolved",
		Moves: []control.Moved{{Message: firstID, Part: 1, Verdict: "applied", From: "DELIVERED", To: "UNDELIVERABLE"}},
	}, all[0])
	for _, none := range all[1:] {
		require.False(t, none.OK)
		require.Contains(t, none.Detail, "there is no such")
		require.Zero(t, none.Record)
	}
	decided := f.entries[len(f.entries)-1].Record.Fact.(*statemachine.Operator)
	require.Equal(t, fmt.Sprintf("uid:%d", os.Getuid()), decided.By)
	require.Equal(t, "they said so", decided.Reason)

	again, sum := resolve(t, c, control.Resolve{IDs: []string{"x7"}, Action: "dismiss"})
	require.Equal(t, control.ResolveSummary{Failed: 1}, sum)
	require.Contains(t, again[0].Detail, "x7 is resolved already: take of uid:")
	require.Equal(t, "resolved", again[0].Status)
	require.Len(t, f.entries, 8, "what can have no effect is not recorded")

	undone, _ := resolve(t, c, control.Resolve{IDs: []string{"x7"}, Action: "undo"})
	require.Equal(t, "open", undone[0].Status)
	require.Equal(t, "DELIVERED", undone[0].Moves[0].To)
}

func TestResolve_ofAnInboxRowNamesWhatUndoTakes(t *testing.T) {
	f := life(t)
	row := fmt.Sprintf("i%d", f.receive(t, delivered("UNKNOWN1")))
	c := newClient(t, newAPI(t, f.config()))
	all, _ := resolve(t, c, control.Resolve{IDs: []string{row}, Action: "dismiss", Reason: "of the old system"})
	require.Equal(t, "dismissed", all[0].Status)
	list := func(status string) (ids []string) {
		l, err := c.Exceptions(t.Context(), control.ExceptionQuery{Status: status, Kind: "unmatched"})
		require.NoError(t, err)
		for _, x := range l.Items {
			ids = append(ids, x.ID)
		}
		return ids
	}
	require.Empty(t, list("open"), "a row that was dismissed is not among the open ones")
	require.Equal(t, []string{all[0].Exception}, list("dismissed"))
	require.Equal(t, []string{all[0].Exception}, list("all"), "nor there twice")
	shown, err := c.Exception(t.Context(), row)
	require.NoError(t, err)
	require.Equal(t, "dismissed", shown.Status)
	require.Equal(t, all[0].Exception, shown.Row.Dismissed)

	resolve(t, c, control.Resolve{IDs: []string{all[0].Exception}, Action: "undo"})
	require.Equal(t, []string{row}, list("open"))
}

func TestResolve_inBulkTakesWhatIsSelected(t *testing.T) {
	f := contradicted(t)
	const n = 280 // more than a page; all are old enough to show
	for i := range n {
		f.receive(t, delivered(fmt.Sprintf("UNKNOWN%d", i)))
	}
	f.receive(t, "!garbage")
	c := newClient(t, newAPI(t, f.config()))
	_, sum := resolve(t, c, control.Resolve{Select: &control.Selection{Kind: "unmatched", SMSC: "beta"}, Action: "dismiss"})
	require.Zero(t, sum)
	late := began.Add(8 * 1e9)
	rest, sum := resolve(t, c, control.Resolve{Select: &control.Selection{Since: &late}, Action: "take"})
	require.Zero(t, sum, "the only conflict is older: %v", rest)
	all, sum := resolve(t, c, control.Resolve{Select: &control.Selection{SMSC: "alpha"}, Action: "dismiss"})
	require.Equal(t, n+2, sum.Resolved, "of every kind")
	ids := map[string]bool{}
	for _, one := range all {
		ids[one.ID] = true
	}
	require.Len(t, ids, n+2, "each once")
	left, err := c.Exceptions(t.Context(), control.ExceptionQuery{})
	require.NoError(t, err)
	require.Empty(t, left.Items)
}

func TestResolve_refuses(t *testing.T) {
	api := newAPI(t, contradicted(t).config())
	tests := []struct {
		name, body, path, message string
	}{
		{"no action", `{"ids":["x7"]}`, "action", "must be given"},
		{"an action that is none", `{"ids":["x7"],"action":"forget"}`, "action", "must be one of"},
		{"a pass, which is no decision about exceptions", `{"ids":["x7"],"action":"reprocess"}`, "action", "must be one of"},
		{"nothing to decide about", `{"action":"dismiss"}`, "ids", "must be given"},
		{"ids and a selection", `{"ids":["x7"],"select":{"smsc":"alpha"},"action":"dismiss"}`, "select", "excludes ids"},
		{"no ids", `{"ids":[],"action":"dismiss"}`, "ids", "must name 1 to 1000"},
		{"an id that is none", `{"ids":["x7",7],"action":"dismiss"}`, "ids[1]", "must be the id"},
		{"ids that are no list", `{"ids":"x7","action":"dismiss"}`, "ids", "must be a list"},
		{"everything at once", `{"select":{},"action":"dismiss"}`, "select", "everything at once"},
		{"a kind that is none", `{"select":{"kind":"odd"},"action":"dismiss"}`, "select.kind", "must be one of"},
		{"a time that is none", `{"select":{"since":"yesterday"},"action":"dismiss"}`, "select.since", "must be RFC 3339"},
		{"an undo in bulk", `{"select":{"smsc":"alpha"},"action":"undo"}`, "select", "give ids"},
		{"an assign in bulk", `{"select":{"smsc":"alpha"},"action":"assign","target":"` + firstID + `"}`, "select", "give ids"},
		{"an assign to nobody", `{"ids":["i7"],"action":"assign"}`, "target", "needs it"},
		{"a target that is no message", `{"ids":["i7"],"action":"assign","target":"M1"}`, "target", "26 characters"},
		{"a target without a part", `{"ids":["i7"],"action":"assign","target":"` + firstID + `/0"}`, "target", "from 1"},
		{"a target for what assigns nothing", `{"ids":["x7"],"action":"take","target":"` + firstID + `"}`, "target", "goes with assign"},
		{"an acceptance without an id", `{"ids":["x7"],"action":"accepted"}`, "message_id", "needs it"},
		{"an acceptance with an empty one", `{"ids":["x7"],"action":"accepted","message_id":" "}`, "message_id", "must not be empty"},
		{"a reason without end", `{"ids":["x7"],"action":"take","reason":"` + strings.Repeat("x", 1001) + `"}`, "reason", "1000 octets"},
		{"a name in the wrong case", `{"IDs":["x7"],"action":"take"}`, "IDs", "is unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := post(t, api, tt.body)
			require.Equal(t, http.StatusUnprocessableEntity, p.Status)
			i := slices.IndexFunc(p.Errors, func(e control.FieldProblem) bool { return e.Path == tt.path })
			require.GreaterOrEqual(t, i, 0, "%v", p.Errors)
			require.Contains(t, p.Errors[i].Message, tt.message)
		})
	}
	require.Equal(t, http.StatusBadRequest, post(t, api, `[]`).Status)
	require.Equal(t, http.StatusRequestEntityTooLarge, post(t, api, `{"reason":"`+strings.Repeat("x", 70_000)).Status)
}

// post posts a body to be resolved and gives the problem that it is refused with.
func post(t testing.TB, api http.Handler, body string) control.Problem {
	t.Helper()
	c := control.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		again := httptest.NewRequest(http.MethodPost, "/v1/exceptions/resolve", strings.NewReader(body)).WithContext(r.Context())
		api.ServeHTTP(w, again)
	}))
	_, err := c.Resolve(t.Context(), control.Resolve{}, func(control.Resolved) error { return nil })
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	return p.Problem
}

func TestResolve_recordsTheNameOfTheToken(t *testing.T) {
	tokens, err := control.ReadTokens(tokensFile(t, "board read "+hashOf("r3ad"), "ops operate "+hashOf("0ps")))
	require.NoError(t, err)
	f := contradicted(t)
	s, _ := serve(t, control.ServerConfig{Addr: "127.0.0.1:0", Tokens: tokens}, newAPI(t, f.config()))
	base := &url.URL{Scheme: "http", Host: s.Addr().String()}
	reader := control.NewClient(&bearer{token: "r3ad"}, base)
	defer reader.Close()
	_, err = reader.Resolve(t.Context(), control.Resolve{IDs: []string{"x7"}, Action: "take"}, nil)
	requireStatus(t, http.StatusForbidden, err)

	ops := control.NewClient(&bearer{token: "0ps"}, base)
	defer ops.Close()
	resolve(t, ops, control.Resolve{IDs: []string{"x7"}, Action: "take"})
	x := f.mem.Exceptions["x7"]
	require.Equal(t, "token:ops", x.Resolution.By)
}

func TestOperate_withoutADaemonIsRefused(t *testing.T) {
	cfg := contradicted(t).config()
	cfg.Operate = nil
	c := newClient(t, newAPI(t, cfg))
	_, err := c.Resolve(t.Context(), control.Resolve{IDs: []string{"x7"}, Action: "take"}, nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
	_, err = c.RetryInbox(t.Context(), "", nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
	_, err = c.Reprocess(t.Context(), nil, nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
}

func TestOperate_aFaultEndsTheAnswerWithAProblem(t *testing.T) {
	f := contradicted(t)
	cfg := f.config()
	cfg.Fault = func(string, error) {}
	c := newClient(t, newAPI(t, cfg))
	for _, fail := range []struct {
		err    error
		status int
	}{{errors.New("broken"), 500}, {control.ErrDiskFull, 507}, {control.ErrBusy, 409}} {
		f.fail = fail.err
		_, err := c.Resolve(t.Context(), control.Resolve{IDs: []string{"x7"}, Action: "take"}, nil)
		requireStatus(t, fail.status, err)
		_, err = c.Reprocess(t.Context(), nil, nil)
		requireStatus(t, fail.status, err)
		_, err = c.RetryInbox(t.Context(), "", nil)
		requireStatus(t, fail.status, err)
	}
}

func TestOperate_endsWithTheDaemon(t *testing.T) {
	api := newAPI(t, contradicted(t).config())
	api.EndStreams()
	c := newClient(t, api)
	_, err := c.Resolve(t.Context(), control.Resolve{IDs: []string{"x7"}, Action: "take"}, nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
	_, err = c.RetryInbox(t.Context(), "", nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
	_, err = c.Reprocess(t.Context(), nil, nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
}

func TestReprocess_tellsDecisionsAndCountsThem(t *testing.T) {
	f := contradicted(t)
	f.receive(t, delivered("UNKNOWN1"))
	c := newClient(t, newAPI(t, f.config()))
	var progress []control.ReprocessProgress
	result, err := c.Reprocess(t.Context(), func(control.Decision) error { return nil }, func(p control.ReprocessProgress) { progress = append(progress, p) })
	require.NoError(t, err)
	require.Equal(t, control.ReprocessResult{ReprocessProgress: control.ReprocessProgress{Rows: 1, Messages: 1}, Verdicts: map[string]int{}}, result)
	require.Equal(t, []control.ReprocessProgress{{Rows: 1, Messages: 1}}, progress)

	looked, err := c.RetryInbox(t.Context(), "alpha", nil)
	require.NoError(t, err)
	require.Equal(t, control.InboxRetry{Looked: 1}, looked)
}

func TestException_showsTheDoubtsToTheSameDestination(t *testing.T) {
	f := newFake(t)
	doubt := func(id string) {
		f.append(t, accepted(id, ""))
		f.append(t, &statemachine.Sent{Message: statemachine.ID(id), Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", PDU: pdu(0, "x")})
		f.append(t, &statemachine.AttemptInDoubt{Message: statemachine.ID(id), Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", Cause: "cut"})
	}
	doubt(firstID)
	const secondID, lateID = "01JDXW5Q0C8Z4Y3K7M2N9P6R5V", "01JDXW5Q0C8Z4Y3K7M2N9P6R5W"
	doubt(secondID)
	row := fmt.Sprintf("i%d", f.receive(t, delivered("UNKNOWN1")))
	doubt(lateID)
	c := newClient(t, newAPI(t, f.config()))
	x, err := c.Exception(t.Context(), row)
	require.NoError(t, err)
	require.Equal(t, "DELIVRD", x.Events[0].Receipt.RawStat, "the receipt is read")
	var beside []string
	for _, d := range x.InDoubt {
		beside = append(beside, d.Message)
		require.NotEmpty(t, d.Exception)
		require.Equal(t, "cut", d.Cause)
	}
	require.Equal(t, []string{secondID, firstID}, beside, "those that left before it came, the last first")
	require.Equal(t, statemachine.InDoubt, must(f.Message(context.Background(), firstID)).State, "and nothing is assigned")
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
