package store

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestFifo: it holds what a slice holds that is cut at both ends, in bounded room and without what went.
func TestFifo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f fifo[*int]
		var want []*int
		most := 0
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				require.Equal(t, len(want), len(f.items()))
				for i := range want {
					require.Same(t, want[i], f.items()[i])
				}
				require.LessOrEqual(t, len(f.all), 2*most+1)
				for _, p := range f.all[:f.first] {
					require.Nil(t, p)
				}
				for _, p := range f.all[len(f.all):cap(f.all)] {
					require.Nil(t, p)
				}
			},
			"push": func(t *rapid.T) {
				for range rapid.IntRange(0, 20).Draw(t, "n") {
					p := new(int)
					f.push(p)
					want = append(want, p)
				}
				most = max(most, len(want))
			},
			"drop": func(t *rapid.T) {
				n := rapid.IntRange(0, len(want)).Draw(t, "n")
				f.drop(n)
				want = want[n:]
			},
			"cut": func(t *rapid.T) {
				n := rapid.IntRange(0, len(want)).Draw(t, "n")
				f.cut(n)
				want = want[:len(want)-n]
			},
		})
	})
}
