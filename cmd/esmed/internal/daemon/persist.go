package daemon

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"esmed/store"
)

// passingPause is how long to wait before what failed for a passing reason is tried again.
const passingPause = time.Second

// passing reports whether time may heal an error of the store's: there is no room, or a key cannot be read.
func passing(err error) bool {
	return errors.Is(err, store.ErrDiskFull) || errors.Is(err, store.ErrKey)
}

// persist calls f until it succeeds, fails for good, or ctx is done. It logs once that who waits and why.
func persist(ctx context.Context, log *zap.Logger, who string, f func() error) error {
	for waits := false; ; waits = true {
		err := f()
		if err == nil && waits {
			log.Info("going on", zap.String("component", who))
		}
		if !passing(err) {
			return err
		}
		if !waits {
			log.Error("waiting", zap.String("component", who), zap.Duration("retry", passingPause), zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(passingPause):
		}
	}
}
