package store

import (
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

const (
	// A pause as long as the last batch took is kept before the next while nobody waits and little has come, within
	// these bounds: a steady trickle is not folded one record at a time.
	minApplyPause = 3 * time.Millisecond
	maxApplyPause = 20 * time.Millisecond
	// writePause is how long what was folded waits for more before it is written: what comes and goes meanwhile is
	// never written, and the log has the disk to itself. So much is folded again after a crash.
	writePause = 2 * time.Second
	// obstaclePause is how long to wait before what failed for want of room or of a key is tried again.
	obstaclePause = time.Second
)

// applying is the one goroutine that folds, and the write that is under way meanwhile.
type applying struct {
	s      *Store
	closed <-chan struct{} // when no record comes any more
	clock  *time.Timer
	folded uint64 // seq of the last record that is folded

	next      time.Time // when the next batch is folded, if little has come
	foldFails bool      // the last batch did: the next one is not begun before that

	writes     errgroup.Group
	wrote      chan error // what comes of the write that is under way; nil: none is
	due        time.Time  // when the next one begins, if little waits
	writeFails bool       // the last one did: what it was to write is written first, and not before that
}

// applyAll applies until closed is closed and nothing is left, or nothing can be applied for now.
func (s *Store) applyAll(closed <-chan struct{}) error {
	a := &applying{s: s, closed: closed, clock: time.NewTimer(0), folded: s.applied.Load()}
	defer a.clock.Stop()
	err := a.run()
	return errors.Join(err, a.writes.Wait()) // the file is to be closed
}

func (a *applying) run() error {
	for {
		now := time.Now()
		a.write(now)
		if a.folds(now) {
			if err := a.batch(now); err != nil {
				return err
			}
			continue
		}
		if a.wrote == nil && a.ending() {
			return nil // what is durable and could not be applied is applied when the store is opened again
		}
		if err := a.sleep(now); err != nil {
			return err
		}
	}
}

// atEnd reports whether all is folded that there is. The feed has a group a moment before the log's end is known to be
// behind it.
func (a *applying) atEnd() bool { return a.folded >= a.s.end.Load() }

func (a *applying) isClosed() bool {
	select {
	case <-a.closed:
		return true
	default:
		return false
	}
}

// ending reports whether nothing comes any more, and nothing more can be folded.
func (a *applying) ending() bool {
	return a.isClosed() && (a.atEnd() || a.foldFails || a.s.applier.layers.full())
}

// folds reports whether it is time for a batch.
func (a *applying) folds(now time.Time) bool {
	s := a.s
	switch {
	case a.atEnd() || s.applier.layers.full():
		return false
	case !now.Before(a.next):
		return true
	case a.foldFails:
		return false
	}
	return s.wanted.Load() > a.folded || s.end.Load() >= a.folded+applyBatch/2 || a.isClosed()
}

// batch folds one and shows it.
func (a *applying) batch(now time.Time) error {
	s := a.s
	s.folds.begin()
	defer s.folds.end()
	var witness Witness
	if s.cfg.Witness != nil {
		witness = s.cfg.Witness()
	}
	b, err := s.applier.foldBatch(s.nextRecords(a.folded, s.applier.layers.room()), func(rec statemachine.Record, eff *statemachine.Effects) {
		s.judged.add(rec, eff)
		if witness != nil {
			witness.Folded(rec, eff)
		}
	})
	if a.foldFails = passing(err); a.foldFails {
		a.next = now.Add(obstaclePause)
		a.lookStuck()
		s.obstruct(err)
		return nil
	}
	if err != nil {
		return err
	}
	if s.applier.layers.pending == nil && !a.writeFails {
		a.due = now.Add(writePause)
	}
	a.publish(b, witness)
	took := time.Since(now)
	a.next = now.Add(took + min(max(took, minApplyPause), maxApplyPause))
	return nil
}

// publish lets all see what a batch changes, and says so.
func (a *applying) publish(b *batch, witness Witness) {
	s := a.s
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	s.applier.layers.publish(b)
	a.folded = b.cursor
	if witness != nil {
		witness.Committed()
	}
	if b.putBack {
		s.putBacks.Add(1)
	}
	s.applied.Store(b.cursor)
	a.passed()
}

// passed says that the applier has gone on.
func (a *applying) passed() {
	a.lookStuck()
	if !a.foldFails && !a.writeFails {
		a.s.obstruct(nil)
	}
	a.s.changed.send()
}

// lookStuck finds out whether nothing more is folded for now, and says so to those who wait.
func (a *applying) lookStuck() {
	stuck := a.foldFails || a.writeFails && a.s.applier.layers.full()
	if a.s.stuck.Swap(stuck) != stuck {
		a.s.changed.send()
	}
}

// write begins to write what waits, when it is time and nothing else is written.
func (a *applying) write(now time.Time) {
	l := &a.s.applier.layers
	if a.wrote != nil || a.writeFails && now.Before(a.due) {
		return
	}
	over := l.writing
	if !a.writeFails {
		asked := a.s.settling.Load() > a.s.settled.Load()
		if l.pending == nil || !l.full() && !asked && now.Before(a.due) && !a.ending() {
			return
		}
		over = l.toFile()
	}
	wrote := make(chan error, 1)
	a.wrote = wrote
	a.writes.Go(func() error {
		a.s.writes.begin()
		err := a.s.applier.write(over)
		a.s.writes.end()
		wrote <- err
		return nil
	})
}

// written takes note of what came of a write.
func (a *applying) written(err error) error {
	s := a.s
	now := time.Now()
	a.wrote = nil
	if a.writeFails = passing(err); a.writeFails {
		a.due = now.Add(obstaclePause)
		a.lookStuck()
		s.obstruct(err)
		return nil
	}
	if err != nil {
		return err
	}
	a.due = now.Add(writePause)
	s.settled.Store(s.applier.layers.written())
	a.passed()
	return s.reopenState()
}

// sleep waits for whatever comes first: records, the end of a write, a time.
func (a *applying) sleep(now time.Time) error {
	l := &a.s.applier.layers
	wait := time.Duration(-1)
	if a.wrote == nil && (l.pending != nil || a.writeFails) {
		wait = max(a.due.Sub(now), 0)
	}
	if !a.atEnd() && !l.full() {
		if next := max(a.next.Sub(now), 0); wait < 0 || next < wait {
			wait = next
		}
	}
	var rings <-chan time.Time
	if wait >= 0 {
		a.clock.Reset(wait)
		rings = a.clock.C
	}
	closed := a.closed
	if a.isClosed() {
		closed = nil
	}
	select {
	case <-a.s.kick:
	case <-rings:
	case err := <-a.wrote:
		return a.written(err)
	case <-closed:
	}
	return nil
}

// nextRecords gives a batch its records: all there are, but not more than there is room for, and no more once
// what a query waits for is in.
func (s *Store) nextRecords(start, room uint64) func(uint64) ([]statemachine.Record, error) {
	taken := make([]statemachine.Record, 0, applyStep)
	return func(seq uint64) (records []statemachine.Record, err error) {
		end := s.end.Load()
		if seq > end || seq > start+room {
			return nil, nil
		}
		if want := s.wanted.Load(); want > start && seq > want {
			return nil, nil
		}
		if records = s.feed.take(seq, taken); len(records) > 0 {
			return records, nil
		}
		err = s.entries(seq, func(e entry) (bool, error) {
			if e.Seq > end {
				return false, nil
			}
			records = append(records, e.Record)
			return len(records) < applyStep, nil
		})
		return records, err
	}
}
