package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"esmed/statemachine"
)

// taken is what Verify takes as stored: decisions that come out otherwise today because an older parser made
// them, or because their text is gone, and what follows from them. Decisions are compared first, in the
// order of the log: one that differs is taken if it is such a one, or is about or a repeat of a message or a
// record that one before it was about. Rows of other tables that differ are taken if all that they tell is about those.
type taken struct {
	parser   string   // today's
	parsers  []parsed // by seq
	messages map[statemachine.ID]bool
	records  map[uint64]bool
	tallies  map[string][]statemachine.ID // the messages, by the counters that they are in
}

// parsed is a rules record and the parser that read from then on.
type parsed struct {
	seq    uint64
	parser string
}

func newTaken(parser string) *taken {
	return &taken{
		parser: parser, messages: make(map[statemachine.ID]bool), records: make(map[uint64]bool),
		tallies: make(map[string][]statemachine.ID),
	}
}

// see takes note of the parsers.
func (t *taken) see(rec *statemachine.Record) {
	if rules, ok := rec.Fact.(*statemachine.Rules); ok {
		t.parsers = append(t.parsers, parsed{rec.Seq, rules.Parser})
	}
}

// older reports whether another parser than today's decided a record.
func (t *taken) older(seq uint64) bool {
	i, found := slices.BinarySearchFunc(t.parsers, seq, func(p parsed, seq uint64) int { return cmp.Compare(p.seq, seq) })
	if !found {
		i--
	}
	return i >= 0 && t.parsers[i].parser != t.parser
}

// any reports whether a decision was taken as stored.
func (t *taken) any() bool { return len(t.records) > 0 }

// differing are two rows of a key that are not equal; nil = there is none on that side.
type differing struct {
	id               tableID
	what             string
	stored, anew     *row
	storedIn, anewIn *stateTx
}

// each hands out the rows that there are, with the projection that each is in, until fn says that it is enough.
func (d *differing) each(fn func(tx *stateTx, r *row) bool) bool {
	return d.stored != nil && fn(d.storedIn, d.stored) || d.anew != nil && fn(d.anewIn, d.anew)
}

// covers reports whether a difference is to be taken as stored.
func (t *taken) covers(d *differing) bool {
	switch d.id.table {
	case tableSizes, tableOverdue, tablePartitions:
		return t.any() // counts such rows too
	case tableTallies:
		return t.any() && t.tally(d)
	case tableIDs, tableUnanswered:
		return t.lists(d, func(element string) bool {
			refs, err := readRefs(putString(nil, 1, element))
			return err == nil && len(refs) == 1 && t.messages[refs[0].Message]
		})
	case tableInboxByKey, tableInboxByDest:
		return t.lists(d, func(element string) bool { return t.row(d, []byte(element)) })
	}
	return d.each(func(tx *stateTx, r *row) bool {
		switch d.id.table {
		case tableMessages:
			return t.messages[statemachine.ID(r.key)]
		case tableStates:
			return t.messages[statemachine.ID(r.key[min(1, len(r.key)):])]
		case tableQueue, tableDelayed:
			return t.messages[statemachine.ID(r.value)]
		case tableWindows:
			due, err := readWindowKey(r.key)
			return err == nil && t.messages[due.Message]
		case tableInbox:
			return t.row(d, r.key)
		case tableInboxByAge, tableInboxBySeq, tableInboxWaiting:
			return t.row(d, bounded(slices.Clone(r.value)))
		case tableInbound:
			return t.seq(r.value)
		case tableInboundByAge:
			return t.seq(r.key[min(8, len(r.key)):])
		case tableExceptions, tableOpen:
			return t.exception(d, r.key)
		case tableOpenByGroup:
			return t.exception(d, r.value)
		}
		return false
	})
}

func (t *taken) seq(b []byte) bool { return len(b) >= 8 && t.records[binary.BigEndian.Uint64(b)] }

// lists reports whether all elements that only one side has are taken; when there are none, so that the sides have
// the same in another order, whether one is that may have come earlier or later for it.
func (t *taken) lists(d *differing, taken func(element string) bool) bool {
	var sides [2][]string
	for i, r := range []*row{d.stored, d.anew} {
		if r == nil {
			continue
		}
		var err error
		if sides[i], err = readList(r.value); err != nil {
			return false
		}
	}
	covered := false
	for i, side := range sides {
		for _, element := range side {
			if slices.Contains(sides[1-i], element) {
				continue
			}
			if covered = taken(element); !covered {
				return false
			}
		}
	}
	return covered || slices.ContainsFunc(sides[0], taken)
}

// row reports whether an inbox row holds a record that is taken, on either side.
func (t *taken) row(d *differing, key []byte) bool {
	return slices.ContainsFunc([]*stateTx{d.storedIn, d.anewIn}, func(tx *stateTx) bool {
		held, err := decodeRow(tx.get(tableID{table: tableInbox}, bounded(slices.Clone(key))))
		return err == nil && slices.ContainsFunc(held.Receptions, func(seq uint64) bool { return t.records[seq] })
	})
}

// exception reports whether an exception is about something that is taken, on either side. One that counts
// more records than it names may be.
func (t *taken) exception(d *differing, key []byte) bool {
	if t.seq(key) {
		return true
	}
	return slices.ContainsFunc([]*stateTx{d.storedIn, d.anewIn}, func(tx *stateTx) bool {
		value := tx.get(tableID{table: tableExceptions}, key)
		if value == nil {
			return false
		}
		x, err := decodeException(value)
		return err == nil && (t.messages[x.Message] || t.any() && x.Count > uint64(len(x.Records)) ||
			slices.ContainsFunc(x.Records, func(seq uint64) bool { return t.records[seq] }))
	})
}

// tally reports whether counters differ by just what the messages that are taken count for.
func (t *taken) tally(d *differing) bool {
	var want, got statemachine.Tally
	d.each(func(tx *stateTx, r *row) bool {
		tally, err := readTally(r.value)
		if tx == d.anewIn {
			tally = statemachine.Tally{}.Sub(tally)
		}
		got = got.Add(tally)
		return err != nil
	})
	key := d.key()
	for _, id := range t.tallies[string(key)] {
		stored, err := messageIn(d.storedIn, id)
		anew, other := messageIn(d.anewIn, id)
		if errors.Join(err, other) != nil || stored == nil || anew == nil {
			return false
		}
		want = want.Add(stored.Tally().Sub(anew.Tally()))
	}
	return got == want
}

func (d *differing) key() []byte {
	if d.stored != nil {
		return d.stored.key
	}
	return d.anew.key
}

// decision takes a decision that differs as stored, if it may. textGone says of a record whether its text is.
func (t *taken) decision(d *differing, textGone func(seq uint64) bool) bool {
	var about []statemachine.Decision
	may := false
	d.each(func(tx *stateTx, r *row) bool {
		decided, err := decodeDecision(r.key, r.value)
		if err == nil {
			about = append(about, decided)
			may = may || tx == d.anewIn && decided.Parser != t.parser // base.db's: its rules were not seen
		}
		return false
	})
	may = may || slices.ContainsFunc(about, func(x statemachine.Decision) bool {
		return t.older(x.Pos.Seq) || t.messages[x.Message] || textGone(x.Record) ||
			t.records[x.Record] || t.records[x.RepeatOf] || t.records[x.PossibleRepeatOf]
	})
	if !may {
		return false
	}
	for _, x := range about {
		t.records[x.Record] = true
		if x.Message == "" || t.messages[x.Message] {
			continue
		}
		t.messages[x.Message] = true
		if m, err := messageIn(d.storedIn, x.Message); err == nil && m != nil {
			key := string(tallyKey(m.Hour(), m.SMSC))
			t.tallies[key] = append(t.tallies[key], m.ID)
		}
	}
	return true
}
