package store

import (
	"bytes"
	"slices"

	"esmed/statemachine"
)

func (b *batch) takeInbox(c *statemachine.InboxChange) error {
	old, err := b.InboxRow(c.Key)
	if err != nil {
		return err
	}
	id, key := tableID{table: tableInbox}, bounded([]byte(c.Key))
	if old != nil {
		b.unlinkRow(old, c.Row)
	}
	b.moveRow(old, c.Row)
	b.ageRow(tableID{table: tableInboxByAge}, sizeInbox, old, c.Row)
	b.ageRow(tableID{table: tableInboxWaiting}, sizeWaiting, waiting(old), waiting(c.Row))
	if c.Row == nil {
		b.over.delete(id, key)
		return nil
	}
	b.over.put(id, key, appendRow(nil, c.Row))
	b.linkRow(old, c.Row)
	return nil
}

// moveRow keeps a row found by its first reception. Either may be nil.
func (b *batch) moveRow(old, row *statemachine.InboxRow) {
	was, is := firstReception(old), firstReception(row)
	if bytes.Equal(was, is) {
		return
	}
	id := tableID{table: tableInboxBySeq}
	if was != nil && string(b.get(id, was)) == string(old.Key) { // else another row has it by now
		b.over.delete(id, was)
	}
	if is != nil {
		b.over.put(id, is, []byte(row.Key))
	}
}

// ageRow keeps a row found by its age in a table, and counted. Either may be nil. The age of a row changes where
// an older reception comes to it.
func (b *batch) ageRow(table tableID, size byte, old, row *statemachine.InboxRow) {
	if old != nil && row != nil && bytes.Equal(inboxAgeKey(old), inboxAgeKey(row)) {
		return
	}
	if old != nil {
		b.over.delete(table, inboxAgeKey(old))
		b.sizes[sizeOf{size, old.SMSC}]--
	}
	if row != nil {
		b.over.put(table, inboxAgeKey(row), []byte(row.Key))
		b.sizes[sizeOf{size, row.SMSC}]++
	}
}

// waiting is the row if it waits, which one that a person dismissed does not; else nil.
func waiting(row *statemachine.InboxRow) *statemachine.InboxRow {
	if row == nil || row.Dismissed != "" {
		return nil
	}
	return row
}

// firstReception is a row's key in inbox_by_seq; nil when there is none.
func firstReception(row *statemachine.InboxRow) []byte {
	if row == nil || len(row.Receptions) == 0 {
		return nil
	}
	return seqKey(row.Receptions[0])
}

// linkRow makes a row found by what old, the same row before, was not found by.
func (b *batch) linkRow(old, row *statemachine.InboxRow) {
	if old == nil {
		old = &statemachine.InboxRow{}
	}
	for _, key := range row.Keys {
		if !slices.Contains(old.Keys, key) {
			b.listRow(tableInboxByKey, row, string(key), false)
		}
	}
	for _, dest := range row.WaitsFor {
		if !slices.Contains(old.WaitsFor, dest) {
			b.listRow(tableInboxByDest, row, dest, false)
		}
	}
}

// unlinkRow takes away what old is found by and row, which takes its place or is nil, is not.
func (b *batch) unlinkRow(old, row *statemachine.InboxRow) {
	if row == nil {
		row = &statemachine.InboxRow{}
	}
	for _, key := range old.Keys {
		if !slices.Contains(row.Keys, key) {
			b.listRow(tableInboxByKey, old, string(key), true)
		}
	}
	for _, dest := range old.WaitsFor {
		if !slices.Contains(row.WaitsFor, dest) {
			b.listRow(tableInboxByDest, old, dest, true)
		}
	}
}

// listRow adds a row to the list of those that are found by something of its account, or takes it away.
func (b *batch) listRow(t table, row *statemachine.InboxRow, by string, remove bool) {
	b.key = appendPairKey(b.key[:0], row.Account, by)
	b.element = append(b.element[:0], row.Key...)
	b.changeList(tableID{table: t}, remove)
}
