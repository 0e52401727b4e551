package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPause_triesOneMessageAMinute(t *testing.T) {
	var p pause
	n, _ := p.allow(paceStart)
	require.Equal(t, maxSubmits, n)

	require.True(t, p.begin(paceStart))
	require.False(t, p.begin(paceStart.Add(time.Second)), "the others of the window say nothing new")
	n, until := p.allow(paceStart.Add(time.Second))
	require.Zero(t, n)
	require.Equal(t, paceStart.Add(probeEvery), until)

	n, _ = p.allow(until)
	require.Equal(t, 1, n)
	p.tried(until)
	n, again := p.allow(until)
	require.Zero(t, n)
	require.Equal(t, until.Add(probeEvery), again)

	require.False(t, p.end(paceStart.Add(-time.Second)), "an answer to what was sent before the pause")
	require.True(t, p.end(until))
	n, _ = p.allow(until)
	require.Equal(t, maxSubmits, n)
}
