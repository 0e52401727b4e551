package daemon

import (
	"os"
	"os/signal"
	"syscall"
)

// signals are those that the process is told what to do by.
type signals struct {
	stop   chan os.Signal // SIGTERM, SIGINT: the first is to stop, the second to stop at once
	reload chan os.Signal // SIGHUP
}

// catchSignals begins to catch them, until release.
func catchSignals() *signals {
	s := &signals{stop: make(chan os.Signal, 2), reload: make(chan os.Signal, 1)}
	signal.Notify(s.stop, syscall.SIGTERM, os.Interrupt)
	signal.Notify(s.reload, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // of a reader of the log that went away
	return s
}

func (s *signals) release() {
	signal.Stop(s.stop)
	signal.Stop(s.reload)
	signal.Reset(syscall.SIGPIPE)
}
