package daemon

import (
	"context"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"
)

// States of sd_notify(3).
const (
	readyState     = sd.SdNotifyReady
	stoppingState  = sd.SdNotifyStopping
	reloadingState = sd.SdNotifyReloading
)

// notify tells systemd what the daemon does (sd_notify(3)). Without $NOTIFY_SOCKET nothing is told.
func notify(log *zap.Logger, state string) {
	if _, err := sd.SdNotify(false, state); err != nil {
		log.Warn("systemd not notified", zap.String("state", state), zap.Error(err))
	}
}

// watchdog tells systemd twice per WatchdogSec= that the daemon works, as long as alive says so. It
// returns when ctx is done, at once when the unit asks for no watchdog.
func watchdog(ctx context.Context, log *zap.Logger, alive func(context.Context) error) error {
	interval, err := sd.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		return nil //nolint:nilerr // a malformed WATCHDOG_USEC is no reason not to run
	}
	tick := time.NewTicker(interval / 2)
	defer tick.Stop()
	for {
		if err := alive(ctx); err != nil {
			log.Error("watchdog not told", zap.Error(err))
		} else {
			notify(log, sd.SdNotifyWatchdog)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
