package store

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/statemachine"
)

// partition is a range of message ids: from start on, up to the next one's start.
type partition struct {
	number   uint32
	start    statemachine.ID // "" in the first
	lastID   statemachine.ID // greatest in it
	messages uint64
	firstAt  time.Time // earliest and latest AcceptedAt
	lastAt   time.Time
	states   [numStates]uint64 // how many messages are in each
	firstSeq uint64            // earliest record that a message of it, or a decision about one, rests on
	lag      idLag

	changed bool
}

const numStates = statemachine.Unreported + 1

// partitions are all of them, in the order of their ids.
type partitions []*partition

func (p *partition) key() []byte { return append([]byte{'p'}, p.start...) }

func appendPartition(b []byte, p *partition) []byte {
	b = putUint(b, 1, uint64(p.number))
	b = putUint(b, 2, p.messages)
	b = putTime(b, 3, p.firstAt)
	b = putTime(b, 4, p.lastAt)
	states := make([]byte, 0, numStates)
	for _, n := range p.states {
		states = protowire.AppendVarint(states, n)
	}
	b = putBytes(b, 5, states)
	b = putString(b, 6, string(p.lastID))
	b = putUint(b, 7, p.firstSeq)
	return appendIDLag(b, p.lag)
}

func decodePartition(key, value []byte) (*partition, error) {
	if len(key) == 0 {
		return nil, errMalformed
	}
	p := &partition{start: statemachine.ID(key[1:])}
	f := fields{rest: value}
	for f.next() {
		switch f.num {
		case 1:
			p.number = uint32(f.u)
		case 2:
			p.messages = f.u
		case 3:
			p.firstAt = f.time()
		case 4:
			p.lastAt = f.time()
		case 5:
			rest := f.b
			for i := range p.states {
				n, size := protowire.ConsumeVarint(rest)
				if size < 0 {
					break
				}
				p.states[i], rest = n, rest[size:]
			}
		case 6:
			p.lastID = statemachine.ID(f.str())
		case 7:
			p.firstSeq = f.u
		case 8:
			p.lag.least = f.int()
		case 9:
			p.lag.most = f.int()
		case 10:
			p.lag.none = f.bool()
		}
	}
	return p, f.err
}

func readPartitions(tx *stateTx) (partitions, error) {
	var all partitions
	err := tx.scan(tableID{table: tablePartitions}, nil, nil, false, func(key, value []byte) error {
		p, err := decodePartition(key, value)
		all = append(all, p)
		return err
	})
	return all, err
}

// readPartition reads the row of a partition of which the head is known.
func readPartition(tx *stateTx, head *partition) (*partition, error) {
	key := head.key()
	value := tx.get(tableID{table: tablePartitions}, key)
	if value == nil {
		return nil, errMalformed
	}
	return decodePartition(key, value)
}

// of is the partition that an id belongs to; nil when there is none at all.
func (all partitions) of(id statemachine.ID) *partition {
	i, found := slices.BinarySearchFunc(all, id, func(p *partition, id statemachine.ID) int {
		return strings.Compare(string(p.start), string(id))
	})
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	return all[i]
}

// partitionSpan is how much time a partition spans at most, so that where little is sent messages are not kept
// for much longer than they should be.
const partitionSpan = 7 * 24 * time.Hour

// place gives the partition for a new message. The last one, once it holds size or spans its time, is followed
// by another that begins with the first id behind all of its own.
func (all *partitions) place(m *statemachine.Message, size uint64) *partition {
	p := all.of(m.ID)
	n := len(*all)
	if p == nil || p == (*all)[n-1] && p.full(m, size) {
		next := new(partition)
		if p != nil {
			next.number, next.start = p.number+1, m.ID
		}
		*all = append(*all, next)
		p = next
	}
	return p
}

// full reports whether a message that comes behind all of the partition's should begin another one.
func (p *partition) full(m *statemachine.Message, size uint64) bool {
	return p.messages > 0 && m.ID > p.lastID && (p.messages >= size || m.AcceptedAt.Sub(p.firstAt) >= partitionSpan)
}

// add counts a new message, and moved one that changes its state.
func (p *partition) add(m *statemachine.Message) {
	if p.messages == 0 || m.AcceptedAt.Before(p.firstAt) {
		p.firstAt = m.AcceptedAt
	}
	if m.AcceptedAt.After(p.lastAt) {
		p.lastAt = m.AcceptedAt
	}
	p.lastID = max(p.lastID, m.ID)
	p.lag.add(m.ID, m.AcceptedAt, p.messages == 0)
	p.restsOn(m.AcceptedSeq)
	p.messages++
	p.states[m.State]++
	p.changed = true
}

func (p *partition) restsOn(seq uint64) {
	if p.firstSeq == 0 || seq < p.firstSeq {
		p.firstSeq, p.changed = seq, true
	}
}

func (p *partition) moved(from, to statemachine.State) {
	if from != to {
		p.states[from]--
		p.states[to]++
		p.changed = true
	}
}

func (p *partition) table(t table) tableID { return tableID{t, p.number} }
