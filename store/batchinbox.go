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
	b.countRow(old, c.Row)
	if c.Row == nil {
		b.over.put(id, key, nil)
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
		b.over.put(id, was, nil)
	}
	if is != nil {
		b.over.put(id, is, []byte(row.Key))
	}
}

// countRow counts rows that wait, which those that a person dismissed do not. Either may be nil.
func (b *batch) countRow(old, row *statemachine.InboxRow) {
	id, was, is := tableID{table: tableInboxWaiting}, waits(old), waits(row)
	switch {
	case was && !is:
		b.over.put(id, inboxAgeKey(old), nil)
		b.sizes[sizeKey(sizeWaiting, old.SMSC)]--
	case is && !was:
		b.over.put(id, inboxAgeKey(row), []byte(row.Key))
		b.sizes[sizeKey(sizeWaiting, row.SMSC)]++
	}
}

func waits(row *statemachine.InboxRow) bool { return row != nil && row.Dismissed == "" }

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
		b.over.put(tableID{table: tableInboxByAge}, inboxAgeKey(row), []byte(row.Key))
		b.sizes[sizeKey(sizeInbox, row.SMSC)]++
	}
	for _, key := range row.Keys {
		if !slices.Contains(old.Keys, key) {
			b.changeList(tableID{table: tableInboxByKey}, idKey(row.Account, key), string(row.Key), false)
		}
	}
	if row.WaitsFor != "" && row.WaitsFor != old.WaitsFor {
		b.changeList(tableID{table: tableInboxByDest}, pairKey(row.Account, row.WaitsFor), string(row.Key), false)
	}
}

// unlinkRow takes away what old is found by and row, which takes its place or is nil, is not.
func (b *batch) unlinkRow(old, row *statemachine.InboxRow) {
	if row == nil {
		row = &statemachine.InboxRow{}
		b.over.put(tableID{table: tableInboxByAge}, inboxAgeKey(old), nil)
		b.sizes[sizeKey(sizeInbox, old.SMSC)]--
	}
	for _, key := range old.Keys {
		if !slices.Contains(row.Keys, key) {
			b.changeList(tableID{table: tableInboxByKey}, idKey(old.Account, key), string(old.Key), true)
		}
	}
	if old.WaitsFor != "" && old.WaitsFor != row.WaitsFor {
		b.changeList(tableID{table: tableInboxByDest}, pairKey(old.Account, old.WaitsFor), string(old.Key), true)
	}
}
