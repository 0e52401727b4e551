package store

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// Environment that makes the test binary a process of its own over the store in a directory.
const (
	childDir  = "ESMED_STORE_TEST_DIR"
	childRole = "ESMED_STORE_TEST_ROLE"
)

func childCommand(t tb, dir, role string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childDir+"="+dir, childRole+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

// failing is what a child's requirements report to.
type failing struct{}

func (failing) Helper() {}

func (failing) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format, args...) }

func (failing) FailNow() { os.Exit(1) }

func child(dir string) int {
	switch os.Getenv(childRole) {
	case "fill":
		fillUntilKilled(dir)
	case "disk full":
		fillDisk(dir)
	case "compact":
		compactUntilKilled(dir)
	case "keep up":
		keepUp(dir)
	case "retire on a full disk":
		retireOnFullDisk(dir)
	case "lives to verify":
		fillToVerify(dir)
	}
	return 0
}

// fillUntilKilled appends lives and says of each record that it is durable.
func fillUntilKilled(dir string) {
	cfg := testConfig(dir)
	cfg.SegmentRecords = 500
	s := start(failing{}, cfg)
	first := s.end.Load()
	var mu sync.Mutex
	out := bufio.NewWriter(os.Stdout)
	for n := uint64(0); ; n++ {
		id := fmt.Sprintf("M%08d-%d", first, n)
		for _, fact := range life(id, id, "a text") {
			err := s.Post(context.Background(), fact, func(rec statemachine.Record, err error) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintln(out, rec.Seq, rec.Fact.Type(), id, err)
				out.Flush()
			})
			require.NoError(s.t, err)
		}
	}
}

// TestStore_killed kills a process that appends, several times over one directory: what it said is
// durable is there, and all agrees.
func TestStore_killed(t *testing.T) {
	cfg := testConfig(t.TempDir())
	said := 0
	for round := range 4 {
		cmd := childCommand(t, cfg.Dir, "fill")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		var last string
		for n := 0; lines.Scan(); n++ {
			last = lines.Text()
			if n == 150+round*701 {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())
		var seq uint64
		var kind, id, failed string
		_, err = fmt.Sscan(last, &seq, &kind, &id, &failed)
		require.NoError(t, err, last)
		require.Equal(t, "<nil>", failed)

		copied := testConfig(t.TempDir())
		copyDir(t, cfg.Dir, copied.Dir)
		clean(t, copied) // the tail folded in memory
		s := start(t, cfg)
		rec, err := s.Record(context.Background(), seq)
		require.NoError(t, err)
		require.EqualValues(t, kind, rec.Fact.Type())
		require.GreaterOrEqual(t, s.end.Load(), seq)
		s.check()
		said += int(seq)
	}
	require.Positive(t, said)
}

// TestStore_diskFull gives a process a file system of three megabytes.
func TestStore_diskFull(t *testing.T) {
	cmd := childCommand(t, t.TempDir(), "disk full")
	cmd.SysProcAttr = ownFileSystem()
	out, err := cmd.Output()
	skipWithoutMount(t, out, err)
	require.NoError(t, err)
	require.Equal(t, "as before\n", string(out))
}

func fillDisk(dir string) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		fmt.Println("no mount:", err)
		return
	}
	t := failing{}
	ballast := dir + "/ballast"
	require.NoError(t, os.WriteFile(ballast, make([]byte, 1<<20), 0o600))
	s := start(t, testConfig(dir))
	ctx := context.Background()
	durable, failed := uint64(0), 0
	for n := 0; failed < 20; n++ {
		for _, fact := range life(fmt.Sprintf("M%08d", n), fmt.Sprint(n), "a text") {
			records, err := s.Append(ctx, fact)
			if err != nil {
				require.ErrorIs(t, err, ErrDiskFull)
				failed++
				continue
			}
			durable = records[0].Seq
		}
		_, err := s.Record(ctx, durable)
		require.NoError(t, err, "reading goes on")
	}
	require.Equal(t, durable, s.end.Load())
	require.NoError(t, os.Remove(ballast))
	records := s.append(message("after", "", "a text"))
	require.Equal(t, durable+1, records[0].Seq)
	agrees(t, s.Store)
	require.NoError(t, s.stop())
	clean(t, s.cfg)
	fmt.Println("as before")
}
