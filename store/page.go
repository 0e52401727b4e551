package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
)

// pageOf says what page lists: a table's keys with a prefix, behind a cursor.
type pageOf struct {
	what    string
	table   table
	prefix  []byte
	after   string
	limit   int
	reverse bool
}

// page lists up to limit rows, a few in each transaction. row gives nil for a key that does not belong.
// The cursor is the key of the last row in hex.
func page[T any](s *Store, ctx context.Context, p pageOf, row func(tx *stateTx, key, value []byte) (*T, error)) (items []*T, next string, err error) {
	after, err := hex.DecodeString(p.after)
	if err != nil {
		return nil, "", fmt.Errorf("store: %s: %w: cursor %q", p.what, ErrNotFound, p.after)
	}
	if p.after == "" {
		after = nil
	}
	limit := p.limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	var last []byte
	for more := true; more; {
		more = false
		visited := 0
		err := s.reading(ctx, p.what, func(tx *stateTx) error {
			return tx.scan(tableID{table: p.table}, p.prefix, after, p.reverse, func(key, value []byte) error {
				item, err := row(tx, key, value)
				if err != nil {
					return err
				}
				after = slices.Clone(key)
				if item != nil && len(items) == limit {
					next = hex.EncodeToString(last)
					return errStop
				}
				if item != nil {
					items, last = append(items, item), after
				}
				if visited++; visited == visitRows {
					more = true
					return errStop
				}
				return nil
			})
		})
		if err != nil {
			return nil, "", err
		}
	}
	return items, next, nil
}
