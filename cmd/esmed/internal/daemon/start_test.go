package daemon_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/daemon"
)

func TestStart_waitsForTheProjectionAndCanBeStopped(t *testing.T) {
	s, _ := unbound(t)
	id := s.submit(number(1))
	s.halt()
	// The projection is to be made anew, and the key that this needs was damaged so long ago that opening
	// the store does not find it.
	key := s.keyFile()
	data, err := os.ReadFile(key)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(s.cfg.DataDir, "state.db")))
	require.NoError(t, os.WriteFile(key, make([]byte, len(data)), 0o600))
	secret := make([]byte, 32)
	check := sha256.Sum256(secret)
	for n := range 64 {
		name := filepath.Join(s.cfg.DataDir, "keys", fmt.Sprintf("%d0101T000000Z.key", 2900+n))
		require.NoError(t, os.WriteFile(name, append(secret, check[:8]...), 0o600))
	}

	var run errgroup.Group
	run.Go(func() error { return daemon.Run(s.ctx, s.cfg, daemon.Options{Log: s.log}) })
	s.awaitLog(`"msg":"waiting","component":"start"`)
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	require.NoError(t, run.Wait())
	require.Contains(t, s.log.String(), "the projection does not follow the log for now")
	require.Equal(t, 1, strings.Count(s.log.String(), `"msg":"waiting"`))
	require.Equal(t, 1, strings.Count(s.log.String(), "state.db is made anew from the log"))

	require.NoError(t, os.WriteFile(key, data, 0o600))
	s.start()
	require.Equal(t, "QUEUED", s.message(id).State)
}
