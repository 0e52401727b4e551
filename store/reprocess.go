package store

import (
	"context"
	"slices"

	"esmed/statemachine"
)

// Reprocessing is how far the last pass over what rules decide about came; the zero value before any.
func (s *Store) Reprocessing(ctx context.Context) (p statemachine.ReprocessProgress, err error) {
	err = s.reading(ctx, "reprocessing", func(tx *stateTx) error {
		f := fields{rest: tx.get(tableID{table: tableMeta}, metaReprocess)}
		p = readProgress(&f)
		return f.err
	})
	return p, err
}

// Restored is the last record of its kind; the zero value when the store was never a backup.
func (s *Store) Restored(ctx context.Context) (r statemachine.Restored, err error) {
	err = s.reading(ctx, "restored", func(tx *stateTx) error {
		f := fields{rest: tx.get(tableID{table: tableMeta}, metaRestored)}
		r = *readRestored(&f)
		return f.err
	})
	return r, err
}

// RowsAfter pages the inbox of all SMSCs in the order of its keys (very long ones by their beginning):
// the rows behind after ("" = from the beginning), at most limit (0 = DefaultLimit).
func (s *Store) RowsAfter(ctx context.Context, after statemachine.InboxKey, limit int) (rows []*statemachine.InboxRow, err error) {
	w := walk{what: "inbox", id: tableID{table: tableInbox}, limit: limit}
	if after != "" {
		w.after = bounded([]byte(after))
	}
	err = s.walk(ctx, w, func(_ *stateTx, _, value []byte) (bool, error) {
		row, err := decodeRow(value)
		rows = append(rows, row)
		return true, err
	})
	return rows, err
}

// InboxRowBySeq finds the row whose first reception is seq ("i123" names it so); ErrNotFound when there is
// none.
func (s *Store) InboxRowBySeq(ctx context.Context, seq uint64) (row *statemachine.InboxRow, err error) {
	err = s.reading(ctx, "inbox row", func(tx *stateTx) error {
		key := tx.get(tableID{table: tableInboxBySeq}, seqKey(seq))
		if key == nil {
			return ErrNotFound
		}
		value := tx.get(tableID{table: tableInbox}, bounded(slices.Clone(key)))
		if value == nil {
			return errMalformed
		}
		row, err = decodeRow(value)
		return err
	})
	return row, err
}

// MessagesBefore pages messages newest first: those whose ids are less than before ("" = all), at most limit
// (0 = DefaultLimit).
func (s *Store) MessagesBefore(ctx context.Context, before statemachine.ID, limit int) ([]*statemachine.Message, error) {
	messages, _, err := s.Messages(ctx, Filter{After: before, Limit: limit})
	return messages, err
}
