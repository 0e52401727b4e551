package store

import "slices"

// fifo is a list that grows at its end and goes at its beginning, in room that is used again.
type fifo[T any] struct {
	all   []T
	first int // in all; those before went
}

// items are good until the fifo is changed.
func (f *fifo[T]) items() []T { return f.all[f.first:] }

func (f *fifo[T]) push(items ...T) { f.all = append(f.all, items...) }

// drop takes the first n away.
func (f *fifo[T]) drop(n int) {
	clear(f.all[f.first : f.first+n])
	if f.first += n; f.first > len(f.all)/2 {
		f.all, f.first = slices.Delete(f.all, 0, f.first), 0
	}
}

// cut takes the last n away.
func (f *fifo[T]) cut(n int) {
	left := len(f.all) - n
	clear(f.all[left:])
	f.all = f.all[:left]
}
