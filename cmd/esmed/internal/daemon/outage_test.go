package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/smpp"
)

func TestOutage(t *testing.T) {
	start := time.Now()
	// look is what a session is at a look, so many seconds after the start.
	type look struct {
		after int
		state smpp.State
		since int // seconds after the start, of state
		binds uint64
		down  int // seconds
		flaps uint64
		lost  int // seconds after the start; 0: nothing is said
	}
	const closed, bound = smpp.Closed, smpp.BoundTRX
	tests := []struct {
		name  string
		looks []look
	}{
		{"bound from the start", []look{{0, bound, 0, 1, 0, 0, 0}, {10, bound, 0, 1, 0, 0, 0}, {300, bound, 0, 1, 0, 0, 0}}},
		{"away for a while, and back at once when it is bound", []look{
			{0, bound, 0, 1, 0, 0, 0}, {200, closed, 199, 1, 0, 0, 0}, {240, closed, 239, 1, 40, 0, 0}, {250, bound, 245, 2, 0, 0, 0},
		}},
		{"away since long before the look", []look{{0, bound, 0, 1, 0, 0, 0}, {50, closed, 49, 1, 40, 0, 10}, {60, closed, 59, 1, 50, 0, 10}}},
		{"two short losses are no long one", []look{
			{200, bound, 0, 1, 0, 0, 0}, {210, closed, 201, 1, 0, 0, 0}, {220, bound, 215, 2, 0, 0, 0}, {280, closed, 279, 2, 0, 0, 0}, {285, closed, 279, 2, 5, 0, 0},
		}},
		{"never bound", []look{{0, closed, 0, 0, 0, 0, 0}, {40, closed, 39, 0, 40, 0, 0}}},
		{"accepted and closed at once, seen closed or bound", []look{
			{0, closed, 0, 0, 0, 0, 0}, {10, bound, 9, 2, 0, 0, 0}, {20, bound, 19, 3, 20, 3, 0}, {30, closed, 29, 5, 30, 5, 0}, {40, bound, 39, 6, 40, 6, 0},
			{159, bound, 40, 6, 159, 6, 0}, {160, bound, 40, 6, 0, 0, 0},
		}},
		{"lost again and again after a good time", []look{
			{200, bound, 0, 1, 0, 0, 0}, {210, bound, 205, 2, 0, 0, 0}, {220, bound, 215, 3, 0, 0, 0}, {230, bound, 225, 4, 30, 3, 0},
		}},
		{"what was before somebody stopped it is no matter", []look{{500, bound, 499, 9, 0, 0, 0}, {510, bound, 499, 9, 0, 0, 0}}},
		{"another client under the name begins anew", []look{{200, bound, 0, 7, 0, 0, 0}, {210, closed, 209, 0, 0, 0, 0}, {220, bound, 215, 1, 0, 0, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var o outage
			for i, l := range tt.looks {
				now := start.Add(time.Duration(l.after) * time.Second)
				st := smpp.SessionStatus{State: l.state, Since: start.Add(time.Duration(l.since) * time.Second), Binds: l.binds}
				if l.lost > 0 {
					st.Lost = start.Add(time.Duration(l.lost) * time.Second)
				}
				if i == 0 {
					o = newOutage(&st, now)
				}
				o = o.see(&st, now)
				require.Equal(t, time.Duration(l.down)*time.Second, o.down(&st, now), "after %d s", l.after)
				require.Equal(t, l.flaps, o.flaps(&st), "after %d s", l.after)
			}
		})
	}
}
