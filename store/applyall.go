package store

import (
	"time"

	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

const (
	// A pause of twice what the last batch took is kept before the next while nobody waits and little has
	// come, within these bounds: a steady trickle is not written one record at a time, and a slow disk
	// is left to the log.
	minApplyPause = 10 * time.Millisecond
	maxApplyPause = 100 * time.Millisecond
	// obstaclePause is how long to wait before what failed for want of room or of a key is tried again.
	obstaclePause = time.Second
)

// applying is the one goroutine that folds, and the batch that is written meanwhile.
type applying struct {
	s       *Store
	folded  uint64 // seq of the last record that is folded
	write   errgroup.Group
	writing time.Duration // that a batch took to be written; write's until it has ended
	took    time.Duration // the last one known of
}

// applyAll applies until written is closed and nothing is left, or nothing can be applied for now.
func (s *Store) applyAll(written <-chan struct{}) error {
	a := &applying{s: s, folded: s.applied.Load()}
	err := a.run(written)
	if err != nil {
		return err
	}
	return a.wait()
}

func (a *applying) run(written <-chan struct{}) error {
	s := a.s
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		var err error
		if a.atEnd() {
			if err = a.wait(); err == nil {
				select {
				case <-s.kick:
					continue
				case <-written:
					if a.atEnd() {
						return nil
					}
				}
			}
		}
		var began time.Time
		if err == nil {
			a.gather(pause, written)
			began = time.Now()
			err = a.batch()
		}
		if passing(err) {
			s.obstruct(err)
			pause.Reset(obstaclePause)
			select {
			case <-pause.C:
			case <-written:
				return nil // what is durable is applied when the store is opened again
			}
			pause.Reset(0)
			continue
		}
		if err != nil {
			return err
		}
		pause.Reset(min(max(2*(time.Since(began)+a.took), minApplyPause), maxApplyPause))
	}
}

// atEnd reports whether all is folded that there is. The feed has a group a moment before the log's end is known to be
// behind it.
func (a *applying) atEnd() bool { return a.folded >= a.s.end.Load() }

// gather waits for more to come since the last batch, unless somebody waits for what there is.
func (a *applying) gather(pause *time.Timer, written <-chan struct{}) {
	s := a.s
	for s.wanted.Load() <= a.folded && s.end.Load() < a.folded+applyBatch/2 {
		select {
		case <-pause.C:
			return
		case <-s.kick:
		case <-written:
			return
		}
	}
}

// batch folds the next one while the last one is written, and then has it written. After an error nothing of either
// is left but what is committed.
func (a *applying) batch() error {
	s := a.s
	var witness Witness
	if s.cfg.Witness != nil {
		witness = s.cfg.Witness()
	}
	b, err := s.applier.foldBatch(s.nextRecords(a.folded), func(rec statemachine.Record, eff *statemachine.Effects) {
		s.judged.add(rec, eff)
		if witness != nil {
			witness.Folded(rec, eff)
		}
	})
	if before := a.wait(); before != nil {
		return before
	}
	if err != nil {
		a.void()
		return err
	}
	a.folded = b.cursor
	a.write.Go(func() error { return a.commit(b, witness) })
	return nil
}

// commit writes a batch and says so.
func (a *applying) commit(b *batch, witness Witness) error {
	s := a.s
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	began := time.Now()
	if err := s.applier.write(b); err != nil {
		return err
	}
	a.writing = time.Since(began)
	if witness != nil {
		witness.Committed()
	}
	if b.putBack {
		s.putBacks.Add(1)
	}
	s.applied.Store(b.cursor)
	s.obstruct(nil)
	s.changed.send()
	return nil
}

// wait waits until the last batch is written. After an error what was folded is void.
func (a *applying) wait() error {
	err := a.write.Wait()
	a.write, a.took = errgroup.Group{}, a.writing
	if err != nil {
		a.void()
	}
	return err
}

func (a *applying) void() {
	a.s.applier.void()
	a.folded = a.s.applied.Load()
}

// nextRecords gives a batch its records: all there are, but not more than a batch takes, and no more once
// what a query waits for is in.
func (s *Store) nextRecords(start uint64) func(uint64) ([]statemachine.Record, error) {
	room := make([]statemachine.Record, 0, applyStep)
	return func(seq uint64) (records []statemachine.Record, err error) {
		end := s.end.Load()
		if seq > end || seq > start+applyBatch {
			return nil, nil
		}
		if want := s.wanted.Load(); want > start && seq > want {
			return nil, nil
		}
		if records = s.feed.take(seq, room); len(records) > 0 {
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
