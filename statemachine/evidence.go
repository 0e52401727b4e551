package statemachine

import (
	"fmt"
	"time"

	"esmed/receipt"
)

// evidence is what one record says about a submitted message, read under the rules in force.
type evidence struct {
	seq     uint64    // the reception, or the query_resp
	at      time.Time // our clock
	smsc    string
	account string
	rules   *SMSCRules
	receipt receipt.Receipt

	event        receipt.Fingerprint // zero: an answer to our own query, which is no logical event
	basis        Basis
	intermediate bool         // an intermediate notification, which never finalises
	state        State        // NoState when none was named, or no rule maps the word
	final        bool         // state is final under the rules
	differ       bool         // TLV and text name different states, one of them final, and no rule says which to believe
	reported     receipt.Date // when the SMSC says it happened
}

// states are ours for SMPP's.
var states = [...]State{
	receipt.NoState: NoState, receipt.Scheduled: Scheduled, receipt.Enroute: Enroute, receipt.Delivered: Delivered,
	receipt.Expired: Expired, receipt.Deleted: Deleted, receipt.Undeliverable: Undeliverable,
	receipt.Accepted: Accepted, receipt.Unknown: Unknown, receipt.Rejected: Rejected, receipt.Skipped: Skipped,
}

// read fills e with what a reception says. Its PDU, or what of it was kept, is all it looks at.
func (s *step) read(e *evidence, seq uint64, at time.Time, r *Reception) {
	d := s.fold.Decode(r.PDU)
	if int64(r.Length) > int64(len(r.PDU)) {
		d.Broken = true
	}
	rules := s.smsc(r.SMSC)
	e.seq, e.at, e.smsc, e.account, e.rules, e.basis = seq, at, r.SMSC, r.Account, rules, BasisReceipt
	e.receipt = receipt.Decode(d, &rules.Receipt)
	e.event = e.receipt.Fingerprint(r.Account, d)
	e.intermediate = e.receipt.Kind == receipt.Intermediate
	e.reported = e.receipt.DoneDate
	e.believe()
}

// readAgain reads a reception, or an answer to our query, of the log once more.
func (s *step) readAgain(seq uint64) (evidence, error) {
	rec, err := s.view.Record(seq)
	if err != nil {
		return evidence{}, err
	}
	switch r := rec.Fact.(type) {
	case *Reception:
		var e evidence
		s.read(&e, rec.Seq, rec.At, r)
		return e, nil
	case *QueryResp:
		return s.readQuery(rec.Seq, rec.At, r), nil
	}
	return evidence{}, fmt.Errorf("statemachine: record %d is a %s, not a reception", seq, rec.Fact.Type())
}

// readQuery takes the answer to a query_sm apart (SMPP v3.4 §4.8.2). message_state 0 says nothing: some
// SMSCs answer so for ids they never saw.
func (s *step) readQuery(seq uint64, at time.Time, q *QueryResp) evidence {
	e := evidence{
		seq: seq, at: at, smsc: q.SMSC, account: q.Account, rules: s.smsc(q.SMSC), basis: BasisQuery,
		reported: absoluteTime(q.FinalDateRaw),
	}
	e.receipt.DoneDateRaw, e.receipt.DoneDate = q.FinalDateRaw, e.reported
	if q.MessageState != 0 {
		e.receipt.TLVState, _ = receipt.FromWire(q.MessageState)
	}
	if q.ErrorCode != 0 {
		e.receipt.Err = fmt.Sprintf("%03d", q.ErrorCode)
	}
	e.believe()
	return e
}

// believe settles which state the evidence names.
func (e *evidence) believe() {
	r, rules := &e.receipt, &e.rules.Receipt
	named := r.TLVState
	if named == receipt.NoState || rules.Believe == receipt.BelieveText && r.TextState != receipt.NoState {
		named = r.TextState
	}
	e.state, e.final = states[named], named.Final(rules)
	if rules.Believe == receipt.BelieveTLV || rules.Believe == receipt.BelieveText {
		return
	}
	both := r.TLVState != receipt.NoState && r.TextState != receipt.NoState
	e.differ = both && r.TLVState != r.TextState && (r.TLVState.Final(rules) || r.TextState.Final(rules))
}

// unmapped is the state word that no rule maps; "" when there is no word.
func (e *evidence) unmapped() string {
	if e.state != NoState {
		return ""
	}
	return e.receipt.RawStat
}

// report is what a part keeps of the evidence that its state rests on.
func (e *evidence) report(by string, attempt int) Reported {
	r := &e.receipt
	return Reported{
		State: e.state, Final: e.final, Attempt: attempt, SMSC: e.smsc, Seq: e.seq, At: e.at,
		RawStat: r.RawStat, MessageState: r.TLVState, Err: r.Err,
		DoneDateRaw: r.DoneDateRaw, DoneDate: e.reported, By: by,
	}
}

// absoluteTime reads SMPP's absolute time YYMMDDhhmmsstnnp (SMPP v3.4 §7.1.1), which names its distance
// from UTC in quarters of an hour; zero when it is anything else.
func absoluteTime(raw string) receipt.Date {
	const layout = "060102150405"
	if len(raw) != 16 {
		return receipt.Date{}
	}
	wall, err := time.Parse(layout, raw[:12])
	if err != nil || !digits(raw[12:15]) {
		return receipt.Date{}
	}
	offset := time.Duration(int(raw[13]-'0')*10+int(raw[14]-'0')) * 15 * time.Minute
	switch raw[15] {
	case '+':
		offset = -offset
	case '-':
	default:
		return receipt.Date{}
	}
	return receipt.Date{Wall: wall.Add(offset), Zoned: true}
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// order is how two reported times stand to each other.
type order uint8

const (
	unordered order = iota // one is missing, or only one of them has a zone
	older
	equal
	newer
)

// compare says how a stands to b. Times without zone are ordered only among themselves.
func compare(a, b receipt.Date) order {
	if a.IsZero() || b.IsZero() || a.Zoned != b.Zoned {
		return unordered
	}
	switch {
	case a.Wall.Before(b.Wall):
		return older
	case a.Wall.After(b.Wall):
		return newer
	}
	return equal
}
