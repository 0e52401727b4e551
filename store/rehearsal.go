package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"esmed/statemachine"
)

// Rehearsal folds facts as if they were recorded behind what the store holds. Nothing of it is kept. It is
// of use within Rehearse only, and not safe for concurrent use.
type Rehearsal struct {
	store *Store
	tx    *stateTx
	b     *batch
	eff   statemachine.Effects // of one fact after the other
	added [][]byte             // keys of rows that were not there before, in order
}

// Rehearse calls fn with a rehearsal over the state as it is when all that was appended before is applied.
// It holds one read transaction all the while: state.db cannot use room again that becomes free meanwhile.
// In memory it takes what the facts change, some 3 KB for a receipt that finds its message.
func (s *Store) Rehearse(ctx context.Context, fn func(*Rehearsal) error) error {
	err := s.Sync(ctx)
	if err == nil {
		err = s.settle(ctx)
	}
	if err == nil {
		err = s.viewWritten(func(tx *stateTx) error {
			b, err := beginBatch(tx, s.viewRecord)
			if err != nil {
				return err
			}
			return fn(&Rehearsal{store: s, tx: tx, b: b})
		})
	}
	if err != nil {
		return fmt.Errorf("store: rehearse: %w", err)
	}
	return nil
}

// Apply says what comes of a fact, and goes on from there.
func (r *Rehearsal) Apply(fact statemachine.Fact) (Judgement, error) {
	rec := statemachine.Record{Seq: r.b.cursor + 1, At: r.store.cfg.Now().UTC(), Fact: fact}
	if rec.At.Before(r.b.at) {
		rec.At = r.b.at
	}
	if err := r.b.step(r.store.fold(), rec, &r.eff); err != nil {
		return Judgement{}, err
	}
	for i := range r.eff.Inbox {
		r.noteAdded(&r.eff.Inbox[i])
	}
	return Judgement{rec, slices.Clone(r.eff.Decisions), r.eff.NoEffect}, nil
}

func (r *Rehearsal) noteAdded(c *statemachine.InboxChange) {
	key := bounded([]byte(c.Key))
	if c.Row == nil || r.tx.get(tableID{table: tableInbox}, key) != nil {
		return
	}
	if i, found := slices.BinarySearchFunc(r.added, key, bytes.Compare); !found {
		r.added = slices.Insert(r.added, i, key)
	}
}

// Rules are those in force in the rehearsal.
func (r *Rehearsal) Rules() (seq uint64, rules *statemachine.Rules) { return r.b.Rules() }

// RowsAfter pages the inbox as the rehearsal left it, like Store.RowsAfter.
func (r *Rehearsal) RowsAfter(_ context.Context, after statemachine.InboxKey, limit int) ([]*statemachine.InboxRow, error) {
	var from []byte
	if after != "" {
		from = bounded([]byte(after))
	}
	id := tableID{table: tableInbox}
	var keys [][]byte
	err := r.tx.scan(id, nil, from, false, func(key, _ []byte) error {
		if value, changed := r.b.over.get(id, key); changed && value == nil {
			return nil
		}
		if keys = append(keys, slices.Clone(key)); len(keys) == limit {
			return errStop
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	begin, found := slices.BinarySearchFunc(r.added, from, bytes.Compare)
	if found && from != nil {
		begin++
	}
	for _, key := range r.added[begin:] {
		if r.b.get(id, key) != nil {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	keys = keys[:min(len(keys), limit)]
	rows := make([]*statemachine.InboxRow, len(keys))
	for i, key := range keys {
		if rows[i], err = decodeRow(r.b.get(id, key)); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// MessagesBefore pages the messages, like Store.MessagesBefore.
func (r *Rehearsal) MessagesBefore(ctx context.Context, before statemachine.ID, limit int) ([]*statemachine.Message, error) {
	w := messageWalk{filter: &Filter{}, at: before, limit: limit}
	for !w.done {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.step(r.tx); err != nil {
			return nil, err
		}
	}
	messages := w.items[:min(len(w.items), limit)]
	for i, m := range messages {
		if now, ok := r.b.messages[m.ID]; ok {
			messages[i] = now
		}
	}
	return messages, nil
}

// MayChange reports whether judging the message again under the rules in force can come to anything: a
// receipt waits for an id that it has under them, or was only noted.
func (r *Rehearsal) MayChange(id statemachine.ID) (bool, error) {
	m, _, err := r.b.Message(id)
	if err != nil || m == nil || m.Counts.Noted > 0 {
		return m != nil, err
	}
	_, rules := r.b.Rules()
	for i := range rules.SMSCs {
		if rules.SMSCs[i].SMSC != m.SMSC {
			continue
		}
		for _, entry := range m.Reindex(&rules.SMSCs[i]) {
			if held, err := r.b.Held(entry.Account, entry.Key); err != nil || len(held) > 0 {
				return true, err
			}
		}
		return false, nil
	}
	return true, nil // its SMSC is not configured any more
}
