package store

import "sync/atomic"

// Pulse is what the goroutines behind Run have done so far. Two of them, taken some time apart, tell whether one of
// these goroutines is stuck; it asks for no lock that they hold while they work.
type Pulse struct {
	commits, folds, writes uint64 // of turns

	asked        bool // requests wait for the writer
	end, applied uint64
	obstructed   bool // the applier waits for room, or for a key, and tries again
	copying      bool // state.db is copied, which a write may have to wait for (Backup)
}

// What Stuck names.
const (
	stuckLog        = "log"
	stuckProjection = "projection"
	stuckState      = stateFile
)

// Pulse is taken without waiting for anybody at work.
func (s *Store) Pulse() Pulse {
	return Pulse{
		commits: s.commits.count(), folds: s.folds.count(), writes: s.writes.count(),
		asked: s.intake.asked(), end: s.end.Load(), applied: s.applied.Load(),
		obstructed: s.blocked.Load() != nil, copying: s.copying.Load() > 0,
	}
}

// Stuck names what has not gone on since an earlier Pulse though it had begun then, or had something to begin with:
// "log" (a commit), "projection" (what is folded), "state.db" (a write to it); "" when there is no such thing. Who has
// nothing to do is not stuck, nor who waits for room and tries again. A commit, or a write, that takes longer than the
// time between the two is: that time says how slow a disk may be.
func (p Pulse) Stuck(before Pulse) string {
	switch {
	case p.commits == before.commits && (underWay(p.commits) || p.asked && before.asked):
		return stuckLog
	case p.writes == before.writes && underWay(p.writes):
		if p.copying || before.copying {
			return ""
		}
		return stuckState
	case p.folds == before.folds && (underWay(p.folds) || p.behind(before)):
		return stuckProjection
	}
	return ""
}

// behind reports whether records that were there before wait to be folded, and nobody is known to be in the way.
func (p Pulse) behind(before Pulse) bool {
	return p.applied < before.end && p.writes == before.writes && !p.obstructed && !before.obstructed
}

// turns counts what a goroutine begins and ends: odd while something is under way.
type turns struct{ n atomic.Uint64 }

func (t *turns) begin() { t.n.Add(1) }

func (t *turns) end() { t.n.Add(1) }

func (t *turns) count() uint64 { return t.n.Load() }

func underWay(n uint64) bool { return n%2 == 1 }
