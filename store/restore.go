package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"esmed/statemachine"
)

// A store that is opened from a backup may be behind what the SMSCs saw of the one that was copied. Its log
// begins anew: with a restored record, 2^32 behind the last seq that it has, in a segment of its own whose
// head names the backup and that last seq. What it holds as queued or unanswered is put in doubt (Restore).
// Only then does the marker go, so that after a crash at any point the next start goes on.

// RestoreResult says what Restore did.
type RestoreResult struct {
	Backup     string // "" = there was nothing to restore
	Send       bool   // what was queued is sent, as the first start from the backup was told
	Unanswered int    // attempts put in doubt that had no answer
	Queued     int    // parts put in doubt that waited to be sent
}

// RestoredFrom names the backup that this store is, until Restore has ended; "" = none.
func (s *Store) RestoredFrom() string {
	s.restoreMu.Lock()
	defer s.restoreMu.Unlock()
	return s.backup
}

// readMarker looks whether data_dir is a backup, and refuses one that was never finished.
func (s *Store) readMarker() error {
	if there, err := exists(filepath.Join(s.cfg.Dir, partialFile)); err != nil {
		return err
	} else if there && !s.cfg.partial {
		return ErrPartialBackup
	}
	data, err := os.ReadFile(filepath.Join(s.cfg.Dir, markerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var m marker
	if err := json.Unmarshal(data, &m); err != nil || m.Backup == "" {
		return &DamagedError{File: markerFile, Err: errors.New("does not name a backup")}
	}
	s.backup = m.Backup
	return nil
}

// restore makes the next record begin anew behind a backup, unless one before it did.
func (l *segmentLog) restore(backup string) {
	if !slices.ContainsFunc(l.segments, func(s *segment) bool { return s.backup == backup }) {
		l.restored = backup
	}
}

// Restore makes a store that was opened from a backup a store of its own: it records that, puts in doubt the
// attempts that have no answer and, unless send is set, the parts that wait to be sent, since they may have been
// sent since the backup was made; and removes the marker. A start that goes on where another was cut short
// goes by what that one was told. It is called when Run runs, before anything else is appended or sent.
// Without a marker it does nothing.
func (s *Store) Restore(ctx context.Context, send bool) (RestoreResult, error) {
	s.restoreMu.Lock()
	defer s.restoreMu.Unlock()
	r := RestoreResult{Backup: s.backup, Send: send}
	if s.backup == "" {
		return r, nil
	}
	if err := s.restore(ctx, &r); err != nil {
		return r, fmt.Errorf("store: restore: %w", err)
	}
	s.backup = ""
	return r, nil
}

func (s *Store) restore(ctx context.Context, r *RestoreResult) error {
	now, err := s.Restored(ctx)
	switch {
	case err != nil:
		return err
	case now.Backup == r.Backup:
		r.Send = now.Send
	default:
		now = statemachine.Restored{Backup: r.Backup, Send: r.Send}
		if _, err := s.Append(ctx, &now); err != nil {
			return err
		}
	}
	if !now.Done {
		if err := s.doubtAll(ctx, r); err != nil {
			return err
		}
		if _, err := s.Append(ctx, &statemachine.Restored{Backup: r.Backup, Send: r.Send, Done: true}); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(s.cfg.Dir, markerFile)); err != nil {
		return err
	}
	return syncDir(s.cfg.Dir)
}

// doubtAll puts in doubt what may have been sent, or answered, since the backup was made.
func (s *Store) doubtAll(ctx context.Context, r *RestoreResult) error {
	unanswered, err := s.Unanswered(ctx, "")
	if err != nil {
		return err
	}
	for page := range slices.Chunk(unanswered, retentionPage) {
		var facts []statemachine.Fact
		for _, u := range page {
			facts = append(facts, doubt(u.Ref, u.SMSC, u.Session))
		}
		if _, err := s.Append(ctx, facts...); err != nil {
			return err
		}
		r.Unanswered += len(facts)
	}
	if r.Send {
		return nil
	}
	for _, t := range [...]table{tableQueue, tableDelayed} {
		if err := s.doubtQueued(ctx, t, r); err != nil {
			return err
		}
	}
	return nil
}

// doubtQueued puts in doubt the parts of one of the queue's tables, with the attempt that would be next.
func (s *Store) doubtQueued(ctx context.Context, t table, r *RestoreResult) error {
	w := walk{what: "restore", id: tableID{table: t}, limit: retentionPage}
	for {
		var facts []statemachine.Fact
		err := s.walk(ctx, w, func(tx *stateTx, key, value []byte) (bool, error) {
			w.after = slices.Clone(key)
			m, err := messageIn(tx, statemachine.ID(value))
			if m == nil || err != nil {
				return true, err
			}
			e, ok := queueEntry(t, m.SMSC, key, value)
			p := m.Part(e.Part)
			if !ok || p == nil {
				return false, errMalformed
			}
			facts = append(facts, doubt(statemachine.AttemptRef{Message: m.ID, Part: e.Part, Attempt: len(p.Attempts) + 1}, m.SMSC, ""))
			return true, nil
		})
		if len(facts) == 0 || err != nil {
			return err
		}
		if _, err := s.Append(ctx, facts...); err != nil {
			return err
		}
		r.Queued += len(facts)
	}
}

func doubt(ref statemachine.AttemptRef, smsc, session string) statemachine.Fact {
	return &statemachine.AttemptInDoubt{
		Message: ref.Message, Part: ref.Part, Attempt: ref.Attempt, SMSC: smsc, Session: session, Cause: "restored",
	}
}
