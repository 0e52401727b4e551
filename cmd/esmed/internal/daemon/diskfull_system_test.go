package daemon_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"
)

// ownDisk says to a process of the test binary that it may mount file systems which nobody else sees.
const ownDisk = "DAEMON_TEST_OWN_DISK"

// onOwnDisk runs a test again in a process that has mounts of its own, and gives false where that was done, or
// cannot be.
func onOwnDisk(t *testing.T) bool {
	if os.Getenv(ownDisk) != "" {
		return true
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), ownDisk+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) || strings.Contains(string(out), "no mount") {
		t.Skip("this system gives no file system of its own to a process: ", err, string(out))
	}
	require.NoError(t, err, string(out))
	return false
}

// disk is a data_dir's file system of its own, of which a file takes what is to be missing.
type disk struct {
	t       *testing.T
	ballast string
}

func mountDisk(t *testing.T, dir, size string) disk {
	require.NoError(t, os.Mkdir(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("no mount:", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return disk{t, filepath.Join(dir, "ballast")}
}

// leave writes until no more than so many octets are free.
func (d disk) leave(octets int64) {
	d.t.Helper()
	f, err := os.OpenFile(d.ballast, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(d.t, err)
	defer f.Close()
	var fs syscall.Statfs_t
	require.NoError(d.t, syscall.Statfs(d.ballast, &fs))
	if more := int64(fs.Bavail)*fs.Bsize - octets; more > 0 {
		_, err = f.Write(make([]byte, more))
		require.NoError(d.t, err)
	}
}

// fill leaves nothing at all.
func (d disk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.ballast, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(d.t, err)
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	require.ErrorIs(d.t, err, syscall.ENOSPC)
}

// free makes room again.
func (d disk) free() { require.NoError(d.t, os.Remove(d.ballast)) }

// TestDisk_full has the disk fill up under a daemon: first no message is taken, then none is sent, then receipts are
// not stored, and each ends alone when there is room. Nothing that was answered for is lost.
func TestDisk_full(t *testing.T) {
	if !onOwnDisk(t) {
		return
	}
	const size = 40 << 20 // so the reserve is 4 MiB
	var d disk
	s := newSystem(t, smpptest.Config{OnSubmit: hold, Receipts: smpptest.Receipts{Retry: 50 * time.Millisecond}}, func(c *config.Config) {
		d = mountDisk(t, c.DataDir, "40m")
		c.SMSCs[0].Window = 2
	})
	first, second := s.submit(number(1)), s.submit(number(2))
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 2 })
	queued := s.submit(number(3))

	d.leave(size/10 - 1<<20)
	s.awaitLog("messages are refused")
	_, _, err := s.api.Submit(s.ctx, control.Submission{To: number(4), From: "ACME", Text: "text"}, "")
	var refused *control.ProblemError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusInsufficientStorage, refused.Status)
	require.Contains(t, refused.Hint, "free space")
	require.True(t, s.alert("disk", "").Active)
	require.NoError(t, s.smsc.Answer(1))
	s.awaitState(first, "DELIVERED")
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 3 })
	s.awaitState(queued, "SUBMITTING")

	d.fill()
	s.awaitLog("what is queued waits")
	require.NoError(t, s.smsc.Answer(2))
	const typed = 200 // more than fits into pages that are free in the files
	for n := range typed {
		s.smsc.Deliver(smpptest.Delivery{Kind: smpptest.MO, Source: smpptest.Address{Addr: "393330000001"}, ShortMessage: typedText(n), MessageState: -1})
	}
	s.awaitLog("reception not stored")
	d.free()
	s.awaitLog("messages are accepted")
	s.awaitState(second, "DELIVERED")
	require.NoError(t, s.smsc.Answer(3))
	s.awaitState(queued, "DELIVERED")
	after := s.submit(number(5))
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 4 })
	require.NoError(t, s.smsc.Answer(4))
	s.awaitState(after, "DELIVERED")
	s.drained()
	s.agrees()
	require.Empty(t, s.inbox())
	stored := map[string]bool{}
	for _, e := range s.events() {
		stored[e.PDU[max(0, len(e.PDU)-2*len(typedText(0))):]] = true
	}
	for n := range typed {
		require.True(t, stored[hex.EncodeToString(typedText(n))], "message %d of a subscriber", n)
	}
	require.False(t, s.alert("disk", "").Active)
}

// typedText is what a subscriber types.
func typedText(n int) []byte { return fmt.Appendf(nil, "%0100d", n) }
