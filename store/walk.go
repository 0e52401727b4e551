package store

import (
	"context"
	"slices"
)

// walk says which rows of a table are to be looked at.
type walk struct {
	what   string // as errors name it
	id     tableID
	prefix []byte
	after  []byte // nil = from the beginning
	limit  int    // of rows; 0 = DefaultLimit, negative = none
}

// walk hands out rows in the order of their keys, some in each transaction, until fn says that it wants no more.
func (s *Store) walk(ctx context.Context, w walk, fn func(tx *stateTx, key, value []byte) (more bool, err error)) error {
	left := w.limit
	if left == 0 {
		left = DefaultLimit
	}
	for more := true; more && left != 0; {
		more = false
		visited := 0
		err := s.reading(ctx, w.what, func(tx *stateTx) error {
			return tx.scan(w.id, w.prefix, w.after, false, func(key, value []byte) error {
				w.after = slices.Clone(key)
				wanted, err := fn(tx, key, value)
				if err != nil {
					return err
				}
				left--
				if visited++; !wanted || left == 0 || visited == visitRows {
					more = wanted
					return errStop
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
