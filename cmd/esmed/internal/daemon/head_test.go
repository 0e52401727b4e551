package daemon

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sync/errgroup"

	"esmed/store"
)

func TestLogHeads_everyHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		ctx, cancel := context.WithCancel(t.Context())
		seq := uint64(0)
		var g errgroup.Group
		g.Go(func() error {
			return logHeads(ctx, zap.New(core), func() store.Head {
				seq++
				return store.Head{Seq: seq, Hash: [32]byte{0xAB}}
			})
		})
		<-time.After(2*time.Hour + time.Minute)
		cancel()
		require.NoError(t, g.Wait())
		require.Equal(t, 2, logs.Len())
		require.Equal(t, map[string]any{"seq": uint64(2), "hash": "ab" + strings.Repeat("0", 62)}, logs.All()[1].ContextMap())
	})
}
