package control_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

// taker takes orders and keeps what they were.
type taker struct {
	got   []string
	pages int   // of a drop
	fail  error // after them
}

func (o *taker) Cancel(_ context.Context, id statemachine.ID, by, reason string) (control.Cancellation, error) {
	o.got = append(o.got, fmt.Sprint("cancel ", id, " ", by, " ", reason))
	return control.Cancellation{Message: string(id), OK: true, State: "FAILED", Record: 7, Parts: []control.CancelledPart{
		{Part: 1, OK: true, Outcome: control.OutcomeCancelled, State: "FAILED", Record: 7},
	}}, o.fail
}

func (o *taker) Query(_ context.Context, id statemachine.ID, part int) (control.Inquiry, error) {
	o.got = append(o.got, fmt.Sprint("query ", id, " ", part))
	state, code := 2, 0
	return control.Inquiry{Message: string(id), OK: true, State: "DELIVERED", Final: true, Asked: []control.Asked{
		{Part: 1, Attempt: 1, Outcome: control.OutcomeAnswered, MessageState: &state, ErrorCode: &code},
		{Part: 2, Outcome: control.OutcomeUnasked},
	}}, o.fail
}

func (o *taker) HoldQueue(_ context.Context, smsc string, hold bool, by, reason string) (control.QueueOrder, error) {
	o.got = append(o.got, fmt.Sprint("hold ", smsc, " ", hold, " ", by, " ", reason))
	return control.QueueOrder{Changed: true, Record: 7, Queue: control.Queue{
		SMSC: smsc, Priorities: map[string]int64{}, Withheld: []control.QueueWithheld{}, Bind: control.BindUp, Held: &control.QueueHold{By: by, At: began, Reason: reason, Record: 7},
	}}, o.fail
}

func (o *taker) DropQueue(_ context.Context, smsc, by, reason string, progress func(control.QueueDrop) error) (done control.QueueDrop, err error) {
	o.got = append(o.got, fmt.Sprint("drop ", smsc, " ", by, " ", reason))
	for range o.pages {
		done.Messages, done.Parts = done.Messages+2, done.Parts+3
		if err := progress(done); err != nil {
			return done, err
		}
	}
	return done, o.fail
}

// ordering is an API over the fake that gives orders to o.
func ordering(t testing.TB, f *fake, o *taker) *control.API {
	cfg := f.config()
	cfg.Order, cfg.Queue = o, o
	return newAPI(t, cfg)
}

func TestOrders_sayWhatCameOfThem(t *testing.T) {
	f, o := life(t), &taker{pages: 2}
	c := newClient(t, ordering(t, f, o))
	me := fmt.Sprintf("uid:%d", os.Getuid())
	done, err := c.Cancel(t.Context(), firstID, "a mistake")
	require.NoError(t, err)
	require.True(t, done.OK)
	require.EqualValues(t, 7, done.Parts[0].Record)
	found, err := c.Query(t.Context(), firstID, 2)
	require.NoError(t, err)
	require.Equal(t, 2, *found.Asked[0].MessageState)
	require.Nil(t, found.Asked[1].MessageState)
	held, err := c.HoldQueue(t.Context(), "alpha", "they migrate")
	require.NoError(t, err)
	require.Equal(t, "held by "+me+" since 2026-11-30T12:00:00Z: they migrate", held.Queue.Why)
	_, err = c.ReleaseQueue(t.Context(), "alpha", "")
	require.NoError(t, err)
	var told []control.QueueDrop
	dropped, err := c.DropQueue(t.Context(), "alpha", "withdrawn", func(d control.QueueDrop) { told = append(told, d) })
	require.NoError(t, err)
	require.Equal(t, control.QueueDrop{Messages: 4, Parts: 6}, dropped)
	require.Equal(t, []control.QueueDrop{{Messages: 2, Parts: 3}, dropped}, told)
	require.Equal(t, []string{
		"cancel " + firstID + " " + me + " a mistake", "query " + firstID + " 2",
		"hold alpha true " + me + " they migrate", "hold alpha false " + me + " ", "drop alpha " + me + " withdrawn",
	}, o.got)
}

func TestOrders_whoMayGiveThem(t *testing.T) {
	f, o := newFake(t), &taker{}
	for id, owner := range map[string]string{firstID: "crm", "01JDXW5Q0C8Z4Y3K7M2N9P6R5V": "shop"} {
		m := accepted(id, "")
		m.Owner = owner
		f.append(t, m)
	}
	tokens, err := control.ReadTokens(tokensFile(t, "crm send "+hashOf("s3nd"), "board read "+hashOf("r3ad"), "ops operate "+hashOf("0ps")))
	require.NoError(t, err)
	s, _ := serve(t, control.ServerConfig{Addr: "127.0.0.1:0", Tokens: tokens}, ordering(t, f, o))
	as := func(token string) *control.Client {
		c := control.NewClient(&bearer{token: token}, &url.URL{Scheme: "http", Host: s.Addr().String()})
		t.Cleanup(c.Close)
		return c
	}
	const others = "01JDXW5Q0C8Z4Y3K7M2N9P6R5V"
	for _, tt := range []struct {
		name, token, id string
		status          int
	}{
		{"who sends, its own", "s3nd", firstID, 0},
		{"who sends, another's", "s3nd", others, http.StatusForbidden},
		{"who sends, one that is not there", "s3nd", "01JDXW5Q0C8Z4Y3K7M2N9P6R5W", http.StatusNotFound},
		{"who operates, any", "0ps", others, 0},
		{"who reads", "r3ad", firstID, http.StatusForbidden},
	} {
		_, err := as(tt.token).Cancel(t.Context(), tt.id, "")
		if tt.status == 0 {
			require.NoError(t, err, tt.name)
			continue
		}
		requireStatus(t, tt.status, err)
	}
	require.Equal(t, []string{"cancel " + firstID + " token:crm ", "cancel " + others + " token:ops "}, o.got)
	for _, token := range []string{"s3nd", "r3ad"} {
		_, err := as(token).Query(t.Context(), firstID, 0)
		requireStatus(t, http.StatusForbidden, err)
		_, err = as(token).HoldQueue(t.Context(), "alpha", "")
		requireStatus(t, http.StatusForbidden, err)
		_, err = as(token).DropQueue(t.Context(), "alpha", "", nil)
		requireStatus(t, http.StatusForbidden, err)
	}
	_, err = as("r3ad").Queues(t.Context())
	require.NoError(t, err)
	require.Len(t, o.got, 2)
}

func TestOrders_areRefused(t *testing.T) {
	long := strings.Repeat("x", 1001)
	tests := []struct {
		name, method, path, body string
		status                   int
		at                       string // path of the first of its errors
	}{
		{"a reason that is too long", "DELETE", "/v1/messages/" + firstID + "?reason=" + long, "", 422, "query.reason"},
		{"a parameter that is none", "DELETE", "/v1/messages/" + firstID + "?force=true", "", 422, "query.force"},
		{"a part that is no number", "POST", "/v1/messages/" + firstID + "/query?part=x", "", 422, "query.part"},
		{"part 0", "POST", "/v1/messages/" + firstID + "/query?part=0", "", 422, "query.part"},
		{"part 256", "POST", "/v1/messages/" + firstID + "/query?part=256", "", 422, "query.part"},
		{"an order that has no such field", "POST", "/v1/queue/alpha/hold", `{"why":"x"}`, 400, ""},
		{"an order that is no object", "POST", "/v1/queue/alpha/drop", `[]`, 400, ""},
		{"an order's reason that is too long", "POST", "/v1/queue/alpha/release", `{"reason":"` + long + `"}`, 422, "reason"},
		{"an action that is none", "POST", "/v1/queue/alpha/forget", "", 404, ""},
	}
	o := &taker{}
	api := ordering(t, life(t), o)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := control.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				again := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body)).WithContext(r.Context())
				again.Header.Set("Content-Type", "application/json")
				api.ServeHTTP(w, again)
			}))
			_, err := c.Queues(t.Context())
			var p *control.ProblemError
			require.ErrorAs(t, err, &p)
			require.Equal(t, tt.status, p.Status)
			if tt.at != "" {
				require.Equal(t, tt.at, p.Errors[0].Path)
			}
		})
	}
	require.Empty(t, o.got)
}

func TestOrders_thatFail(t *testing.T) {
	f, o := life(t), &taker{pages: 1}
	cfg := f.config()
	cfg.Order, cfg.Queue, cfg.Fault = o, o, func(string, error) {}
	api := newAPI(t, cfg)
	c := newClient(t, api)
	give := func() (errs []error) {
		_, err := c.Cancel(t.Context(), firstID, "")
		errs = append(errs, err)
		_, err = c.Query(t.Context(), firstID, 0)
		errs = append(errs, err)
		_, err = c.HoldQueue(t.Context(), "alpha", "")
		errs = append(errs, err)
		_, err = c.DropQueue(t.Context(), "alpha", "", nil)
		return append(errs, err)
	}
	for _, fail := range []struct {
		err    error
		status int
	}{
		{errors.New("broken"), 500}, {control.ErrDiskFull, 507}, {control.ErrUnavailable, 503}, {control.ErrNotFound, 404},
	} {
		o.fail = fail.err
		for _, err := range give() {
			requireStatus(t, fail.status, err)
		}
	}
	o.fail = control.ErrNoPart
	_, err := c.Query(t.Context(), firstID, 3)
	requireStatus(t, 422, err)

	o.fail = nil
	api.EndStreams()
	given := len(o.got)
	for _, err := range give() {
		requireStatus(t, http.StatusServiceUnavailable, err)
	}
	require.Len(t, o.got, given, "a daemon that stops takes none")

	c = newClient(t, newAPI(t, f.config()))
	for _, err := range give() {
		requireStatus(t, http.StatusServiceUnavailable, err)
	}
}

func TestQueues_sayWhyNothingLeaves(t *testing.T) {
	at := began.Add(time.Hour)
	tests := []struct {
		name  string
		queue control.Queue
		why   string
	}{
		{"it leaves", control.Queue{Bind: control.BindUp, Waiting: 2}, ""},
		{"nothing waits", control.Queue{Bind: control.BindUp}, ""},
		{"held", control.Queue{Bind: control.BindUp, Held: &control.QueueHold{By: "uid:0", At: began}}, "held by uid:0 since 2026-11-30T12:00:00Z"},
		{"held, and no session", control.Queue{Bind: control.BindDown, Held: &control.QueueHold{By: "token:ops", At: began, Reason: "night"}},
			"held by token:ops since 2026-11-30T12:00:00Z: night; no session is bound"},
		{"stopped", control.Queue{Bind: control.BindStopped}, "its sessions were stopped by an operator"},
		{"taken out", control.Queue{Bind: control.BindNotConfigured}, "the SMSC is not configured"},
		{"no daemon", control.Queue{Bind: control.BindNoDaemon}, "no daemon runs"},
		{"paused", control.Queue{Bind: control.BindUp, Paused: &control.QueuePause{Since: began, ProbeAt: at}},
			"the SMSC has taken nothing since 2026-11-30T12:00:00Z, tried again at 2026-11-30T13:00:00Z"},
		{"only retries", control.Queue{Bind: control.BindUp, Delayed: 1, RetryAt: &at}, "waits for the first retry at 2026-11-30T13:00:00Z"},
		{"retries, and others", control.Queue{Bind: control.BindUp, Waiting: 1, Delayed: 1, RetryAt: &at}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := newFake(t).config()
			tt.queue.Priorities, tt.queue.Withheld = map[string]int64{}, []control.QueueWithheld{}
			cfg.Queues = func(context.Context) ([]control.Queue, error) { return []control.Queue{tt.queue}, nil }
			all, err := newClient(t, newAPI(t, cfg)).Queues(t.Context())
			require.NoError(t, err)
			require.Equal(t, tt.why, all[0].Why)
		})
	}
}
