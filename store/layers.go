package store

import (
	"slices"
	"sync"
)

// layers are the changes that are folded and that the file lacks: what is on its way there, and over it what goes
// next. Whoever reads the state reads through them. One goroutine, the one that folds, changes them.
type layers struct {
	// mu is held for reading as long as what the layers hand out is used, for writing to change them. Who folds
	// reads without it.
	mu sync.RWMutex

	all     []*overlay // those that there are, the oldest first; never changed in place
	writing *overlay   // nil: nothing is on its way
	pending *overlay   // nil: nothing waits
	spare   *overlay   // is nobody's
	from    uint64     // cursor that pending lies over
	to      uint64     // cursor that pending leads to
	settles uint64     // cursor that writing leads to
}

// publish lays what a batch changes over the rest, and gives the batch room for the next one.
func (l *layers) publish(b *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to = b.cursor; l.pending != nil {
		for _, id := range b.dropped {
			l.pending.tables.delete(id)
		}
		l.pending.merge(b.over)
		return
	}
	l.from, l.pending = b.began, b.over
	if b.over = l.spare; b.over == nil {
		b.over = l.pending.another()
	}
	l.spare = nil
	l.list()
}

// toFile gives what is to be written next, which nobody changes any more until written is called.
func (l *layers) toFile() *overlay {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing, l.pending, l.settles = l.pending, nil, l.to
	l.list()
	return l.writing
}

// written says that the file has what was on its way. It gives the cursor that the file has now.
func (l *layers) written() (cursor uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare, l.writing = l.writing, nil
	l.list()
	return l.settles
}

// clear gives up what the file lacks.
func (l *layers) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing, l.pending = nil, nil
	l.list()
}

func (l *layers) list() {
	l.all = slices.DeleteFunc([]*overlay{l.writing, l.pending}, func(o *overlay) bool { return o == nil })
}

// layerOctets bounds what waits to be written, beside applyBatch.
const layerOctets = 4 << 20

// full reports whether as much waits to be written as should be written at once.
func (l *layers) full() bool {
	return l.pending != nil && (l.room() == 0 || l.pending.arena.size() >= layerOctets)
}

// room is how many records more may wait to be written.
func (l *layers) room() uint64 {
	if l.pending == nil {
		return applyBatch
	}
	return applyBatch - min(l.to-l.from, applyBatch)
}
