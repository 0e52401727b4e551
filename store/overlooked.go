package store

import (
	"context"
	"slices"
	"time"

	"esmed/statemachine"
)

// Overlooked names the rows of an SMSC's inbox that were received in [from, to) and are unmatched though
// an attempt bears one of their ids. There should be none: a row is judged again as soon as its id is
// given. It reads the rows of that time and no others, some in each transaction.
func (s *Store) Overlooked(ctx context.Context, smsc string, from, to time.Time) (keys []statemachine.InboxKey, err error) {
	prefix := appendKeyPart(nil, smsc)
	after := appendNanos(slices.Clone(prefix), from)
	for more := true; more && err == nil; {
		more = false
		visited := 0
		err = s.reading(ctx, "overlooked", func(tx *stateTx) error {
			parts, err := tx.heads()
			if err != nil {
				return err
			}
			return tx.scan(tableID{table: tableInboxByAge}, prefix, after, false, func(age, key []byte) error {
				if len(age) < len(prefix)+8 {
					return errMalformed
				}
				if !fromKeyNanos(age[len(prefix):]).Before(to) {
					return errStop
				}
				row, err := decodeRow(tx.get(tableID{table: tableInbox}, bounded(slices.Clone(key))))
				if err != nil {
					return err
				}
				found, err := overlooked(tx, parts, row)
				if found {
					keys = append(keys, row.Key)
				}
				after = slices.Clone(age)
				if visited++; err == nil && visited == visitRows {
					more = true
					return errStop
				}
				return err
			})
		})
	}
	return keys, err
}

func overlooked(tx *stateTx, parts partitions, row *statemachine.InboxRow) (bool, error) {
	if row.Why != statemachine.Unmatched || len(row.WaitsFor) > 0 {
		return false, nil
	}
	for _, key := range row.Keys {
		refs, err := attemptsIn(tx, parts, idKey(row.Account, key))
		if err != nil || len(refs) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
