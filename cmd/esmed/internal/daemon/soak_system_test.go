package daemon_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// misbehaving is an SMSC that does everything that it should not.
func misbehaving(seed uint64) smpptest.Config {
	return smpptest.Config{
		Seed: seed,
		Bind: smpptest.Bind{AtMost: 4, Linger: 50 * time.Millisecond, DeliverFirst: true},
		Answers: smpptest.Answers{
			Delay: time.Millisecond, Jitter: 10 * time.Millisecond, Never: 0.01, Late: 0.02, LateBy: 800 * time.Millisecond,
			Refuse: []smpptest.Refusal{
				{Status: smpp.StatusThrottled, Share: 0.01}, {Status: smpp.StatusMsgQFul, Share: 0.05}, {Status: smpp.StatusSysErr, Share: 0.02},
				{Status: smpp.StatusInvBndSts, Share: 0.005}, {Status: smpp.StatusInvDstAdr, Share: 0.02},
			},
		},
		Receipts: smpptest.Receipts{
			Jitter: 50 * time.Millisecond, BeforeResponse: 0.2, Duplicates: 0.1, Contradictions: 0.05, Intermediate: 0.1, IntermediateAfter: 0.05,
			Unknown: 0.05, DataSM: 0.2, BrokenTLVs: 0.05, BadDates: 0.05, Retry: 50 * time.Millisecond,
			States: []smpptest.StateShare{{Word: "DELIVRD", Share: 8}, {Word: "UNDELIV", Share: 1}, {Word: "EXPIRED", Share: 1}},
		},
		Traffic: smpptest.Traffic{
			MO: 0.05, MOLikeReceipt: 0.05, Garbage: 0.05, UnknownCommand: 0.05, EnquireLink: 50 * time.Millisecond, Sequence: smpptest.Collide,
		},
		Link: smpptest.Link{
			DropEvery: 40, Drops: []smpptest.Drop{smpptest.DropBefore, smpptest.DropMid, smpptest.DropAfter, smpptest.DropReset}, Fragment: 7,
		},
	}
}

func refusedForGood(p control.Part) bool {
	return slices.ContainsFunc(p.Attempts, func(a control.Attempt) bool { return a.CommandStatus == "ESME_RINVDSTADR" })
}

// Everything at once, a reload and a restart among it: whatever comes to pass, no message is lost, doubled
// without a word, mixed with another or altered.
func TestSoak(t *testing.T) {
	const messages = 150
	tests := []struct {
		name   string
		change func(*config.SMSC)
		resend bool
	}{
		{"two sessions, in_doubt hold, udh", func(c *config.SMSC) { c.Sessions = 2 }, false},
		{"pairs, in_doubt resend, sar", func(c *config.SMSC) {
			c.Bind, c.Sessions, c.InDoubt, c.LongMessages = "transmitter+receiver", 2, "resend", "sar"
		}, true},
		{"one session, in_doubt resend, payload", func(c *config.SMSC) { c.InDoubt, c.LongMessages = "resend", "payload" }, true},
	}
	for seed, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSystem(t, misbehaving(uint64(seed)+1), func(c *config.Config) {
				c.SMSCs[0].Window, c.SMSCs[0].ResponseTimeout = 8, 500*time.Millisecond
				tt.change(&c.SMSCs[0])
			})
			sent := make([]smpptest.Sent, messages)
			submit := func(from, to int) {
				var load sync.WaitGroup
				for lane := range 4 {
					load.Go(func() {
						for n := from + lane; n < to; n += 4 {
							text := strings.Repeat(fmt.Sprintf("no. %d %s ", n, []string{"", "ä[€", "ß", "Я😀"}[n%4]), 1+n%3*12)
							s.submitTo("", number(n), text)
							sent[n] = smpptest.Sent{Dest: number(n)[1:], Text: text}
						}
					})
				}
				load.Wait()
			}
			submit(0, messages/3)
			s.hangUp(s.changed(0, func(c *config.SMSC) { c.Window = 5 }), nil)
			submit(messages/3, 2*messages/3)
			s.restart()
			submit(2*messages/3, messages)
			s.settled()

			r := s.audit("alpha", s.smsc, smpptest.AuditOptions{MaxInDoubt: -1})
			require.Equal(t, messages, r.Messages)
			differ := map[smpptest.DifferenceKind]int{}
			for _, d := range smpptest.CompareTexts(sent, smpptest.Join(s.smsc.Submits(), "")) {
				differ[d.Kind]++
			}
			require.Zero(t, differ[smpptest.Altered])
			failed := 0
			for _, m := range s.messages() {
				if m.State == "FAILED" {
					failed++
				}
				if tt.resend && m.State == "IN_DOUBT" { // what was refused for good, this part or another, is not sent again
					failed++
					require.True(t, slices.ContainsFunc(m.Parts, refusedForGood), "%+v", m.Parts)
				}
			}
			if tt.resend {
				require.NotZero(t, r.MaybeDoubled)
				require.LessOrEqual(t, differ[smpptest.Lost], failed)
			} else {
				require.Zero(t, r.MaybeDoubled)
				require.Zero(t, differ[smpptest.Doubled])
				require.LessOrEqual(t, differ[smpptest.Lost], failed+r.InDoubt)
			}
			t.Log(r.Verdict(), differ, failed)
		})
	}
}
