package store

import (
	"cmp"
	"iter"
	"slices"
)

// tableMap maps tables to what is kept of each; the zero value is empty. Hashing a tableID would cost as much as the
// look-ups that begin with it, and of most tables there is one partition, or the last one is asked for.
type tableMap[V any] [len(tableNames)][]ofPart[V] // each by part

type ofPart[V any] struct {
	part  uint32
	value V
}

// search gives where a table is, or where it belongs.
func (m *tableMap[V]) search(id tableID) (at int, found bool) {
	of := m[id.table]
	if last := len(of) - 1; last >= 0 && of[last].part == id.part {
		return last, true
	}
	return slices.BinarySearchFunc(of, id.part, func(p ofPart[V], part uint32) int { return cmp.Compare(p.part, part) })
}

func (m *tableMap[V]) get(id tableID) (value V, ok bool) {
	at, ok := m.search(id)
	if ok {
		value = m[id.table][at].value
	}
	return value, ok
}

func (m *tableMap[V]) put(id tableID, value V) {
	at, found := m.search(id)
	if found {
		m[id.table][at].value = value
		return
	}
	m[id.table] = slices.Insert(m[id.table], at, ofPart[V]{id.part, value})
}

func (m *tableMap[V]) delete(id tableID) {
	if at, found := m.search(id); found {
		m[id.table] = slices.Delete(m[id.table], at, at+1)
	}
}

// all are in the order of tables and parts. While they are walked none may be put or deleted.
func (m *tableMap[V]) all() iter.Seq2[tableID, V] {
	return func(yield func(tableID, V) bool) {
		for t := range m {
			for _, p := range m[t] {
				if !yield(tableID{table(t), p.part}, p.value) {
					return
				}
			}
		}
	}
}

// keep deletes those that are not wanted.
func (m *tableMap[V]) keep(wanted func(tableID, V) bool) {
	for t := range m {
		m[t] = slices.DeleteFunc(m[t], func(p ofPart[V]) bool { return !wanted(tableID{table(t), p.part}, p.value) })
	}
}
