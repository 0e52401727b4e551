package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// compareRows is how many rows are compared while the applier stands still.
const compareRows = 512

// projection folds the log into a scratch state.db and compares.
func (v *verifier) projection(ctx context.Context) (err error) {
	if v.s.readOnly() && v.s.state != nil {
		if err := checkPages(v.s.state.Path(), stateFile, true); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(v.scratchDir, "esmed-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var meta stateMeta
	if err := v.s.view(func(tx *stateTx) (err error) {
		meta, err = readStateMeta(tx)
		return err
	}); err != nil {
		return err
	}
	db, err := v.s.beginFold(filepath.Join(dir, stateFile), meta.partition, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	c := comparison{v: v, taken: newTaken(v.s.cfg.Parser), scratch: newApplier(db, "scratch", new(filters), v.s.fold(), v.s.viewRecord)}
	if err := c.begin(); err != nil {
		return err
	}
	for range catchUps {
		if err := c.fold(ctx, v.s.applied.Load()); err != nil {
			return err
		}
	}
	tables, err := c.tables(ctx)
	if err != nil {
		return err
	}
	for i, id := range tables {
		v.progress(VerifyProgress{"compare", uint64(i), uint64(len(tables))})
		if err := c.table(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// comparison holds the projection made anew beside the stored one.
type comparison struct {
	v       *verifier
	scratch *applier
	gone    int // receptions whose text is
	taken   *taken
	whole   map[uint32]bool // what wholeFilter found
}

// begin takes note of where the fold begins, and of the parser that decided the first records.
func (c *comparison) begin() error {
	m, err := stateMetaOf(c.scratch.db)
	if err != nil {
		return err
	}
	c.scratch.cursor = m.cursor
	rules, err := readRulesRecord(m.rules, c.v.s.viewRecord)
	if rules.rules != nil {
		c.taken.see(&statemachine.Record{Seq: rules.seq, Fact: rules.rules})
	}
	return err
}

// catchUps is how often the fold goes on behind what came while it folded: each time that is much less.
const catchUps = 3

// wholeFilter reports whether a stored filter has the keys of all rows that are stored.
func (c *comparison) wholeFilter(tx *stateTx, part uint32) (bool, error) {
	if whole, ok := c.whole[part]; ok {
		return whole, nil
	}
	whole, err := hasAllKeys(tx, &partition{number: part})
	if c.whole == nil {
		c.whole = make(map[uint32]bool)
	}
	c.whole[part] = whole
	return whole, err
}

// tables are all that either side has. Partitions that come later are not looked at.
func (c *comparison) tables(ctx context.Context) (ids []tableID, err error) {
	err = c.both(ctx, func(stored, anew *stateTx) error {
		if ids, err = tablesIn(stored); err != nil {
			return err
		}
		others, err := tablesIn(anew)
		for _, id := range others {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return err
	})
	// What differs there says which rows of the others may.
	slices.SortStableFunc(ids, func(a, b tableID) int {
		return cmp.Compare(notFirst(a), notFirst(b))
	})
	return ids, err
}

// notFirst is 0 for what is compared first.
func notFirst(id tableID) int {
	if id.table == tableDecisions {
		return 0
	}
	return 1
}

// tablesIn are the tables that a projection has: not what it has dropped and is to give back.
func tablesIn(tx *stateTx) (ids []tableID, err error) {
	freeing, err := tx.freeing()
	if err != nil {
		return nil, err
	}
	for t := range table(len(tableNames)) {
		id := tableID{table: t}
		if t < plainTables && t != tableFreeing {
			ids = append(ids, id)
		}
		if t <= plainTables {
			continue
		}
		parts, err := tx.partsOf(t)
		if err != nil {
			return nil, err
		}
		for _, id := range parts {
			if !freeing[id] {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// both reads the two projections as they follow from the same record.
func (c *comparison) both(ctx context.Context, fn func(stored, anew *stateTx) error) error {
	if !c.v.s.readOnly() {
		if err := c.fold(ctx, c.v.s.applied.Load()); err != nil {
			return err
		}
		c.v.s.applyMu.Lock()
		defer c.v.s.applyMu.Unlock()
		if err := c.fold(ctx, c.v.s.applied.Load()); err != nil {
			return err // what came meanwhile is little
		}
	}
	return c.v.s.view(func(stored *stateTx) error {
		return guard("scratch", func() error {
			return c.scratch.db.View(func(tx *bbolt.Tx) error { return fn(stored, newStateTx(tx)) })
		})
	})
}

// table compares one table, a few rows at a time.
func (c *comparison) table(ctx context.Context, id tableID) error {
	var after []byte
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := c.both(ctx, func(stored, anew *stateTx) error {
			if gone, err := anew.freeing(); err != nil || gone[id] { // dropped meanwhile
				more = false
				return err
			}
			last, err := c.rows(id, newSide(stored, id, after), newSide(anew, id, after))
			after, more = slices.Clone(last), last != nil
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type row struct{ key, value []byte }

// side is one projection's part of a comparison. Its rows stay where they are until the transaction ends.
type side struct {
	tx   *stateTx
	walk *rowWalk
	row  row // the next one; nil key: there is none
}

// newSide walks what a projection has of a table behind a key; nil = from the beginning.
func newSide(tx *stateTx, id tableID, after []byte) *side {
	s := &side{tx: tx, walk: tx.rows(id, nil, after, false)}
	s.take()
	return s
}

// take gives the next row.
func (s *side) take() *row {
	r := s.row
	s.row.key, s.row.value = s.walk.next()
	return &r
}

// rows compares up to compareRows rows. It gives the key of the last one, or nil when there are no more.
func (c *comparison) rows(id tableID, stored, anew *side) (last []byte, err error) {
	for range compareRows {
		have, want := stored.row, anew.row
		order := 0
		switch {
		case have.key == nil && want.key == nil:
			return nil, nil
		case have.key == nil:
			order = 1
		case want.key == nil:
			order = -1
		default:
			order = bytes.Compare(have.key, want.key)
		}
		switch {
		case order < 0:
			last, err = have.key, c.differ(&differing{id, "does not follow from the log", stored.take(), nil, stored.tx, anew.tx})
		case order > 0:
			last, err = want.key, c.differ(&differing{id, "is missing", nil, anew.take(), stored.tx, anew.tx})
		default:
			last = have.key
			if have, want := stored.take(), anew.take(); !bytes.Equal(have.value, want.value) {
				err = c.differ(&differing{id, "is not what the log says", have, want, stored.tx, anew.tx})
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// differ says what is wrong with a row, unless it is taken as stored.
func (c *comparison) differ(d *differing) error {
	if d.id.table == tableDecisions && c.taken.decision(d, c.textGone) {
		c.count(d)
		return nil
	}
	if c.taken.covers(d) {
		return nil
	}
	r, tx := d.stored, d.storedIn
	if r == nil {
		r, tx = d.anew, d.anewIn
	}
	seqs := causes(d.id, *r, tx)
	if c.v.result.TakenStored > 0 {
		if d.id.table == tableSizes || d.id.table == tableOverdue {
			return nil // counts such rows too
		}
		if d.id.table == tableFilters { // keys of such rows are among its own
			whole, err := c.wholeFilter(tx, d.id.part)
			if whole || err != nil {
				return err
			}
		}
		if slices.ContainsFunc(seqs, c.textGone) {
			return nil
		}
	}
	var seq uint64
	if len(seqs) > 0 {
		seq = seqs[0]
	}
	// The key is not told: it may be a number.
	return &DamagedError{File: stateFile, Seq: seq, Err: fmt.Errorf("a row of %s %s", tableNames[d.id.table], d.what)}
}

// count counts a decision that is taken as stored, unless its reception was counted as one without text.
func (c *comparison) count(d *differing) {
	if d.stored == nil {
		return
	}
	decided, err := decodeDecision(d.stored.key, d.stored.value)
	if err == nil && (c.taken.older(decided.Pos.Seq) || !c.textGone(decided.Record)) {
		c.v.result.TakenStored++
	}
}

// textGone reports whether a record's text is.
func (c *comparison) textGone(seq uint64) bool {
	if c.gone == 0 {
		return false
	}
	e, err := c.v.s.entry(seq)
	return err == nil && e.textGone
}
