package command

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where SIGPIPE is ignored, as under many parents, nobody wants to read that nobody reads.
func TestMain_aClosedStdoutIsNoError(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	t.Cleanup(func() { _ = w.Close() })
	var said bytes.Buffer
	require.Equal(t, exitPipe, Main([]string{"version"}, Streams{Out: w, Err: &said}))
	require.Empty(t, said.String())
}
