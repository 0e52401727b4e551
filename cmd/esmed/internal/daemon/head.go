package daemon

import (
	"context"
	"encoding/hex"
	"time"

	"go.uber.org/zap"

	"esmed/store"
)

// headEvery is how often the head of the hash chain is logged.
const headEvery = time.Hour

// logHeads logs the head of the hash chain every hour until ctx is done, for who wants to keep it elsewhere:
// it proves that nothing up to its seq was changed since.
func logHeads(ctx context.Context, log *zap.Logger, head func() store.Head) error {
	tick := time.NewTicker(headEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			h := head()
			log.Info("chain head", zap.Uint64("seq", h.Seq), zap.String("hash", hex.EncodeToString(h.Hash[:])))
		}
	}
}
