package daemon

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/smpp"
)

var bindLogStart = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func noConnection(after time.Duration, err error) *smpp.Event {
	return &smpp.Event{Kind: smpp.EventFailed, At: bindLogStart.Add(after), Reason: "no connection", Err: err}
}

func refusedBind(after time.Duration, status smpp.Status) *smpp.Event {
	return &smpp.Event{Kind: smpp.EventBindRefused, At: bindLogStart.Add(after), Status: status, Reason: "bind refused"}
}

// fromPort is a refused connection as the system reports it.
func fromPort(port int) error {
	return fmt.Errorf("smpp: dial: %w", &net.OpError{
		Op: "dial", Net: "tcp", Source: &net.TCPAddr{Port: port}, Err: syscall.ECONNREFUSED,
	})
}

func TestBindLog_aWeekOfFailuresMakesARecordAnHour(t *testing.T) {
	var l bindLog
	records := 0
	const week = 7 * 24 * time.Hour
	for after := time.Duration(0); after < week; after += 45 * time.Second {
		if record, _ := l.take(noConnection(after, fromPort(40000+records))); record {
			records++
		}
	}
	require.LessOrEqual(t, records, 7*24)
	require.Greater(t, records, 6*24)
	record, besides := l.take(&smpp.Event{Kind: smpp.EventBound, At: bindLogStart.Add(week)})
	require.True(t, record)
	require.Equal(t, "after 13440 failed since 2026-11-30T12:00:00Z", besides)
}

func TestBindLog_anotherFailureIsRecordedAtOnce(t *testing.T) {
	var l bindLog
	type step struct {
		event   *smpp.Event
		record  bool
		besides string
	}
	for i, s := range []step{
		{noConnection(0, fromPort(1)), true, ""},
		{noConnection(time.Second, fromPort(2)), false, ""},
		{noConnection(2*time.Second, errors.New("certificate has expired")), true, "attempt 3 since 2026-11-30T12:00:00Z"},
		{refusedBind(3*time.Second, smpp.StatusInvPaswd), true, "attempt 4 since 2026-11-30T12:00:00Z"},
		{noConnection(4*time.Second, fromPort(3)), false, ""},
		{refusedBind(5*time.Second, smpp.StatusAlyBnd), true, "attempt 6 since 2026-11-30T12:00:00Z"},
		{noConnection(time.Hour, fromPort(4)), true, "attempt 7 since 2026-11-30T12:00:00Z"},
		{&smpp.Event{Kind: smpp.EventBound, At: bindLogStart.Add(2 * time.Hour)}, true, "after 7 failed since 2026-11-30T12:00:00Z"},
		{&smpp.Event{Kind: smpp.EventUnbound, At: bindLogStart.Add(2 * time.Hour)}, true, ""},
		{noConnection(2*time.Hour, fromPort(5)), true, ""},
	} {
		record, besides := l.take(s.event)
		require.Equal(t, s.record, record, "step %d", i)
		require.Equal(t, s.besides, besides, "step %d", i)
	}
}

func TestBindLog_anSMSCThatAlwaysFailsOtherwiseHasABound(t *testing.T) {
	var l bindLog
	records := 0
	for i := range 10_000 {
		if record, _ := l.take(refusedBind(time.Duration(i)*time.Millisecond, smpp.Status(0x400+i))); record {
			records++
		}
	}
	require.Equal(t, maxFailures, records)
}
