package daemon

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log, err := newLogger(&out, "info", "json", false)
		require.NoError(t, err)
		var q quiet
		log = q.over(log)
		alpha, beta := log.With(zap.String("smsc", "alpha")), log.With(zap.String("smsc", "beta"))
		lines := func() (all []map[string]any) {
			t.Helper()
			for _, text := range bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n")) {
				if len(text) == 0 {
					continue
				}
				var line map[string]any
				require.NoError(t, json.Unmarshal(text, &line))
				delete(line, "time")
				all = append(all, line)
			}
			out.Reset()
			return all
		}
		held := func(l *zap.Logger, seq int) { l.Warn("receipt held", zap.Int("seq", seq)) }
		line := func(smsc string, seq float64) map[string]any {
			return map[string]any{"level": "warn", "msg": "receipt held", "smsc": smsc, "seq": seq}
		}

		held(alpha, 1)
		held(alpha, 2)
		held(beta, 3)
		held(alpha, 4)
		alpha.Debug("receipt held")
		require.Equal(t, []map[string]any{line("alpha", 1), line("beta", 3)}, lines(), "the first of each SMSC is written")

		alpha.Warn("reception not stored")
		alpha.Info("bound")
		alpha.Info("bound")
		require.Len(t, lines(), 3, "each kind has a first, and what is no peer's whim is always written")

		time.Sleep(quietFor)
		held(alpha, 5)
		want := line("alpha", 5)
		want["besides"] = 2.0
		require.Equal(t, []map[string]any{want}, lines(), "then one that says how many there were")

		held(alpha, 6)
		held(alpha, 7)
		q.flush(time.Now(), quietFor)
		require.Empty(t, lines(), "too soon")
		time.Sleep(quietFor)
		q.flush(time.Now(), quietFor)
		want = line("alpha", 7)
		want["besides"] = 1.0
		require.Equal(t, []map[string]any{want}, lines(), "what is left is told when nothing follows")
		q.flush(time.Now(), 0)
		require.Empty(t, lines())
	})
}
