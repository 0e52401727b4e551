package statemachine

import (
	"encoding/binary"
	"slices"

	"esmed/receipt"
)

// inboxKey names the row that evidence without an owner belongs to. A word for no id is none.
func (e *evidence) inboxKey() InboxKey {
	r := &e.receipt
	if len(e.keys()) == 0 {
		return InboxKey("f" + string(e.event[:]))
	}
	b := []byte{'i'}
	for _, field := range [...]string{e.account, r.TLVID, r.TextID, r.RawStat, string(r.MessageStateRaw), r.DoneDateRaw} {
		b = binary.AppendUvarint(b, uint64(len(field)))
		b = append(b, field...)
	}
	return InboxKey(b)
}

// newRow is the row of a reception, still without it.
func (e *evidence) newRow(key InboxKey) *InboxRow {
	r := &e.receipt
	return &InboxRow{
		Key: key, SMSC: e.smsc, Account: e.account, TLVID: r.TLVID, TextID: r.TextID,
		RawStat: r.RawStat, State: r.State, Source: r.Source, Dest: r.Dest, ReportedAt: e.reported, ReceivedAt: e.at,
	}
}

// keys are the forms of the ids that the evidence is to be found under.
func (e *evidence) keys() []receipt.Key {
	var keys []receipt.Key
	for _, tlv := range [...]bool{true, false} {
		var room [2]receipt.IDForm
		for _, form := range e.rules.Receipt.AppendReceiptKeys(room[:0], e.id(tlv), tlv) {
			if !slices.Contains(keys, form.Key) {
				keys = append(keys, form.Key)
			}
		}
	}
	return keys
}

// id is receipted_message_id or the text's id; "" when there is none.
func (e *evidence) id(tlv bool) string {
	if tlv {
		return e.receipt.TLVID
	}
	return e.receipt.TextID
}

// namedBy says by which of its ids the evidence names one of the keys; "" when by none.
func (e *evidence) namedBy(keys []receipt.Key) (by, id string) {
	for _, by := range [...]string{ByTLVID, ByTextID} {
		tlv := by == ByTLVID
		id := e.id(tlv)
		for _, form := range e.rules.Receipt.ReceiptKeys(id, tlv) {
			if slices.Contains(keys, form.Key) {
				return by, id
			}
		}
	}
	return "", ""
}

// hold puts a reception that was not matched into the inbox.
func (s *step) hold(e *evidence, f *finding) error {
	key := e.inboxKey()
	old, err := s.inboxRow(key)
	if err != nil {
		return err
	}
	row := e.newRow(key)
	why := Unmatched
	if old != nil {
		*row = *old
		why = old.Why
	}
	row.receive(e.seq)
	row.refresh(e, f)
	s.putRow(key, row)
	return s.explain(e, f, row, why, e.seq)
}

// receive adds a reception in the order of the log.
func (row *InboxRow) receive(seq uint64) {
	if i, found := slices.BinarySearch(row.Receptions, seq); !found {
		row.Receptions = slices.Insert(slices.Clip(row.Receptions), i, seq)
	}
}

// waitFor adds a destination whose unanswered submit one of the receptions waits for; "" is none.
func (row *InboxRow) waitFor(dest string) {
	if dest != "" && !slices.Contains(row.WaitsFor, dest) {
		row.WaitsFor = append(slices.Clip(row.WaitsFor), dest)
	}
}

// refresh puts in why the row is held as things stand.
func (row *InboxRow) refresh(e *evidence, f *finding) {
	if row.Why != f.correlation {
		row.Dismissed = "" // it was dismissed for something else
	}
	row.Why = f.correlation
	row.waitFor(f.waitsFor)
	keys := slices.Clip(row.Keys)
	for _, key := range e.keys() {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	row.Keys = keys
}

// explain brings the exception of a held row up to date. was is why it was held before; the receptions
// are those that are held for what it is held for now. A row that a person dismissed stays so while it is held
// for the same.
func (s *step) explain(e *evidence, f *finding, row *InboxRow, was Correlation, receptions ...uint64) error {
	if was != f.correlation {
		if err := s.endRowException(row.Key, was, string(f.correlation)); err != nil {
			return err
		}
	}
	kind, ok := rowException(f.correlation)
	if !ok || row.Dismissed != "" {
		return nil
	}
	for _, seq := range receptions {
		if err := s.raise(matter{
			kind: kind, group: string(row.Key), smsc: e.smsc, account: e.account, record: seq,
			candidates: f.candidates, reason: f.why,
		}); err != nil {
			return err
		}
	}
	return nil
}

// endRowException ends what was open about a row: what it was held for, or that a person wanted it open though
// nobody owned it.
func (s *step) endRowException(key InboxKey, why Correlation, action string) error {
	kind, ok := rowException(why)
	if !ok {
		kind = KindUnmatched
	}
	return s.resolve(kind, string(key), action, s.by)
}

// rowException is the kind of exception that a row opens beside waiting.
func rowException(why Correlation) (ExceptionKind, bool) {
	switch why {
	case Ambiguous:
		return KindAmbiguous, true
	case AddressMismatch:
		return KindAddressMismatch, true
	}
	return "", false
}
