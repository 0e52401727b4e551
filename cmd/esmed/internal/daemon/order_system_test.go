package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"
)

// What waits leaves in the order in which it was accepted, those of a higher priority_flag among themselves
// too, over a restart as well.
func TestQueue_firstInFirstOutPerPriority(t *testing.T) {
	const messages = 40
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{IgnoreFirst: -1}}, func(c *config.Config) {
		c.SMSCs[0].Window = 1
	})
	for n := range messages {
		_, _, err := s.api.Submit(s.ctx, control.Submission{To: number(n), From: "ACME", Text: "x", PriorityFlag: n * 7 % 4}, "")
		require.NoError(t, err)
		if n == messages/2 {
			s.smsc.Drop(smpptest.DropReset) // so that the stop does not wait for a bind
			s.restart()
		}
	}
	s.smsc.Change(func(c *smpptest.Config) { c.Bind.IgnoreFirst = 0 })
	s.smsc.Drop(smpptest.DropReset)
	s.settled()
	last := map[byte]string{}
	for _, sub := range s.smsc.Submits() {
		require.Less(t, last[sub.PriorityFlag], sub.Dest.Addr, "priority %d", sub.PriorityFlag)
		last[sub.PriorityFlag] = sub.Dest.Addr
	}
	require.EqualValues(t, messages, s.smsc.Stats().Submits)
}

// An SMSC that unbinds in the middle of the traffic, one session after the other, is bound again; what it
// answers before it goes is taken, and what it does not is in doubt.
func TestUnbind_bySMSCUnderLoad(t *testing.T) {
	const messages, window = 100, 5
	s := withTwo(t, smpptest.Config{Answers: smpptest.Answers{Delay: 10 * time.Millisecond}}, func(c *config.SMSC) { c.Window = window })
	for n := range messages {
		s.submit(number(n))
		switch n {
		case 30:
			s.smsc.Unbind(1)
		case 60:
			s.smsc.Unbind()
		}
	}
	s.settled()
	r := s.audit("alpha", s.smsc, smpptest.AuditOptions{MaxInDoubt: 3 * window})
	require.Equal(t, messages-r.InDoubt, r.Final)
	require.Zero(t, r.MaybeDoubled)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds >= 4 && st.Bound == 2 })
}

// The number and the kind of sessions change under load: what is outstanding is answered first.
func TestReload_ofSessionsUnderLoad(t *testing.T) {
	const each = 30
	s := newSystem(t, smpptest.Config{
		Answers:  smpptest.Answers{Delay: 2 * time.Millisecond, Jitter: 10 * time.Millisecond},
		Receipts: smpptest.Receipts{Jitter: 20 * time.Millisecond, BeforeResponse: 0.3},
	}, nil)
	var sent []smpptest.Sent
	for i, change := range []func(*config.SMSC){
		func(c *config.SMSC) { c.Sessions = 3 },
		func(c *config.SMSC) { c.Bind, c.Sessions = "transmitter+receiver", 2 },
		func(c *config.SMSC) { c.LongMessages = "sar" },
		func(*config.SMSC) {},
	} {
		for n := range each {
			text := strings.Repeat(fmt.Sprintf("%d.%d ", i, n), 40)
			to := number(i*each + n)
			s.submitTo("", to, text)
			sent = append(sent, smpptest.Sent{Dest: to[1:], Text: text})
			if n == each/2 {
				s.hangUp(s.changed(0, change), nil)
				s.awaitLogs(`"msg":"reloaded"`, i+1)
			}
		}
	}
	s.settled()
	require.Empty(t, smpptest.CompareTexts(sent, smpptest.Join(s.smsc.Submits(), "")))
	r := s.audit("alpha", s.smsc, smpptest.AuditOptions{})
	require.Equal(t, len(sent), r.Final)
	require.Empty(t, s.exceptions())
}
