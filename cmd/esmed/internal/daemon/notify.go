package daemon

import (
	"fmt"
	"strings"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"
)

// notifier tells systemd what the daemon does (sd_notify(3)). Without $NOTIFY_SOCKET nobody is told. One goroutine
// uses it at a time.
type notifier struct {
	log    *zap.Logger
	status string // that was told last
}

// tell sends assignments, each a line of its own.
func (n *notifier) tell(state ...string) {
	if _, err := sd.SdNotify(false, strings.Join(state, "\n")); err != nil {
		n.log.Warn("systemd not notified", zap.Strings("state", state), zap.Error(err))
	}
}

// ready says that the daemon works, or works again after a reload.
func (n *notifier) ready(status string) { n.tell(sd.SdNotifyReady, n.statusLine(status)) }

// reloading says that the configuration is read anew; ready ends it. Its time is for Type=notify-reload.
func (n *notifier) reloading() { n.tell(sd.SdNotifyReloading, sd.SdNotifyMonotonicUsec()) }

// stopping says that the daemon ends, and how long that may take, whatever TimeoutStopSec= the unit has.
func (n *notifier) stopping(within time.Duration) {
	n.tell(sd.SdNotifyStopping, n.statusLine("stopping: what is under way is waited for"),
		fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", within.Microseconds()))
}

// working feeds the unit's watchdog.
func (n *notifier) working() { n.tell(sd.SdNotifyWatchdog) }

// says shows what the daemon is at in `systemctl status`. It is sent when it differs from what was said before.
func (n *notifier) says(status string) {
	if status != n.status {
		n.tell(n.statusLine(status))
	}
}

func (n *notifier) statusLine(status string) string {
	n.status = status
	return "STATUS=" + status
}
