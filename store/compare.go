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
	dir, err := os.MkdirTemp("", "esmed-verify-")
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
	c := comparison{v: v, db: db, taken: newTaken(v.s.cfg.Parser), scratch: newApplier(db, "scratch", new(filters), v.s.fold(), v.s.viewRecord)}
	if err := c.begin(); err != nil {
		return err
	}
	for range catchUps {
		if err := c.fold(ctx, v.s.applied.Load()); err != nil {
			return err
		}
	}
	tables, err := c.tables()
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
	db      *bbolt.DB
	scratch *applier
	gone    int // receptions whose text is
	taken   *taken
	whole   map[uint32]bool // what wholeFilter found
}

// begin takes note of the parser that decided the first records.
func (c *comparison) begin() error {
	m, err := stateMetaOf(c.db)
	if err != nil {
		return err
	}
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

// fold brings the scratch projection up to a record.
func (c *comparison) fold(ctx context.Context, to uint64) error {
	for c.scratch.cursor < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 0
		err := c.scratch.run(func(seq uint64) ([]statemachine.Record, error) {
			if seq > to || n >= applyBatch {
				return nil, nil
			}
			var records []statemachine.Record
			err := c.v.s.entries(seq, func(e entry) (bool, error) {
				if e.Seq > to {
					return false, nil
				}
				if e.receptionWithoutText() {
					c.v.result.TakenStored++
					c.gone++
				}
				c.taken.see(&e.Record)
				records = append(records, e.Record)
				return len(records) < applyStep, nil
			})
			n += len(records)
			return records, err
		}, nil)
		if err != nil {
			return err
		}
		c.v.progress(VerifyProgress{"fold", c.scratch.cursor, to})
	}
	return nil
}

// tables are all that either side has. Partitions that come later are not looked at.
func (c *comparison) tables() (ids []tableID, err error) {
	err = c.both(func(stored, anew *stateTx) error {
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
func (c *comparison) both(fn func(stored, anew *stateTx) error) error {
	if !c.v.s.readOnly() {
		c.v.s.applyMu.Lock()
		defer c.v.s.applyMu.Unlock()
		if err := c.fold(context.Background(), c.v.s.applied.Load()); err != nil {
			return err
		}
	}
	return c.v.s.view(func(stored *stateTx) error {
		return guard("scratch", func() error {
			return c.db.View(func(tx *bbolt.Tx) error { return fn(stored, newStateTx(tx, nil)) })
		})
	})
}

// table compares one table, a few rows at a time.
func (c *comparison) table(ctx context.Context, id tableID) error {
	var after []byte
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := c.both(func(stored, anew *stateTx) error {
			if gone, err := anew.freeing(); err != nil || gone[id] { // dropped meanwhile
				done = true
				return err
			}
			a, err := someRows(stored, id, after)
			if err != nil {
				return err
			}
			b, err := someRows(anew, id, after)
			if err != nil {
				return err
			}
			var limit []byte // where both were read up to
			if len(a) == compareRows {
				limit = a[len(a)-1].key
			}
			if len(b) == compareRows && (limit == nil || bytes.Compare(b[len(b)-1].key, limit) < 0) {
				limit = b[len(b)-1].key
			}
			after, done = limit, limit == nil
			return c.rows(id, side{stored, upTo(a, limit)}, side{anew, upTo(b, limit)})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type row struct{ key, value []byte }

func someRows(tx *stateTx, id tableID, after []byte) (rows []row, err error) {
	err = tx.scan(id, nil, after, false, func(key, value []byte) error {
		rows = append(rows, row{slices.Clone(key), slices.Clone(value)})
		if len(rows) == compareRows {
			return errStop
		}
		return nil
	})
	return rows, err
}

// upTo are the rows whose keys are not behind limit; nil = no limit.
func upTo(rows []row, limit []byte) []row {
	for limit != nil && len(rows) > 0 && bytes.Compare(rows[len(rows)-1].key, limit) > 0 {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// side is one projection's part of a comparison.
type side struct {
	tx   *stateTx
	rows []row
}

// take gives the first row.
func (s *side) take() *row {
	r := &s.rows[0]
	s.rows = s.rows[1:]
	return r
}

// rows compares the same range of both.
func (c *comparison) rows(id tableID, stored, anew side) error {
	for len(stored.rows) > 0 || len(anew.rows) > 0 {
		order := 0
		switch {
		case len(stored.rows) == 0:
			order = 1
		case len(anew.rows) == 0:
			order = -1
		default:
			order = bytes.Compare(stored.rows[0].key, anew.rows[0].key)
		}
		var err error
		switch {
		case order < 0:
			err = c.differ(&differing{id, "does not follow from the log", stored.take(), nil, stored.tx, anew.tx})
		case order > 0:
			err = c.differ(&differing{id, "is missing", nil, anew.take(), stored.tx, anew.tx})
		default:
			if have, want := stored.take(), anew.take(); !bytes.Equal(have.value, want.value) {
				err = c.differ(&differing{id, "is not what the log says", have, want, stored.tx, anew.tx})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
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
