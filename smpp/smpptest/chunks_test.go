package smpptest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChunks(t *testing.T) {
	var c chunks[int]
	require.Nil(t, c.all())
	var want []int
	for i := range 3*chunkLen + 1 {
		c.add(i)
		want = append(want, i)
		if i%chunkLen < 2 {
			require.Equal(t, want, c.all())
		}
	}
	first := &c.full[0][0]
	c.all()[0] = -1
	require.Equal(t, want, c.all(), "what is given out is a copy")
	c.add(0)
	require.Same(t, first, &c.full[0][0], "nothing is moved")
}
