package store

import (
	"context"

	"esmed/statemachine"
)

// Hold gives the hold of an SMSC's queue; the zero Hold when there is none. It does not wait for the applier: a
// dispatcher asks whenever Changed says that something was applied.
func (s *Store) Hold(_ context.Context, smsc string) (h statemachine.Hold, err error) {
	err = s.view(func(tx *stateTx) error {
		h, err = holdIn(tx.get, smsc)
		return err
	})
	return h, err
}

// Hold implements statemachine.View.
func (b *batch) Hold(smsc string) (statemachine.Hold, error) { return holdIn(b.get, smsc) }

func (b *batch) takeHold(c *statemachine.HoldChange) {
	id := tableID{table: tableHolds}
	if c.Hold == (statemachine.Hold{}) {
		b.over.delete(id, holdKey(c.SMSC))
		return
	}
	b.over.put(id, holdKey(c.SMSC), appendHold(nil, &c.Hold))
}

func holdKey(smsc string) []byte { return bounded([]byte(smsc)) }

func holdIn(get func(tableID, []byte) []byte, smsc string) (statemachine.Hold, error) {
	return readHold(get(tableID{table: tableHolds}, holdKey(smsc)))
}

func appendHold(b []byte, h *statemachine.Hold) []byte {
	b = putUint(b, 1, h.Seq)
	b = putTime(b, 2, h.At)
	b = putString(b, 3, h.By)
	return putString(b, 4, h.Reason)
}

func readHold(value []byte) (h statemachine.Hold, err error) {
	f := fields{rest: value}
	for f.next() {
		switch f.num {
		case 1:
			h.Seq = f.u
		case 2:
			h.At = f.time()
		case 3:
			h.By = f.str()
		case 4:
			h.Reason = f.str()
		}
	}
	return h, f.err
}
