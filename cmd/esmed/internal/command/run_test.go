package command

import (
	"fmt"
	"io/fs"
	"testing"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/store"

	"github.com/stretchr/testify/require"
)

func TestDaemonFailure_hints(t *testing.T) {
	cfg := &config.Config{DataDir: "/var/lib/esmed"}
	for name, tt := range map[string]struct {
		err  error
		hint string
	}{
		"a data_dir of somebody else": {fmt.Errorf("store: open: %w", &fs.PathError{Op: "mkdir", Path: "/var/lib/esmed", Err: fs.ErrPermission}), "data_dir has to belong to the user that the daemon runs as"},
		"a data_dir in use":           {fmt.Errorf("store: open: %w", store.ErrLocked), "stop that one first"},
		"a second signal":             {daemon.ErrImmediate, "esmed exceptions list --kind in_doubt"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, asFailure(daemonFailure(cfg, tt.err)).hint, tt.hint)
		})
	}
	require.NoError(t, daemonFailure(cfg, nil))
}
