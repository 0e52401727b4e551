package daemon_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// shortWindows ends windows soon.
func shortWindows(c *config.Config) { c.SMSCs[0].DeliveryWindow = 300 * time.Millisecond }

// count is how many records of a type a message has.
func (s *system) count(id, recordType string) int {
	s.t.Helper()
	n := 0
	for _, name := range types(s.history(id)) {
		if name == recordType {
			n++
		}
	}
	return n
}

// receipt delivers one for a message from the SMSC.
func (s *system) receipt(m control.Message, word string) {
	s.t.Helper()
	text := "id:" + m.Acceptance.MessageID + " sub:001 dlvrd:001 submit date:2611301200 done date:2611301204 stat:" + word + " err:000 text:"
	s.smsc.Deliver(smpptest.Delivery{
		ESMClass: smpptest.ClassReceipt, Source: smpptest.Address{Addr: m.Destination.Addr, TON: 1, NPI: 1},
		Dest: smpptest.Address{Addr: "ACME", TON: 5}, ShortMessage: []byte(text), MessageState: -1,
	})
}

func TestCutoff_silenceIsUnreportedAndALateReceiptReplacesIt(t *testing.T) {
	s := newSystem(t, silent, shortWindows)
	id := s.submit(number(1))
	m := s.awaitState(id, "UNREPORTED")
	require.True(t, m.Closed)
	require.False(t, m.Final)
	require.Equal(t, "cutoff", m.Basis)
	require.Equal(t, 1, s.count(id, "cutoff"))
	require.True(t, s.alert("overdue", "alpha").Active)
	require.Contains(t, s.metrics(), `esmed_overdue{smsc="alpha"} 1`)
	require.EqualValues(t, 1, s.total().Unreported)

	s.receipt(m, "DELIVRD")
	m = s.awaitState(id, "DELIVERED")
	require.Equal(t, "receipt", m.Basis)
	require.False(t, s.alert("overdue", "alpha").Active)
	require.Contains(t, s.metrics(), `esmed_overdue{smsc="alpha"} 0`)
}

func TestCutoff_whatEndsWhileNoDaemonRunsIsCaughtUp(t *testing.T) {
	s := newSystem(t, silent, func(c *config.Config) { c.SMSCs[0].DeliveryWindow = 2 * time.Second })
	id := s.submit(number(1))
	m := s.awaitState(id, "SUBMITTED")
	s.halt()
	over := m.SubmittedAt.Add(2 * time.Second)
	<-time.After(time.Until(over))
	s.start()
	s.awaitState(id, "UNREPORTED")
}

func TestCutoff_withoutAReceiptAskedForNothingIsMissing(t *testing.T) {
	s := newSystem(t, silent, func(c *config.Config) {
		shortWindows(c)
		c.SMSCs[0].QueryOverdue = true
	})
	submit := func(n int, asked control.RegisteredDelivery) string {
		m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(n), From: "ACME", Text: "hello", RegisteredDelivery: asked}, "")
		require.NoError(t, err)
		return m.ID
	}
	failure := submit(1, "failure")
	none := submit(2, "none")
	m := s.await(failure, "closed", func(m control.Message) bool { return m.Closed })
	require.Equal(t, "SUBMITTED", m.State)
	require.True(t, s.await(none, "closed", func(m control.Message) bool { return m.Closed }).Closed)
	require.Zero(t, s.count(none, "cutoff"))
	require.Zero(t, s.smsc.Stats().Queries)
}

// replies answers query_sm as a test says.
type replies struct {
	mu    sync.Mutex
	asked []smpptest.Query
	list  []smpptest.Reply // in turn; the last one for all that follow
}

func (r *replies) reply(q smpptest.Query) smpptest.Reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, q)
	return r.list[min(len(r.asked), len(r.list))-1]
}

func (r *replies) queries() []smpptest.Query {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

func TestQueryOverdue(t *testing.T) {
	const date = "261130120401000+"
	tests := []struct {
		name    string
		replies []smpptest.Reply
		state   string
		basis   string
		queries int // query_sm sent
		answers int // query_resp recorded
		cutoffs int
	}{
		{"a final state with its date is evidence", []smpptest.Reply{{State: 2, FinalDate: date}}, "DELIVERED", "query_sm", 1, 1, 0},
		{"a final state without date is evidence", []smpptest.Reply{{State: 5}}, "UNDELIVERABLE", "query_sm", 1, 1, 0},
		{"an error code is kept with it", []smpptest.Reply{{State: 8, ErrorCode: 11}}, "REJECTED", "query_sm", 1, 1, 0},
		{"an intermediate state does not keep the window open", []smpptest.Reply{{State: 1}}, "UNREPORTED", "cutoff", 1, 1, 1},
		{"message_state 0 says nothing", []smpptest.Reply{{}}, "UNREPORTED", "cutoff", 1, 1, 1},
		{"an id that the SMSC does not know", []smpptest.Reply{{Status: smpp.StatusInvMsgID}}, "UNREPORTED", "cutoff", 1, 1, 1},
		{"a query that failed", []smpptest.Reply{{Status: smpp.StatusQueryFail}}, "UNREPORTED", "cutoff", 1, 1, 1},
		{"an SMSC that knows no query_sm", []smpptest.Reply{{Nack: true, Status: smpp.StatusInvCmdID}}, "UNREPORTED", "cutoff", 1, 1, 1},
		{"a refusal for now is asked again", []smpptest.Reply{{Status: smpp.StatusThrottled}, {State: 2, FinalDate: date}}, "DELIVERED", "query_sm", 2, 2, 0},
		{"no answer is asked again, once", []smpptest.Reply{{Never: true}}, "UNREPORTED", "cutoff", 2, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := replies{list: tt.replies}
			s := newSystem(t, smpptest.Config{OnSubmit: silent.OnSubmit, OnQuery: r.reply}, func(c *config.Config) {
				shortWindows(c)
				c.SMSCs[0].QueryOverdue, c.SMSCs[0].ResponseTimeout = true, 200*time.Millisecond
			})
			id := s.submit(number(1))
			m := s.awaitState(id, tt.state)
			require.Equal(t, tt.basis, m.Basis)
			require.Equal(t, tt.answers, s.count(id, "query_resp"))
			require.Equal(t, tt.cutoffs, s.count(id, "cutoff"))
			asked := r.queries()
			require.Len(t, asked, tt.queries)
			require.Equal(t, m.Acceptance.MessageID, asked[0].MessageID)
			require.Equal(t, smpptest.Address{Addr: "ACME", TON: 5}, asked[0].Source)
			events := s.history(id)
			if n := slices.IndexFunc(events, func(e control.Event) bool { return e.Type == "query_resp" }); n >= 0 {
				require.NotEmpty(t, events[n].PDU)
				require.Equal(t, "alpha/1", events[n].Session)
			}
		})
	}
}

func TestQueryOverdue_withoutAnIDNobodyIsAsked(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		a = silent.OnSubmit(sub, a)
		a.MessageID = ""
		return a
	}}, func(c *config.Config) {
		shortWindows(c)
		c.SMSCs[0].QueryOverdue = true
	})
	s.awaitState(s.submit(number(1)), "UNREPORTED")
	require.Zero(t, s.smsc.Stats().Queries)
}
