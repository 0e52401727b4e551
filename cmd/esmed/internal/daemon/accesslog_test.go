package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/statemachine"
)

func TestAccessLog_goesOnInANewFileAfterLogrotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access")
	l, err := openAccessLog(path)
	require.NoError(t, err)
	one := answer{attempt{ref: statemachine.AttemptRef{Message: "m", Part: 1, Attempt: 1}, dest: "393331234567"},
		smpp.Answer{Session: "alpha/1", RoundTrip: time.Millisecond}}
	l.submit("alpha", one, "5A3C", "ESME_ROK")
	require.NoError(t, os.Rename(path, path+".1"))
	l.submit("alpha", one, "5A3D", "ESME_ROK")
	require.NoError(t, l.reopen())
	l.submit("alpha", one, "5A3E", "ESME_ROK")
	require.NoError(t, l.close())

	old, err := os.ReadFile(path + ".1")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(old), "\n"))
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(now), `"message_id":"5A3E"`)
	require.Contains(t, string(now), `"dest":"3933******67"`)
}

func TestAccessLog_thatIsNotConfiguredWritesNothing(t *testing.T) {
	l, err := openAccessLog("")
	require.NoError(t, err)
	l.submit("alpha", answer{}, "", "")
	require.NoError(t, l.reopen())
	require.NoError(t, l.close())
}

func TestAccessLog_thatCannotBeOpenedIsAnError(t *testing.T) {
	_, err := openAccessLog(filepath.Join(t.TempDir(), "no", "such", "directory"))
	require.ErrorContains(t, err, "log.access")
}
