//go:build !race

package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

// TestOverlay_allocations: once it has the room, a batch's changes cost none.
func TestOverlay_allocations(t *testing.T) {
	const rows = 2000
	o, id := newOverlay(), tableID{table: tableQueue}
	keys := make([][]byte, rows)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "alpha%08x", uint32(i)*2654435761)
	}
	value := make([]byte, 300)
	batch := func() {
		o.reset()
		for _, key := range keys {
			o.put(id, key, value)
		}
		for _, key := range keys {
			if v, ok := o.get(id, key); !ok || len(v) != len(value) {
				panic("a row is missing")
			}
		}
		o.sorted(id)
	}
	require.Zero(t, testing.AllocsPerRun(10, batch))
}

// TestMessage_allocations: a message is written without one, and read with one for itself, for all of its strings, and
// for its parts, their attempts and events.
func TestMessage_allocations(t *testing.T) {
	m := &statemachine.Message{
		ID: "01JDXW5Q0C8Z4Y3K7M2N9P6R5T", SMSC: "alpha", Account: "alpha", Owner: "uid:0", Ref: "order-7", To: "+393331234567",
		E164: "+393331234567", Source: receipt.Address{Addr: "esmed"}, Dest: receipt.Address{Addr: "393331234567"},
		AcceptedAt: began, UpdatedAt: began, State: statemachine.Delivered, LastDecision: statemachine.DecisionPos{Seq: 7},
		Counts: statemachine.Counts{Receipts: 1},
		Parts: []statemachine.Part{{
			Number: 1, State: statemachine.Delivered, Basis: statemachine.BasisReceipt, WindowEnd: began,
			Attempts: []statemachine.Attempt{{Number: 1, At: began, Session: "alpha-1", MessageID: "a1", AnsweredAt: began}},
			Reported: statemachine.Reported{State: statemachine.Delivered, Final: true, SMSC: "alpha", RawStat: "DELIVRD", DoneDateRaw: "2611301200", DoneDate: receipt.Date{Wall: began}},
			Events:   []statemachine.Event{{Fingerprint: receipt.Fingerprint{1}, Seq: 7, Count: 1}},
		}},
	}
	room := appendMessage(nil, m)
	require.Zero(t, testing.AllocsPerRun(100, func() { room = appendMessage(room[:0], m) }))
	require.EqualValues(t, 5, testing.AllocsPerRun(100, func() {
		if again, err := decodeMessage(room); err != nil || again.Parts[0].Reported.RawStat != "DELIVRD" {
			panic("is not what was written")
		}
	}))
}

// TestHolding_allocations: who looks a key up makes none but the hash's own.
func TestHolding_allocations(t *testing.T) {
	const sealed = 2*filterGroupSize + 5
	fs, all, key := new(filters), make(partitions, sealed+1), idKey("alpha", "c0f1a2b3-7a51-4f0e-9d3c-5b8e6a7f0c12")
	h := hashKey(tableIDs, key)
	for i := range all {
		all[i] = &partition{number: uint32(i)}
		if i < sealed {
			f := newFilter(blocksFor(100))
			f.add(&h)
			fs.put(uint32(i), f)
		}
	}
	tx := newStateTx(nil)
	tx.filters = fs.now()
	require.EqualValues(t, 1, testing.AllocsPerRun(100, func() {
		if found, err := tx.holding(all, tableIDs, key); err != nil || len(found) != len(all) {
			panic("all have it")
		}
	}))
}
