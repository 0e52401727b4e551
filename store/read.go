package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"esmed/statemachine"
)

// DefaultLimit is how many rows a list returns when its limit is 0.
const DefaultLimit = 100

// visitRows is how many rows a list looks at in one transaction.
const visitRows = 256

// reading waits for the applier, reads in one short transaction and names the operation in errors.
func (s *Store) reading(ctx context.Context, what string, fn func(*stateTx) error) error {
	err := s.Sync(ctx)
	if err == nil {
		err = s.view(fn)
	}
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	return nil
}

// Message is ErrNotFound when there is none.
func (s *Store) Message(ctx context.Context, id statemachine.ID) (m *statemachine.Message, err error) {
	err = s.reading(ctx, "message", func(tx *stateTx) error {
		if m, err = messageIn(tx, id); err == nil && m == nil {
			err = ErrNotFound
		}
		return err
	})
	return m, err
}

// messageIn finds a message by its id alone; nil when there is none.
func messageIn(tx *stateTx, id statemachine.ID) (*statemachine.Message, error) {
	p, err := partitionIn(tx, id)
	if p == nil || err != nil {
		return nil, err
	}
	return readMessage(tx, partitions{p}, id)
}

func partitionIn(tx *stateTx, id statemachine.ID) (p *partition, err error) {
	after := append([]byte{'p'}, id...)
	err = tx.scan(tableID{table: tablePartitions}, nil, append(after, 0), true, func(key, value []byte) error {
		if p, err = decodePartition(key, value); err != nil {
			return err
		}
		return errStop
	})
	return p, err
}

func readMessage(tx *stateTx, parts partitions, id statemachine.ID) (*statemachine.Message, error) {
	p := parts.of(id)
	if p == nil || id == "" || id > p.lastID {
		return nil, nil
	}
	value := tx.get(p.table(tableMessages), []byte(id))
	if value == nil {
		return nil, nil
	}
	return decodeMessage(value)
}

// MessageByRef finds the messages with a ref, newest first: one for an owner, any number when owner is
// "" (any owner). None is no error.
func (s *Store) MessageByRef(ctx context.Context, owner, ref string) (found []*statemachine.Message, err error) {
	err = s.reading(ctx, "message by ref", func(tx *stateTx) error {
		parts, err := tx.heads()
		if err != nil {
			return err
		}
		key := refKey(kindRef, owner, ref)
		holding, err := tx.holding(parts, tableRefs, key)
		if err != nil {
			return err
		}
		for _, p := range slices.Backward(holding) {
			err := tx.scan(p.table(tableRefs), key, nil, true, func(at, value []byte) error {
				if owner != "" && len(at) != len(key) {
					return nil // of an owner whose name begins like this one's
				}
				_, id, err := readRefValue(value)
				if err == nil {
					found, err = appendFound(found, tx, id)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// appendFound reads a message that an index names, once.
func appendFound(found []*statemachine.Message, tx *stateTx, id statemachine.ID) ([]*statemachine.Message, error) {
	if slices.ContainsFunc(found, func(m *statemachine.Message) bool { return m.ID == id }) {
		return found, nil
	}
	m, err := messageIn(tx, id)
	if m != nil {
		found = append(found, m)
	}
	return found, err
}

// MessagesByExternalID finds the messages that an SMSC gave an id to, newest first: as received, in
// any of the forms that its rules read it in, or as a receipt would name it. account "" means any.
func (s *Store) MessagesByExternalID(ctx context.Context, account, messageID string) (found []*statemachine.Message, err error) {
	err = s.reading(ctx, "messages by message_id", func(tx *stateTx) error {
		rules, err := s.rulesIn(tx)
		if err != nil || rules.seq == 0 {
			return err
		}
		parts, err := tx.heads()
		for _, key := range externalKeys(rules.rules, account, messageID) {
			var refs []statemachine.AttemptRef
			if err == nil {
				refs, err = attemptsIn(tx, parts, key)
			}
			for _, ref := range refs {
				if err == nil {
					found, err = appendFound(found, tx, ref.Message)
				}
			}
		}
		return err
	})
	return found, err
}

// externalKeys are the keys that an id may be indexed under, in each account: taken as a response's id
// and as a receipt's.
func externalKeys(rules *statemachine.Rules, account, messageID string) (keys [][]byte) {
	for i := range rules.SMSCs {
		r := &rules.SMSCs[i]
		if account != "" && r.Account != account {
			continue
		}
		forms := r.Receipt.ResponseKeys(messageID)
		for _, tlv := range [...]bool{true, false} {
			for _, form := range r.Receipt.ReceiptKeys(messageID, tlv) {
				forms = append(forms, form.Key)
			}
		}
		for _, form := range forms {
			key := idKey(r.Account, form)
			if !slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) }) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// Record reads one record of the log, with its texts unsealed; ErrNotFound when there is none.
func (s *Store) Record(ctx context.Context, seq uint64) (statemachine.Record, error) {
	e, err := s.entry(seq)
	if err != nil {
		return statemachine.Record{}, fmt.Errorf("store: record: %w", err)
	}
	return e.Record, nil
}

// Accepted is what a message was accepted with, its texts unsealed, zeros where their key was destroyed;
// ErrNotFound when there is none. It is the store's, and not to be modified.
func (s *Store) Accepted(ctx context.Context, id statemachine.ID) (*statemachine.MessageAccepted, error) {
	m, err := s.Message(ctx, id)
	if err != nil {
		return nil, err
	}
	read, err := s.accepted([]uint64{m.AcceptedSeq})
	if err != nil {
		return nil, fmt.Errorf("store: accepted: %w", err)
	}
	return read[0].fact, nil
}

// ReportRow are the counters of the messages of an hour (of accepted_at, UTC) and SMSC.
type ReportRow struct {
	Hour time.Time
	SMSC string
	statemachine.Tally
}

// Report reads the counters of the hours from since up to until, by hour and SMSC. A zero time is no
// bound.
func (s *Store) Report(ctx context.Context, since, until time.Time) (rows []ReportRow, err error) {
	var after []byte
	if !since.IsZero() && since.Unix() > 0 {
		after = binary.BigEndian.AppendUint64(nil, uint64(since.Truncate(time.Hour).Unix())-1)
		after = append(after, 0xFF, 0xFF, 0xFF, 0xFF)
	}
	for more := true; more && err == nil; {
		more = false
		n := 0
		err = s.reading(ctx, "report", func(tx *stateTx) error {
			return tx.scan(tableID{table: tableTallies}, nil, after, false, func(key, value []byte) error {
				if len(key) < 8 {
					return errMalformed
				}
				hour := time.Unix(int64(binary.BigEndian.Uint64(key)), 0).UTC()
				if !until.IsZero() && !hour.Before(until) {
					return errStop
				}
				t, err := readTally(value)
				if err != nil {
					return err
				}
				rows = append(rows, ReportRow{hour, string(key[8:]), t})
				after = slices.Clone(key)
				if n++; n == visitRows {
					more = true
					return errStop
				}
				return nil
			})
		})
	}
	return rows, err
}
