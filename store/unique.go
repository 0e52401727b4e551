package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// pendingRef is a ref or key that was claimed by a record.
type pendingRef struct {
	seq     uint64
	at      time.Time
	message statemachine.ID
	hash    []byte
}

// uniqueness decides whether a ref or an idempotency key is new to its owner. What state.db does not
// have yet is pending.
type uniqueness struct {
	s       *Store
	pending map[string]*pendingRef
	order   []claimed // of pending, by seq

	bolt  *bbolt.Tx // of the group that is being made; nil = not needed so far
	tx    *stateTx
	parts partitions
}

type claimed struct {
	key string
	seq uint64
}

// begin forgets what the applier has taken over. What it has is visible to every transaction from now on.
func (u *uniqueness) begin() {
	applied := u.s.applied.Load()
	n := 0
	for n < len(u.order) && u.order[n].seq <= applied {
		delete(u.pending, u.order[n].key)
		n++
	}
	u.order = u.order[n:]
}

// end lets the group's transaction go.
func (u *uniqueness) end() {
	if u.bolt != nil {
		u.bolt.Rollback()
	}
	u.bolt, u.tx, u.parts = nil, nil, nil
}

// applied looks a key up in state.db; nil when it is not there.
func (u *uniqueness) applied(key []byte) (value []byte, err error) {
	err = guard(stateFile, func() (err error) {
		if u.bolt == nil {
			known := u.s.filters.now()
			if u.bolt, err = u.s.state.Begin(false); err != nil {
				return err
			}
			u.tx = newStateTx(u.bolt, nil)
			u.tx.filters = known
			if u.parts, err = u.tx.heads(); err != nil {
				return err
			}
		}
		found, err := findRef(u.tx, u.parts, key)
		value = clone(found)
		return err
	})
	return value, stateDamaged(0, err)
}

// forget takes back what records from seq on claimed.
func (u *uniqueness) forget(seq uint64) {
	n := len(u.order)
	for n > 0 && u.order[n-1].seq >= seq {
		n--
		delete(u.pending, u.order[n].key)
	}
	u.order = u.order[:n]
}

// claim takes the message's ref and key for it. It gives the message that has them already, when its
// request was the same, and ErrRefConflict when it was not.
func (u *uniqueness) claim(a *statemachine.MessageAccepted, seq uint64, at time.Time) (first *pendingRef, err error) {
	var keys [][]byte
	if a.IdempotencyKey != "" {
		keys = append(keys, refKey(kindIdempotency, a.Owner, a.IdempotencyKey))
	}
	if a.Ref != "" {
		keys = append(keys, refKey(kindRef, a.Owner, a.Ref))
	}
	for _, key := range keys {
		found, err := u.find(key)
		if err != nil {
			return nil, err
		}
		if found == nil {
			continue
		}
		if !bytes.Equal(found.hash, a.RequestHash) || first != nil && first.seq != found.seq {
			return nil, ErrRefConflict
		}
		first = found
	}
	if first != nil {
		return first, nil
	}
	for _, key := range keys {
		u.pending[string(key)] = &pendingRef{seq, at, a.Message, a.RequestHash}
		u.order = append(u.order, claimed{string(key), seq})
	}
	return nil, nil
}

func (u *uniqueness) find(key []byte) (*pendingRef, error) {
	if p := u.pending[string(key)]; p != nil {
		return p, nil
	}
	value, err := u.applied(key)
	if err != nil || value == nil {
		return nil, err
	}
	seq, _, err := readRefValue(value)
	if err != nil {
		return nil, err
	}
	e, err := u.s.entry(seq)
	if err != nil {
		return nil, err
	}
	a, ok := e.Fact.(*statemachine.MessageAccepted)
	if !ok {
		return nil, &DamagedError{File: stateFile, Seq: seq, Err: errors.New("a ref leads to a record that accepted nothing")}
	}
	return &pendingRef{seq, e.At, a.Message, a.RequestHash}, nil
}

// findRef probes the partitions that may have the key, from the newest on.
func findRef(tx *stateTx, parts partitions, key []byte) ([]byte, error) {
	holding, err := tx.holding(parts, tableRefs, key)
	for _, p := range slices.Backward(holding) {
		if value := tx.get(p.table(tableRefs), key); value != nil {
			return value, nil
		}
	}
	return nil, err
}

// readRefValue reads what a ref leads to: the accepted record's seq, then the message's id.
func readRefValue(value []byte) (seq uint64, id statemachine.ID, err error) {
	if len(value) < 8 {
		return 0, "", errMalformed
	}
	return binary.BigEndian.Uint64(value), statemachine.ID(value[8:]), nil
}
