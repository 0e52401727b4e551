package daemon

import (
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"

	"esmed/store"
)

// watchdog says whether systemd's watchdog is to be fed. It is looked at twice per WatchdogSec=, by the goroutine that
// attends to signals: if that is stuck, nobody feeds it.
type watchdog struct {
	every time.Duration // between looks; 0: the unit asks for no watchdog
	pulse func() store.Pulse
	log   *zap.Logger

	last  store.Pulse
	stuck string // what was found so at the last look; "" = nothing
}

// newWatchdog takes its interval from $WATCHDOG_USEC. One that is malformed is none: that is no reason not to run.
func newWatchdog(pulse func() store.Pulse, log *zap.Logger) *watchdog {
	interval, err := sd.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("no watchdog", zap.Error(err))
	}
	return &watchdog{every: interval / 2, pulse: pulse, log: log, last: pulse()}
}

// ticks gives the times of the looks; the channel is nil where there is no watchdog.
func (w *watchdog) ticks() (at <-chan time.Time, stop func()) {
	if w.every <= 0 {
		return nil, func() {}
	}
	tick := time.NewTicker(w.every)
	return tick.C, tick.Stop
}

// alive reports whether nothing stood still between the last look and this one that had something to do.
func (w *watchdog) alive() bool {
	now := w.pulse()
	stuck := now.Stuck(w.last)
	w.last = now
	switch {
	case stuck != "" && w.stuck == "":
		w.log.Error("the watchdog is not fed: something does not go on", zap.String("component", stuck), zap.Duration("elapsed", w.every))
	case stuck == "" && w.stuck != "":
		w.log.Info("the watchdog is fed again", zap.String("component", w.stuck))
	}
	w.stuck = stuck
	return stuck == ""
}
