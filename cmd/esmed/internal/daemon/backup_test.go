package daemon_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// afterRestore is what a store's seqs jump by at least.
const afterRestore = 1 << 32

// backup copies the store and gives where to.
func (s *system) backup() string {
	s.t.Helper()
	dir := filepath.Join(filepath.Dir(s.cfg.DataDir), "copy")
	r, err := s.api.Backup(s.ctx, control.Backup{Dir: dir}, nil)
	require.NoError(s.t, err)
	require.NotEmpty(s.t, r.Backup)
	require.NotZero(s.t, r.Bytes)
	return dir
}

// queuedInBackup is a daemon whose SMSC was away when the backup was made, and took the message afterwards.
func queuedInBackup(t *testing.T) (s *system, id string) {
	s = newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusSysErr}}, nil)
	id = s.submit(number(1))
	dir := s.backup()
	s.smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = 0 })
	s.awaitState(id, "DELIVERED")
	s.halt()
	s.cfg.DataDir = dir
	return s, id
}

func TestRestored_whatWasQueuedIsInDoubt(t *testing.T) {
	s, id := queuedInBackup(t)
	s.start()
	m := s.message(id)
	require.Equal(t, "IN_DOUBT", m.State)
	require.Equal(t, []string{"in_doubt"}, s.exceptionKinds())
	events := s.history(id)
	require.Equal(t, []string{"accepted", "in_doubt"}, types(events))
	require.Contains(t, events[1].Detail, "restored")
	require.Greater(t, events[1].Seq, uint64(afterRestore))
	require.NotZero(t, s.awaitRecord("restored").Seq)
	s.awaitLog(`"msg":"the store begins anew from a backup"`)

	// What is new is sent, what is in doubt is not, and the next start begins nothing anew.
	s.awaitState(s.submit(number(2)), "DELIVERED")
	s.restart()
	require.Equal(t, "IN_DOUBT", s.message(id).State)
	require.EqualValues(t, 2, s.smsc.Stats().Submits)
	require.Len(t, s.history(id), 2)
}

func TestRestored_whatWasQueuedIsSentWhenAskedFor(t *testing.T) {
	s, id := queuedInBackup(t)
	s.restored = daemon.RestoredSend
	s.start()
	s.awaitState(id, "DELIVERED")
	require.EqualValues(t, 2, s.smsc.Stats().Submits)
	require.NotContains(t, types(s.history(id)), "in_doubt")
}

func TestBackup_underLoad(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	first := s.submit(number(0))
	s.awaitState(first, "DELIVERED")
	stop := make(chan struct{})
	var load errgroup.Group
	load.Go(func() error {
		for n := 1; ; n++ {
			select {
			case <-stop:
				return nil
			default:
			}
			if _, _, err := s.api.Submit(s.ctx, control.Submission{To: number(n), From: "ACME", Text: "hello"}, ""); err != nil {
				return err
			}
		}
	})
	dir := s.backup()
	close(stop)
	require.NoError(t, load.Wait())

	s.halt()
	s.cfg.DataDir = dir // which is verified at the end of the test
	s.start()
	require.Equal(t, "DELIVERED", s.message(first).State)
}

func TestBackup_needsAnEmptyDirectory(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o600))
	_, err := s.api.Backup(s.ctx, control.Backup{Dir: dir}, nil)
	var problem *control.ProblemError
	require.ErrorAs(t, err, &problem)
	require.Equal(t, 422, problem.Status)
	require.Contains(t, problem.Detail, "not empty")
	_, err = s.api.Backup(s.ctx, control.Backup{Dir: filepath.Join(s.cfg.DataDir, "log", "copy")}, nil)
	require.ErrorAs(t, err, &problem)
	require.Equal(t, 422, problem.Status)
	require.Contains(t, problem.Detail, "within data_dir")
	require.NoDirExists(t, filepath.Join(s.cfg.DataDir, "log", "copy"))
	_, err = s.api.Backup(s.ctx, control.Backup{Dir: "somewhere"}, nil)
	require.ErrorAs(t, err, &problem)
	require.Equal(t, 422, problem.Status)
}

func TestRetention_dropsWhatIsOld(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	id := s.submit(number(1))
	s.awaitState(id, "DELIVERED")
	s.halt()
	r := &s.cfg.Store.Retention
	r.Messages, r.Inbox, r.Exceptions = time.Second, time.Second, time.Second
	s.start()
	s.awaitRecord("retention")
	s.awaitLog(`"msg":"retention dropped what is old","messages":1`)
	_, err := s.api.Message(s.ctx, id)
	var problem *control.ProblemError
	require.ErrorAs(t, err, &problem)
	require.Equal(t, 404, problem.Status)
}
