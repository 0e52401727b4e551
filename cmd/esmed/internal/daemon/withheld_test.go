package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// unbound is a system whose SMSC lets nobody in until it is told to.
func unbound(t *testing.T) (s *system, letIn func()) {
	s = newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusBindFail}}, nil)
	return s, func() { s.smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = 0 }) }
}

// keyFile is the only key.
func (s *system) keyFile() string {
	s.t.Helper()
	keys, err := filepath.Glob(filepath.Join(s.cfg.DataDir, "keys", "*.key"))
	require.NoError(s.t, err)
	require.Len(s.t, keys, 1)
	return keys[0]
}

func TestDispatch_aTextWhoseKeyIsGoneIsNotSent(t *testing.T) {
	s, letIn := unbound(t)
	lost, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), From: "ACME", Text: "hello", Validity: "4s"}, "")
	require.NoError(t, err)
	s.halt()
	require.NoError(t, os.Remove(s.keyFile()))
	s.start()
	letIn()
	s.awaitState(s.submit(number(2)), "DELIVERED")
	require.Equal(t, "QUEUED", s.message(lost.ID).State)
	require.Equal(t, []control.QueueWithheld{{Message: lost.ID, Error: "the key of its text is not there: the text is lost"}}, s.queue("alpha").Withheld)
	require.Equal(t, "expiry", s.awaitState(lost.ID, "FAILED").Basis)
	require.Empty(t, s.queue("alpha").Withheld)
	require.EqualValues(t, 1, s.smsc.Stats().Submits)
	require.Equal(t, 1, strings.Count(s.log.String(), `"msg":"part cannot be sent"`))
}

// keyName is how keys are named: by when they were made.
const keyName = "20060102T150405Z.key"

func TestDispatch_waitsForAKeyThatCannotBeRead(t *testing.T) {
	s, letIn := unbound(t)
	id := s.submit(number(1))
	s.halt()
	key := s.keyFile()
	data, err := os.ReadFile(key)
	require.NoError(t, err)
	// A start reads the newest keys and refuses one that is damaged, so there are newer ones.
	made, err := time.Parse(keyName, filepath.Base(key))
	require.NoError(t, err)
	for n := range 64 {
		newer := made.Add(time.Duration(n+1) * time.Second).Format(keyName)
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(key), newer), data, 0o600))
	}
	require.NoError(t, os.WriteFile(key, make([]byte, len(data)), 0o600))
	s.start()
	letIn()
	s.awaitLog(`"msg":"nothing is sent for now"`)
	require.Zero(t, s.smsc.Stats().Submits)
	require.NoError(t, os.WriteFile(key, data, 0o600))
	s.awaitState(id, "DELIVERED")
	require.Equal(t, 1, strings.Count(s.log.String(), `"msg":"nothing is sent for now"`))
}
