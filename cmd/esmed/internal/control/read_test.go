package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

// many is a fake with n messages, ids in order.
func many(t testing.TB, n int) *fake {
	f := newFake(t)
	for i := range n {
		f.append(t, accepted(fmt.Sprintf("01JDXW5Q0C8Z4Y3K7M2N9P%04d", i), fmt.Sprintf("r%d", i)))
	}
	return f
}

func TestMessages_pages(t *testing.T) {
	f := many(t, 25)
	c := newClient(t, newAPI(t, f.config()))
	for _, limit := range []int{0, 7, 25, 100} {
		var ids []string
		for m, err := range control.All(t.Context(), limit, func(ctx context.Context, cursor string, n int) (control.List[control.Message], error) {
			return c.Messages(ctx, control.MessageQuery{Cursor: cursor, Limit: min(n, 4)})
		}) {
			require.NoError(t, err)
			ids = append(ids, m.ID)
		}
		want := 25
		if limit > 0 {
			want = min(limit, 25)
		}
		require.Len(t, ids, want)
		require.Equal(t, "01JDXW5Q0C8Z4Y3K7M2N9P0024", ids[0])
	}
}

func TestMessages_filters(t *testing.T) {
	f := many(t, 3)
	f.send(t, "01JDXW5Q0C8Z4Y3K7M2N9P0001", "m1")
	c := newClient(t, newAPI(t, f.config()))
	tests := []struct {
		name string
		q    control.MessageQuery
		want int
	}{
		{"all", control.MessageQuery{}, 3},
		{"a state", control.MessageQuery{States: []string{"SUBMITTED"}}, 1},
		{"a state in small letters", control.MessageQuery{States: []string{"submitted"}}, 1},
		{"several states", control.MessageQuery{States: []string{"SUBMITTED", "QUEUED"}}, 3},
		{"another SMSC", control.MessageQuery{SMSC: "beta"}, 0},
		{"a destination", control.MessageQuery{To: "+393331234567"}, 3},
		{"since", control.MessageQuery{Since: began.Add(3 * time.Second)}, 2},
		{"until", control.MessageQuery{Until: began.Add(3 * time.Second)}, 1},
		{"a ref", control.MessageQuery{Ref: "r2"}, 1},
		{"an id of the SMSC's", control.MessageQuery{MessageID: "m1", SMSC: "alpha"}, 1},
		{"an id that is none", control.MessageQuery{MessageID: "m2"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := c.Messages(t.Context(), tt.q)
			require.NoError(t, err)
			require.Len(t, l.Items, tt.want)
			require.NotNil(t, l.Items)
		})
	}
}

func TestReads_refuse(t *testing.T) {
	api := newAPI(t, life(t).config())
	tests := []struct {
		name, method, target string
		status               int
		detail               string
	}{
		{"an unknown path", "GET", "/v1/nothing", 404, "there is nothing at this path"},
		{"an unknown method", "DELETE", "/v1/messages", 405, "this path does not take DELETE"},
		{"no such message", "GET", "/v1/messages/x", 404, "nothing has this id"},
		{"the history of none", "GET", "/v1/messages/x/events", 404, "nothing has this id"},
		{"no such exception", "GET", "/v1/exceptions/x99", 404, "nothing has this id"},
		{"no such inbox row", "GET", "/v1/exceptions/i99", 404, "nothing has this id"},
		{"no inbox row at all", "GET", "/v1/exceptions/ix", 404, "nothing has this id"},
		{"an unknown parameter", "GET", "/v1/messages?colour=red", 422, "validation failed"},
		{"a limit of 0", "GET", "/v1/messages?limit=0", 422, "validation failed"},
		{"no such state", "GET", "/v1/messages?state=LOST", 422, "the query is not valid"},
		{"a cursor that no list gave", "GET", "/v1/messages?cursor=zzz", 422, "the query is not valid"},
		{"a seq that no log has", "GET", "/v1/events?after=18446744073709551615", 422, "the query is not valid"},
		{"no time", "GET", "/v1/messages?since=yesterday", 422, "the query is not valid"},
		{"two look-ups", "GET", "/v1/messages?ref=a&message_id=b", 422, "the query is not valid"},
		{"a wait for something else", "GET", "/v1/messages/" + firstID + "?wait=luck", 422, "validation failed"},
		{"no duration", "GET", "/v1/messages/" + firstID + "?wait=final&timeout=30", 422, "the query is not valid"},
		{"no cursor", "GET", "/v1/events?after=x", 422, "the query is not valid"},
		{"no decision's cursor", "GET", "/v1/events?after=1.x", 422, "the query is not valid"},
		{"no such only", "GET", "/v1/events?only=finals", 422, "the query is not valid"},
		{"no such bool", "GET", "/v1/events?follow=maybe", 422, "the query is not valid"},
		{"an inbox cursor that is none", "GET", "/v1/inbox?cursor=%21", 422, "the query is not valid"},
		{"an exceptions cursor that is none", "GET", "/v1/exceptions?cursor=7", 422, "the query is not valid"},
		{"no such kind", "GET", "/v1/exceptions?kind=bad", 422, "validation failed"},
		{"a negative window", "GET", "/v1/report?window=-1h", 422, "the query is not valid"},
		{"verify with parameters", "POST", "/v1/verify?deep=1", 422, "the query is not valid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := ask(t, &checked{t: t, api: api, doc: document(t, api)}, tt.method, tt.target)
			require.Equal(t, tt.status, p.Status)
			require.Equal(t, tt.detail, p.Detail)
			require.NotEmpty(t, p.Hint)
		})
	}
}

// ask makes any request of an API, as somebody who may do everything.
func ask(t testing.TB, api http.Handler, method, target string) control.Problem {
	var p control.Problem
	redirect := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := httptest.NewRequestWithContext(r.Context(), method, target, nil)
		rec := httptest.NewRecorder()
		api.ServeHTTP(writer{rec}, asked)
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &p))
		require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
		require.Equal(t, rec.Code, p.Status)
	})
	_ = control.NewInProcess(redirect).Ready(t.Context()) // for its caller
	return p
}

func TestReads_withoutACallerAreRefused(t *testing.T) {
	api := newAPI(t, newFake(t).config())
	for target, status := range map[string]int{"/v1/messages": 401, "/v1/binds": 401, "/metrics": 404, "/healthz": 200, "/openapi.json": 200} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		require.Equal(t, status, w.Code, target)
	}
}

func TestHealth(t *testing.T) {
	cfg := newFake(t).config()
	cfg.Ready = func(context.Context) error { return errors.New("alpha is not bound") }
	cfg.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("esmed_queue_size 0\n")) })
	c := newClient(t, newAPI(t, cfg))
	var p *control.ProblemError
	require.ErrorAs(t, c.Ready(t.Context()), &p)
	require.Equal(t, "alpha is not bound", p.Detail)
	binds, err := c.Binds(t.Context())
	require.NoError(t, err)
	require.Equal(t, "BoundTRX", binds[0].State)
}

func TestWaitFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		f.append(t, accepted(firstID, ""))
		c := control.NewInProcess(newAPI(t, f.config()))
		start := time.Now()
		m, err := c.WaitFinal(t.Context(), firstID, 10*time.Second)
		require.NoError(t, err)
		require.False(t, m.Final)
		require.Equal(t, 10*time.Second, time.Since(start))

		time.AfterFunc(3*time.Second, func() {
			f.send(t, firstID, "a1")
			f.receive(t, delivered("a1"))
		})
		m, err = c.WaitFinal(t.Context(), firstID, time.Hour)
		require.NoError(t, err)
		require.True(t, m.Final)
		require.Equal(t, 13*time.Second, time.Since(start))
	})
}

func TestEvents_cursors(t *testing.T) {
	f := life(t)
	c := newClient(t, newAPI(t, f.config()))
	tests := []struct {
		name string
		q    control.EventsQuery
		want []uint64
	}{
		{"all", control.EventsQuery{}, []uint64{1, 2, 3, 4, 5, 6}},
		{"after a record", control.EventsQuery{After: "4"}, []uint64{5, 6}},
		{"after a record's last decision", control.EventsQuery{After: "4.0"}, []uint64{5, 6}},
		{"after none of a record's decisions", control.EventsQuery{After: "3"}, []uint64{4, 5, 6}},
		{"after the last", control.EventsQuery{After: "6"}, nil},
		{"far beyond", control.EventsQuery{After: "600"}, nil},
		{"changes", control.EventsQuery{OnlyChanges: true}, []uint64{4, 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []uint64
			for e, err := range c.Events(t.Context(), tt.q) {
				require.NoError(t, err)
				got = append(got, e.Seq)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestEvents_followResumesWhereItWasCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		api := newAPI(t, f.config())
		cut := 0
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if cut++; cut%2 == 0 { // every other connection finds nobody
				http.Error(w, `{"status":503}`, http.StatusServiceUnavailable)
				return
			}
			ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
			defer cancel()
			api.ServeHTTP(w, r.WithContext(ctx))
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		var got []uint64
		for e, err := range control.NewInProcess(h).Events(ctx, control.EventsQuery{Follow: true}) {
			require.NoError(t, err)
			got = append(got, e.Seq)
			if len(got) == 30 {
				break
			}
			<-ticker.C
			f.append(t, accepted(fmt.Sprintf("01JDXW5Q0C8Z4Y3K7M2N9P%04d", len(got)), ""))
		}
		for i, seq := range got {
			require.EqualValues(t, i+1, seq)
		}
		require.Greater(t, cut, 3)
	})
}

func TestEvents_asServerSentEvents(t *testing.T) {
	api := newAPI(t, life(t).config())
	var body strings.Builder
	withHeader := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Last-Event-ID", "4")
		rec := httptest.NewRecorder()
		api.ServeHTTP(writer{rec}, r)
		body.WriteString(rec.Body.String())
		w.WriteHeader(rec.Code)
	})
	for range control.NewInProcess(withHeader).Events(t.Context(), control.EventsQuery{}) {
	}
	var ids []string
	for sc := bufio.NewScanner(strings.NewReader(body.String())); sc.Scan(); {
		if id, ok := strings.CutPrefix(sc.Text(), "id: "); ok {
			ids = append(ids, id)
		}
	}
	require.Equal(t, []string{"5", "6"}, ids)
	require.Contains(t, body.String(), "event: reception\ndata: {\"seq\":5,")
}

// writer gives a recorder the deadlines that it lacks.
type writer struct{ *httptest.ResponseRecorder }

func (writer) SetReadDeadline(time.Time) error  { return nil }
func (writer) SetWriteDeadline(time.Time) error { return nil }

func TestEvents_followerWhoIsGoneEndsItsStream(t *testing.T) {
	c := newClient(t, newAPI(t, life(t).config()))
	n := 0
	for range c.Events(t.Context(), control.EventsQuery{Follow: true}) {
		if n++; n == 6 {
			break
		}
	}
	require.Equal(t, 6, n) // goleak sees to the rest
}

func TestExceptions_pagesThroughBothRuns(t *testing.T) {
	f := life(t)
	f.receive(t, "!garbage")
	f.receive(t, "id:5A3C99F1 stat:UNDELIV done date:2611301205")
	for i := range 5 {
		f.receive(t, delivered(fmt.Sprintf("UNKNOWN%d", i)))
	}
	c := newClient(t, newAPI(t, f.config()))
	list := func(q control.ExceptionQuery) (ids []string) {
		for x, err := range control.All(t.Context(), 0, func(ctx context.Context, cursor string, _ int) (control.List[control.Exception], error) {
			q.Cursor = cursor
			return c.Exceptions(ctx, q)
		}) {
			require.NoError(t, err)
			ids = append(ids, x.ID)
		}
		return ids
	}
	all := []string{"x7", "x8", "i9", "i10", "i11", "i12", "i13"}
	for limit := 1; limit < 9; limit++ {
		require.ElementsMatch(t, all, list(control.ExceptionQuery{Limit: limit}), limit)
	}
	require.Len(t, list(control.ExceptionQuery{Kind: "unmatched", Limit: 2}), 5)
	require.Equal(t, []string{"x7"}, list(control.ExceptionQuery{Kind: "undecodable"}))
	require.Empty(t, list(control.ExceptionQuery{Status: "resolved"}))
}

// forgetful does not know the places that its lists are asked from.
type forgetful struct{ *fake }

func (forgetful) Inbox(context.Context, string, statemachine.InboxKey, int) ([]control.InboxEntry, statemachine.InboxKey, error) {
	return nil, "", fmt.Errorf("cursor: %w", control.ErrNotFound)
}

func (forgetful) Exceptions(context.Context, control.ExceptionFilter) ([]*statemachine.Exception, string, error) {
	return nil, "", fmt.Errorf("cursor: %w", control.ErrNotFound)
}

func TestLists_blameTheCursorForWhatIsNotThere(t *testing.T) {
	cfg := newFake(t).config()
	cfg.Inbox, cfg.Exceptions = forgetful{}, forgetful{}
	api := newAPI(t, cfg)
	for _, target := range []string{"/v1/inbox?cursor=eA", "/v1/exceptions?cursor=x:eA", "/v1/exceptions?cursor=i:eA"} {
		p := ask(t, api, "GET", target)
		require.Equal(t, http.StatusUnprocessableEntity, p.Status, target)
		require.Equal(t, "query.cursor", p.Errors[0].Path, target)
	}
}

func TestLists_nameTheStates(t *testing.T) {
	p := ask(t, newAPI(t, newFake(t).config()), "GET", "/v1/messages?state=LOST")
	for _, s := range statemachine.States() {
		require.Contains(t, p.Errors[0].Message, s.String())
	}
}

func TestExceptions_leaveOutYoungInboxRows(t *testing.T) {
	f := newFake(t)
	f.receive(t, delivered("UNKNOWN1"))
	cfg := f.config()
	cfg.Now = func() time.Time { return began.Add(time.Minute) }
	l, err := newClient(t, newAPI(t, cfg)).Exceptions(t.Context(), control.ExceptionQuery{})
	require.NoError(t, err)
	require.Empty(t, l.Items)
}

func TestVerify(t *testing.T) {
	f := life(t)
	c := newClient(t, newAPI(t, f.config()))
	var steps []string
	r, err := c.Verify(t.Context(), func(p control.VerifyProgress) { steps = append(steps, p.Step) })
	require.NoError(t, err)
	require.True(t, r.OK)
	require.Equal(t, []string{"chain", "fold"}, steps)

	f.fail = control.ErrUnavailable
	_, err = c.Verify(t.Context(), nil)
	requireStatus(t, 503, err)
}

func TestNew_refusesWhatCannotWork(t *testing.T) {
	for name, change := range map[string]func(*control.Config){
		"no reader":                func(c *control.Config) { c.Log = nil },
		"nothing reads PDUs":       func(c *control.Config) { c.Reception = nil },
		"two SMSCs of a name":      func(c *control.Config) { c.SMSCs = append(c.SMSCs, c.SMSCs[0]) },
		"a default that is not it": func(c *control.Config) { c.DefaultSMSC = "beta" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := newFake(t).config()
			change(&cfg)
			_, err := control.New(cfg)
			require.Error(t, err)
		})
	}
}

func TestScopes(t *testing.T) {
	s, err := control.ParseScopes("send,operate")
	require.NoError(t, err)
	require.Equal(t, "send,operate", s.String())
	_, err = control.ParseScopes("")
	require.Error(t, err)
}
