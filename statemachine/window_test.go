package statemachine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

func TestMessage_CutoffAt(t *testing.T) {
	const window, grace = 72 * time.Hour, time.Hour
	tests := []struct {
		name, script string
		want         time.Duration // after began; the records are a second apart
	}{
		{"waiting in our queue", "accepted M1", 0},
		{"being submitted", "accepted M1\nsent M1", 0},
		{"in doubt: never cut off", "accepted M1\nsent M1\nin_doubt M1", 0},
		{"from the accepted response", "accepted M1\nsent M1\nsubmit_resp M1 id=7", 4*time.Second + window},
		{"for the validity sent and the grace", "accepted M1\nsent M1 valid=2h\nsubmit_resp M1 id=7", 4*time.Second + 2*time.Hour + grace},
		{"from the schedule time if that is later", "accepted M1 scheduled=5h\nsent M1\nsubmit_resp M1 id=7", 2*time.Second + 5*time.Hour + window},
		{"reported on its way", "accepted M1\nsent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:ENROUTE\"", 4*time.Second + window},
		{"final", "accepted M1\nsent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:DELIVRD\"", 0},
		{"no receipt asked for", "accepted M1 asks=none\nsent M1\nsubmit_resp M1 id=7", 0},
		{"only failure asked for", "accepted M1 asks=failure\nsent M1\nsubmit_resp M1 id=7", 4*time.Second + window},
		{"cut off", "accepted M1\nsent M1\nsubmit_resp M1 id=7\n2026-12-04 09:00:00 cutoff M1/1", 0},
		{"shown by our reference while its answer was awaited", "accepted M1\nsent M1\nreception ref=M1 text=\"stat:ENROUTE\"\nin_doubt M1", 3*time.Second + window},
		{"in doubt until our reference showed it", "accepted M1\nsent M1\nin_doubt M1\nreception ref=M1 text=\"stat:ENROUTE\"", 3*time.Second + window},
		{"reported on by an answer to a query, nothing else", "accepted M1\nsent M1\nin_doubt M1\nquery_resp M1 state=1", 3*time.Second + window},
		{"reported on though refused", "accepted M1\nsent M1\nsubmit_resp M1 status=0x58 temporary retry=1s\nreception ref=M1 text=\"stat:ENROUTE\"", 3*time.Second + window},
		{"the last of two that were accepted", "accepted M1 in_doubt=resend\nsent M1\nin_doubt M1\nsent M1/1/2\nsubmit_resp M1/1/2 id=7\nsubmit_resp M1 id=8", 7*time.Second + window},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha client_ref\n"+tt.script)
			_, rules := l.mem.Rules()
			m := l.message("M1")
			end, due := m.CutoffAt(&m.Parts[0], &rules.SMSCs[0])
			require.Equal(t, tt.want != 0, due)
			if due {
				require.Equal(t, began.Add(tt.want), end)
			}
		})
	}
}

// TestCutoff_asksForItself: whatever wrote the record, the window must be over when its turn comes, under
// the rules in force then.
func TestCutoff_asksForItself(t *testing.T) {
	tests := []struct {
		name, script string
		want         statemachine.State
		why          string
	}{
		{"over", "2026-12-03 09:00:04 cutoff M1", statemachine.Unreported, ""},
		{"a second before", "2026-12-03 09:00:03 cutoff M1", statemachine.Submitted, "the part's window is open until 2026-12-03T09:00:04Z"},
		{"longer under other rules, and known", "rules alpha window=96h\n2026-12-03 09:00:04 cutoff M1\n2026-12-03 09:00:05 cutoff M1",
			statemachine.Submitted, "the part's window is open until 2026-12-04T09:00:04Z"},
		{"shorter under other rules", "rules alpha window=24h\n2026-12-01 09:00:04 cutoff M1", statemachine.Unreported, ""},
		{"rules that give no window leave it the one it had", "rules alpha window=0\ncutoff M1", statemachine.Submitted,
			"the part's window is open until 2026-12-03T09:00:04Z"},
		{"that one ends too", "rules alpha window=0\n2026-12-03 09:00:04 cutoff M1", statemachine.Unreported, ""},
		{"cut off before", "2026-12-04 09:00:00 cutoff M1\ncutoff M1", statemachine.Unreported, "the part is UNREPORTED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\n"+tt.script)
			require.Equal(t, tt.want, l.message("M1").State)
			require.Equal(t, tt.why, l.effects[len(l.effects)-1].NoEffect)
		})
	}
}

func TestMessage_WindowEnd_withoutRules(t *testing.T) {
	m := play(t, "rules alpha\naccepted M1\nsent M1").message("M1")
	a := &m.Parts[0].Attempts[0]
	require.Zero(t, m.WindowEnd(a, nil))
	require.Zero(t, m.WindowEnd(a, &statemachine.SMSCRules{}))
}

// TestStep_windows: who looks at the clock finds each part under the end of its window, as long as that
// means something, and counts it once it ended in silence.
func TestStep_windows(t *testing.T) {
	const submitted = "accepted M1\nsent M1\nsubmit_resp M1 id=7\n"
	tests := []struct{ name, script, want string }{
		{"waiting in our queue", "accepted M1", ""},
		{"accepted", submitted, "due 2026-12-03 09:00:04 M1/1"},
		{"reported on its way", submitted + `reception text="id:7 stat:ENROUTE"`, "due 2026-12-03 09:00:04 M1/1"},
		{"final", submitted + `reception text="id:7 stat:DELIVRD"`, ""},
		{"no receipt asked for", "accepted M1 asks=none\nsent M1\nsubmit_resp M1 id=7", ""},
		{"only failure asked for, window over", "accepted M1 asks=failure\nsent M1\nsubmit_resp M1 id=7\n2026-12-03 09:00:04 cutoff M1", ""},
		{"in doubt, counted from its sent record", "accepted M1\nsent M1\nin_doubt M1", "doubt 2026-12-03 09:00:03 M1/1"},
		{"the doubt ended, counted from the answer", "accepted M1\nsent M1\nin_doubt M1\nsubmit_resp M1 id=7", "due 2026-12-03 09:00:05 M1/1"},
		{"sent again after the doubt", "accepted M1 in_doubt=resend\nsent M1\nin_doubt M1", ""},
		{"each part its own", "accepted M1 parts=2\nsent M1/1 valid=1h\nsubmit_resp M1/1 id=7\nsent M1/2\nin_doubt M1/2",
			"doubt 2026-12-03 09:00:05 M1/2\ndue 2026-11-30 11:00:04 M1/1"},
		{"over in silence", submitted + "2026-12-05 10:00:00 cutoff M1", "overdue 2026-12-03 09:00 1"},
		{"over in silence under other rules", submitted + "rules alpha window=24h\n2026-12-05 10:00:00 cutoff M1", "overdue 2026-12-01 09:00 1"},
		{"over, and other rules since", submitted + "2026-12-05 10:00:00 cutoff M1\nrules alpha window=24h\n" + `reception text="id:7 stat:ENROUTE"`,
			"overdue 2026-12-03 09:00 1"},
		{"evidence after all", submitted + "2026-12-05 10:00:00 cutoff M1\n" + `reception text="id:7 stat:EXPIRED"`, ""},
		{"two of one minute", submitted + "accepted M2\nsent M2\nsubmit_resp M2 id=8\n2026-12-05 10:00:00 cutoff M1\ncutoff M2", "overdue 2026-12-03 09:00 2"},
		{"too early after rules that made it longer", submitted + "rules alpha window=96h\n2026-12-03 09:00:04 cutoff M1", "due 2026-12-04 09:00:04 M1/1"},
		{"whatever touches it next moves it", submitted + "rules alpha window=24h\n" + `reception text="id:7 stat:ENROUTE"`, "due 2026-12-01 09:00:04 M1/1"},
		{"taken out of the configuration", submitted + "rules beta\n" + `reception text="id:7 stat:ENROUTE"`, "due 2026-12-03 09:00:04 M1/1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, play(t, "rules alpha\n"+tt.script).windows())
		})
	}
}

// windows prints what waits for an end, in order.
func (l *lab) windows() string {
	var lines []string
	for w := range l.mem.Windows {
		what := "due"
		if w.Doubt {
			what = "doubt"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s/%d", what, w.At.Format(time.DateTime), w.Ref.Message, w.Ref.Part))
	}
	for key, n := range l.mem.Overdue {
		lines = append(lines, fmt.Sprintf("overdue %s %d", key.Minute.Format("2006-01-02 15:04"), n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestStep_windowsOfPage: a page of a pass after a change of rules moves the windows of its messages, of
// those too that have nothing else to be judged again, and leaves alone what stays as it is.
func TestStep_windowsOfPage(t *testing.T) {
	l := play(t, "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\naccepted M2\nsent M2 valid=2h\nsubmit_resp M2 id=8\nrules alpha window=24h")
	untouched := l.message("M2")
	l.now = l.now.Add(time.Second)
	l.apply(statemachine.Record{Seq: uint64(len(l.effects)) + 1, At: l.now, Fact: &statemachine.Operator{
		Action: statemachine.ActionReprocess, By: "esmed",
		Reprocess: &statemachine.Reprocess{Messages: []statemachine.ID{"M2", "M1", "M0"}},
	}})
	require.Equal(t, "due 2026-11-30 12:00:07 M2/1\ndue 2026-12-01 09:00:04 M1/1", l.windows())
	require.Same(t, untouched, l.message("M2"))
}
