package statemachine_test

import (
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
		{"the last of two that were accepted", "accepted M1 in_doubt=resend\nsent M1\nin_doubt M1\nsent M1/1/2\nsubmit_resp M1/1/2 id=7\nsubmit_resp M1 id=8", 7*time.Second + window},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha\n"+tt.script)
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
		{"longer under other rules", "rules alpha window=96h\n2026-12-03 09:00:04 cutoff M1", statemachine.Submitted,
			"the part's window is open until 2026-12-04T09:00:04Z"},
		{"shorter under other rules", "rules alpha window=24h\n2026-12-01 09:00:04 cutoff M1", statemachine.Unreported, ""},
		{"rules that give no window say nothing", "rules alpha window=0\ncutoff M1", statemachine.Unreported, ""},
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
