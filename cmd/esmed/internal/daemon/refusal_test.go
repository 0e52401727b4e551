package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
)

func TestClassify(t *testing.T) {
	retry := config.Retry{Statuses: []smpp.Status{0x408}, PauseStatuses: []smpp.Status{0x500}}
	tests := []struct {
		name   string
		status smpp.Status
		want   refusal
	}{
		{"ESME_ROK is no refusal", smpp.StatusOK, notRefused},
		{"throttling slows the SMSC", smpp.StatusThrottled, refusedThrottled},
		{"a full queue is about now", smpp.StatusMsgQFul, refusedForNow},
		{"a system error is about now", smpp.StatusSysErr, refusedForNow},
		{"a temporary application error is about now", smpp.StatusXTAppn, refusedForNow},
		{"a status the operator calls temporary is about now", 0x408, refusedForNow},
		{"a status the operator pauses at pauses", 0x500, refusedPaused},
		{"a wrong bind status is about the session", smpp.StatusInvBndSts, refusedSession},
		{"already bound is about the session", smpp.StatusAlyBnd, refusedSession},
		{"a bind that failed is about the session", smpp.StatusBindFail, refusedSession},
		{"a wrong password is about the session", smpp.StatusInvPaswd, refusedSession},
		{"a wrong system_id is about the session", smpp.StatusInvSysID, refusedSession},
		{"a wrong destination is for good", smpp.StatusInvDstAdr, refusedForGood},
		{"a vendor's own status is for good", 0x409, refusedForGood},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, classify(retry, tt.status))
		})
	}
}

func TestRetryDelay_growsAndStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "min"))
		hi := lo + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "max over min"))
		n := rapid.IntRange(1, 100).Draw(t, "n")
		jitter := rapid.Float64Range(0, 0.999).Draw(t, "jitter")
		d := retryDelay(lo, hi, n, jitter)
		require.GreaterOrEqual(t, d, lo/2)
		require.LessOrEqual(t, d, hi)
		require.GreaterOrEqual(t, retryDelay(lo, hi, n+1, jitter), d)
	})
}
