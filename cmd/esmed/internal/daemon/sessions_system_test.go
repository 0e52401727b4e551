package daemon_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// withTwo is a system whose SMSC is reached by two sessions, both bound.
func withTwo(t *testing.T, sim smpptest.Config, configure func(*config.SMSC)) *system {
	t.Helper()
	s := newSystem(t, sim, func(c *config.Config) {
		c.SMSCs[0].Sessions = 2
		if configure != nil {
			configure(&c.SMSCs[0])
		}
	})
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	return s
}

// hold keeps all answers back; receipts follow the answers.
func hold(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
	a.Held = true
	return a
}

// onConn counts the submits that were seen on each connection.
func (s *system) onConn() map[int]int {
	count := map[int]int{}
	for _, sub := range s.smsc.Submits() {
		count[sub.Conn]++
	}
	return count
}

// Sequence numbers of two sessions are the same, answers come in another order than the submits, and
// receipts on another session than either.
func TestSessions_answersThatChangePlaces(t *testing.T) {
	const messages = 16
	s := withTwo(t, smpptest.Config{OnSubmit: hold, Receipts: smpptest.Receipts{BeforeResponse: 0.5}}, func(c *config.SMSC) { c.Window = messages / 2 })
	ids := s.submitMany(messages)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == messages })
	require.Equal(t, map[int]int{1: messages / 2, 2: messages / 2}, s.onConn(), "each took what fits its window")
	for n := range uint64(messages) {
		require.NoError(t, s.smsc.Answer(messages-n))
	}
	s.awaitAll(ids, "DELIVERED")
	s.agrees()
	given := map[string]string{} // ids by destination
	for _, sub := range s.smsc.Submits() {
		given["+"+sub.Dest.Addr] = sub.MessageID
	}
	for _, id := range ids {
		m := s.message(id)
		require.Equal(t, given[m.To], m.Acceptance.MessageID)
	}
	require.Empty(t, s.exceptions())
	require.Empty(t, s.inbox())
}

// One of two sessions is lost with its window full; the other goes on, and only what the lost one held is in
// doubt.
func TestSessions_oneIsLost(t *testing.T) {
	const window, messages = 4, 60
	tests := []struct {
		name string
		lose func(*smpptest.Server)
	}{
		{"by a reset", func(s *smpptest.Server) { s.Drop(smpptest.DropReset, 1) }},
		{"by silence", func(s *smpptest.Server) { s.Silence(1) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := withTwo(t, smpptest.Config{OnSubmit: hold}, func(c *config.SMSC) {
				c.Window, c.EnquireLink, c.ResponseTimeout = window, 100*time.Millisecond, 2*time.Second
			})
			s.submitMany(messages)
			s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 2*window })
			s.smsc.Change(func(c *smpptest.Config) { c.OnSubmit = nil })
			tt.lose(s.smsc)
			for _, sub := range s.smsc.Submits() {
				if sub.Conn == 2 && sub.N <= 2*window {
					require.NoError(t, s.smsc.Answer(sub.N))
				}
			}
			s.settled()
			s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds >= 3 })
			// What timed out before silence was noticed has made room for as many again.
			r := s.audit("alpha", s.smsc, smpptest.AuditOptions{MaxInDoubt: 2 * window})
			require.GreaterOrEqual(t, r.InDoubt, window)
			require.Equal(t, messages-r.InDoubt, r.Final)
			require.Zero(t, r.MaybeDoubled)
		})
	}
}

// One of two sessions is not read by the SMSC any more: the other carries all.
func TestSessions_oneDoesNotMove(t *testing.T) {
	const window, messages = 3, 50
	s := withTwo(t, smpptest.Config{}, func(c *config.SMSC) { c.Window = window })
	s.smsc.StopReading(1)
	ids := s.submitMany(messages)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits >= messages-window })
	require.Zero(t, s.onConn()[1])
	s.smsc.ResumeReading()
	s.awaitAll(ids, "DELIVERED")
	s.agrees()
	require.LessOrEqual(t, s.onConn()[1], window)
	require.Empty(t, s.exceptions())
}

// A transmitter without its receiver goes on submitting, and the receipts come when there is one again; a
// receiver without its transmitter takes receipts.
func TestSessions_transmitterWithoutReceiverAndTheOtherWayRound(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{Delay: 10 * time.Millisecond}}, func(c *config.Config) {
		c.SMSCs[0].Bind = "transmitter+receiver"
	})
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	s.awaitAll(s.submitMany(5), "DELIVERED")
	conns := map[bool]int{} // by whether submits come on it
	for _, l := range s.smsc.Truth() {
		switch l.Type {
		case smpptest.LineSubmit:
			conns[true] = l.Conn
		case smpptest.LineDelivery:
			conns[false] = l.Conn
		}
	}
	require.NotEqual(t, conns[true], conns[false])

	s.smsc.Change(func(c *smpptest.Config) { c.Bind.IgnoreFirst = -1 })
	s.smsc.Drop(smpptest.DropReset, conns[false])
	var ids []string
	for n := range 5 {
		id := s.submit(number(100 + n))
		require.Equal(t, "SUBMITTED", s.awaitState(id, "SUBMITTED").State)
		ids = append(ids, id)
	}
	s.smsc.Change(func(c *smpptest.Config) { c.Bind.IgnoreFirst = 0 })
	s.smsc.Drop(smpptest.DropReset) // those too that were left without an answer, and the transmitter
	s.awaitAll(ids, "DELIVERED")
	s.awaitState(s.submit(number(200)), "DELIVERED")
	s.agrees()
	require.Empty(t, s.exceptions())
}

// The SMSC has not yet found out that a link is gone: it refuses the new one until then, as if the account
// were bound, and that is no reason to wait as after refused credentials.
func TestSessions_placesThatAreStillTaken(t *testing.T) {
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{AtMost: 2, Linger: 500 * time.Millisecond}}, func(c *config.Config) {
		c.SMSCs[0].Sessions, c.SMSCs[0].Reconnect = 2, config.Backoff{Min: 5 * time.Millisecond, Max: 20 * time.Millisecond}
	})
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	s.smsc.Drop(smpptest.DropReset, 1)
	s.awaitAll(s.submitMany(20), "DELIVERED") // on the other
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	require.False(t, s.alert("credentials", "alpha").Active)
	refused := 0
	for _, l := range s.smsc.Truth() {
		if l.Event == "refused" {
			require.Equal(t, smpp.StatusAlyBnd.String(), l.Status)
			refused++
		}
	}
	require.Greater(t, refused, 1)
	s.agrees()
}

// A response that comes on a later session bears a number that says nothing there.
func TestSessions_anAnswerOnALaterSessionIsNobodys(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Held, a.Receipts = true, nil
		return a
	}}, func(c *config.Config) { c.SMSCs[0].ResponseTimeout = patience })
	lost := s.submit(number(1))
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 1 })
	first := s.smsc.Submits()[0]
	s.smsc.Drop(smpptest.DropReset)
	s.awaitState(lost, "IN_DOUBT")
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 1 })
	s.awaitBind("alpha/1", inState("BoundTRX"))

	stray, err := smpp.Append(nil, &smpp.SubmitSMResp{Header: smpp.Header{SequenceNumber: first.SequenceNumber}, MessageID: "beef"})
	require.NoError(t, err)
	require.NoError(t, s.smsc.WriteRaw(stray))
	second := s.submit(number(2))
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 2 })
	require.Equal(t, first.SequenceNumber, s.smsc.Submits()[1].SequenceNumber, "the very number is used again")
	require.NoError(t, s.smsc.Answer(2))
	s.await(second, "answered", func(m control.Message) bool { return m.Parts[0].Attempts[0].MessageID == "2" })
	m := s.message(lost)
	require.Equal(t, "IN_DOUBT", m.State)
	require.Empty(t, m.Parts[0].Attempts[0].MessageID)
}

// What a throughput limits is the SMSC, not a session.
func TestSessions_shareOneThroughput(t *testing.T) {
	const limit = 100
	s := withTwo(t, smpptest.Config{}, func(c *config.SMSC) { c.Throughput = limit })
	s.awaitAll(s.submitMany(2*limit), "DELIVERED")
	require.Len(t, s.onConn(), 2)
	r := smpptest.RateOf(s.smsc.Truth())
	// What the loopback delays one submit more than another by is not the daemon's.
	require.LessOrEqual(t, r.Most, limit+limit/10, "%+v", r)
}
