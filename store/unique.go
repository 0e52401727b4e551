package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"time"

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
	pending map[string]pendingRef
	order   fifo[claimed] // of pending, by seq

	keys [2][]byte // of the claim that is being made, in room that is used again

	tx      *stateTx // for the group that is being made; nil = not needed so far
	endView func()
	parts   partitions
}

type claimed struct {
	key string
	seq uint64
}

// begin forgets what the applier has taken over. What it has is visible to every transaction from now on.
func (u *uniqueness) begin() {
	applied := u.s.applied.Load()
	n := 0
	for order := u.order.items(); n < len(order) && order[n].seq <= applied; n++ {
		delete(u.pending, order[n].key)
	}
	u.order.drop(n)
}

// end lets the group's transaction go.
func (u *uniqueness) end() {
	if u.tx != nil {
		u.endView()
	}
	u.endView, u.tx, u.parts = nil, nil, nil
}

// applied looks a key up in state.db; nil when it is not there.
func (u *uniqueness) applied(key []byte) (value []byte, err error) {
	err = guard(stateFile, func() (err error) {
		if u.tx == nil {
			if u.tx, u.endView, err = u.s.beginView(); err != nil {
				return err
			}
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
	order := u.order.items()
	n := len(order)
	for n > 0 && order[n-1].seq >= seq {
		n--
		delete(u.pending, order[n].key)
	}
	u.order.cut(len(order) - n)
}

// claim takes the message's ref and key for it. It gives the message that has them already, when its
// request was the same, and ErrRefConflict when it was not.
func (u *uniqueness) claim(a *statemachine.MessageAccepted, seq uint64, at time.Time) (first pendingRef, repeat bool, err error) {
	keys := u.keysOf(a)
	for _, key := range keys {
		found, there, err := u.find(key)
		if err != nil {
			return first, false, err
		}
		if !there {
			continue
		}
		if !bytes.Equal(found.hash, a.RequestHash) || repeat && first.seq != found.seq {
			return first, false, ErrRefConflict
		}
		first, repeat = found, true
	}
	if repeat {
		return first, true, nil
	}
	for _, key := range keys {
		key := string(key)
		u.pending[key] = pendingRef{seq, at, a.Message, a.RequestHash}
		u.order.push(claimed{key, seq})
	}
	return first, false, nil
}

// keysOf are the keys that a message claims, until the next claim.
func (u *uniqueness) keysOf(a *statemachine.MessageAccepted) [][]byte {
	n := 0
	add := func(kind byte, ref string) {
		if ref != "" {
			u.keys[n] = appendRefKey(u.keys[n][:0], kind, a.Owner, ref)
			n++
		}
	}
	add(kindIdempotency, a.IdempotencyKey)
	add(kindRef, a.Ref)
	return u.keys[:n]
}

func (u *uniqueness) find(key []byte) (found pendingRef, there bool, err error) {
	if found, there = u.pending[string(key)]; there {
		return found, true, nil
	}
	value, err := u.applied(key)
	if err != nil || value == nil {
		return found, false, err
	}
	seq, _, err := readRefValue(value)
	if err != nil {
		return found, false, err
	}
	e, err := u.s.entry(seq)
	if err != nil {
		return found, false, err
	}
	a, ok := e.Fact.(*statemachine.MessageAccepted)
	if !ok {
		return found, false, &DamagedError{File: stateFile, Seq: seq, Err: errors.New("a ref leads to a record that accepted nothing")}
	}
	return pendingRef{seq, e.At, a.Message, a.RequestHash}, true, nil
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
