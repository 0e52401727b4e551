package store

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/receipt"
	"esmed/statemachine"
)

// Fields that are read alone: by lists, by QueueEnds, and by who sends a part.
const (
	messageSMSC        = 2
	messageAcceptedAt  = 14
	messageState       = 21
	messageValidUntil  = 19
	messageAcceptedSeq = 13
	messageParts       = 22
	partAttempts       = 5
)

// appendMessage encodes state.proto's Message.
func appendMessage(b []byte, m *statemachine.Message) []byte {
	b = putString(b, 1, string(m.ID))
	b = putString(b, messageSMSC, m.SMSC)
	b = putString(b, 3, m.Account)
	b = putString(b, 4, m.Owner)
	b = putString(b, 5, m.Ref)
	b = putString(b, 6, m.To)
	b = putString(b, 7, m.E164)
	b = putAddress(b, 8, m.Source)
	b = putAddress(b, 9, m.Dest)
	b = putUint(b, 10, uint64(m.RegisteredDelivery))
	b = putUint(b, 11, uint64(m.Priority))
	b = putString(b, 12, m.InDoubt)
	b = putUint(b, messageAcceptedSeq, m.AcceptedSeq)
	b = putTime(b, messageAcceptedAt, m.AcceptedAt)
	b = putTime(b, 15, m.SubmittedAt)
	b = putTime(b, 16, m.FinalisedAt)
	b = putTime(b, 17, m.UpdatedAt)
	b = putTime(b, 18, m.ScheduledAt)
	b = putTime(b, messageValidUntil, m.ValidUntil)
	b = putBool(b, 20, m.ValidityAsked)
	b = putUint(b, messageState, uint64(m.State))
	var at int
	for i := range m.Parts {
		b, at = openNested(b, messageParts)
		b = closeNested(appendPart(b, &m.Parts[i]), at)
	}
	if m.Counts != (statemachine.Counts{}) {
		b, at = openNested(b, 23)
		b = closeNested(appendCounts(b, &m.Counts), at)
	}
	b = putPos(b, 24, m.LastDecision)
	for _, id := range m.Exceptions {
		b = putString(b, 25, id)
	}
	return b
}

func appendCounts(b []byte, c *statemachine.Counts) []byte {
	for i, n := range [...]uint32{c.Receipts, c.Duplicate, c.Repeat, c.Late, c.Stale, c.Unordered, c.Noted, c.Conflict} {
		b = putUint(b, protowire.Number(i+1), uint64(n))
	}
	return b
}

func appendPart(b []byte, p *statemachine.Part) []byte {
	b = putUint(b, 1, uint64(p.Number))
	b = putUint(b, 2, uint64(p.State))
	b = putBool(b, 3, p.Asked)
	b = putBool(b, 4, p.Partial)
	var at int
	for i := range p.Attempts {
		b, at = openNested(b, partAttempts)
		b = closeNested(appendAttempt(b, &p.Attempts[i]), at)
	}
	b = putUint(b, 6, p.QueuedSeq)
	b = putTime(b, 7, p.NotBefore)
	if p.Reported != (statemachine.Reported{}) {
		b, at = openNested(b, 8)
		b = closeNested(appendReported(b, &p.Reported), at)
	}
	b = putUint(b, 9, p.CutoffSeq)
	b = putString(b, 10, string(p.Basis))
	b = putUint(b, 11, p.BasisSeq)
	for i := range p.Events {
		e := &p.Events[i]
		b, at = openNested(b, 12)
		b = putFingerprint(b, 1, e.Fingerprint)
		b = putUint(b, 2, e.Seq)
		b = putUint(b, 3, uint64(e.Count))
		b = closeNested(b, at)
	}
	b = putTime(b, 13, p.WindowEnd)
	if p.Ruling != (statemachine.Ruling{}) {
		b, at = openNested(b, 14)
		b = closeNested(appendRuling(b, &p.Ruling), at)
	}
	return b
}

func appendRuling(b []byte, r *statemachine.Ruling) []byte {
	b = putString(b, 1, string(r.Action))
	b = putString(b, 2, r.By)
	b = putString(b, 3, r.Reason)
	return putUint(b, 4, r.Seq)
}

func appendAttempt(b []byte, a *statemachine.Attempt) []byte {
	b = putUint(b, 1, uint64(a.Number))
	b = putTime(b, 2, a.At)
	b = putUint(b, 3, a.Seq)
	b = putString(b, 4, a.Session)
	b = putUint(b, 5, uint64(a.SequenceNumber))
	b = putTime(b, 6, a.ValidUntil)
	b = putUint(b, 7, uint64(a.Outcome))
	b = putUint(b, 8, uint64(a.CommandStatus))
	b = putString(b, 9, a.MessageID)
	b = putTime(b, 10, a.AnsweredAt)
	b = putUint(b, 11, a.AnswerSeq)
	b = putUint(b, 12, a.DoubtSeq)
	b = putString(b, 13, a.DoubtCause)
	b = putUint(b, 14, uint64(a.UserMessageReference))
	b = putString(b, 15, string(a.DoubtEnded))
	b = putUint(b, 16, a.DoubtEndSeq)
	return putBool(b, 17, a.Learnt)
}

func appendReported(b []byte, r *statemachine.Reported) []byte {
	b = putUint(b, 1, uint64(r.State))
	b = putBool(b, 2, r.Final)
	b = putUint(b, 3, uint64(r.Attempt))
	b = putString(b, 4, r.SMSC)
	b = putUint(b, 5, r.Seq)
	b = putTime(b, 6, r.At)
	b = putString(b, 7, r.RawStat)
	b = putUint(b, 8, uint64(r.MessageState))
	b = putString(b, 9, r.Err)
	b = putString(b, 10, r.DoneDateRaw)
	b = putDate(b, 11, r.DoneDate)
	return putString(b, 12, r.By)
}

func putFingerprint(b []byte, num protowire.Number, f receipt.Fingerprint) []byte {
	if f.IsZero() {
		return b
	}
	return putBytes(b, num, f[:])
}

func putPos(b []byte, num protowire.Number, p statemachine.DecisionPos) []byte {
	if p == (statemachine.DecisionPos{}) {
		return b
	}
	b, at := openNested(b, num)
	b = putUint(b, 1, p.Seq)
	b = putUint(b, 2, uint64(p.N))
	return closeNested(b, at)
}

// putDate keeps any wall clock that a receipt can tell, also those that nanoseconds cannot.
func putDate(b []byte, num protowire.Number, d receipt.Date) []byte {
	if d == (receipt.Date{}) {
		return b
	}
	b, at := openNested(b, num)
	b = putInt(b, 1, d.Wall.Unix())
	b = putUint(b, 2, uint64(d.Wall.Nanosecond()))
	b = putBool(b, 3, d.Zoned)
	return closeNested(b, at)
}

func decodeMessage(b []byte) (*statemachine.Message, error) {
	m := new(statemachine.Message)
	f := fields{rest: b}
	f.joinStrings()
	for f.next() {
		readMessageField(&f, m)
	}
	return m, f.err
}

func readMessageField(f *fields, m *statemachine.Message) {
	switch f.num {
	case 1:
		m.ID = statemachine.ID(f.str())
	case messageSMSC:
		m.SMSC = f.str()
	case 3:
		m.Account = f.str()
	case 4:
		m.Owner = f.str()
	case 5:
		m.Ref = f.str()
	case 6:
		m.To = f.str()
	case 7:
		m.E164 = f.str()
	case 8:
		f.nested(func(in *fields) { m.Source = readAddress(in) })
	case 9:
		f.nested(func(in *fields) { m.Dest = readAddress(in) })
	case 10:
		m.RegisteredDelivery = byte(f.u)
	case 11:
		m.Priority = byte(f.u)
	case 12:
		m.InDoubt = f.str()
	case messageAcceptedSeq:
		m.AcceptedSeq = f.u
	case messageAcceptedAt:
		m.AcceptedAt = f.time()
	case 15:
		m.SubmittedAt = f.time()
	case 16:
		m.FinalisedAt = f.time()
	case 17:
		m.UpdatedAt = f.time()
	case 18:
		m.ScheduledAt = f.time()
	case messageValidUntil:
		m.ValidUntil = f.time()
	case 20:
		m.ValidityAsked = f.bool()
	case messageState:
		m.State = statemachine.State(f.u)
	case messageParts:
		f.nested(func(in *fields) { m.Parts = append(m.Parts, readPart(in)) })
	case 23:
		f.nested(func(in *fields) { m.Counts = readCounts(in) })
	case 24:
		f.nested(func(in *fields) { m.LastDecision = readPos(in) })
	case 25:
		m.Exceptions = append(m.Exceptions, f.str())
	}
}

func readCounts(f *fields) (c statemachine.Counts) {
	to := [...]*uint32{&c.Receipts, &c.Duplicate, &c.Repeat, &c.Late, &c.Stale, &c.Unordered, &c.Noted, &c.Conflict}
	for f.next() {
		if i := int(f.num) - 1; i < len(to) {
			*to[i] = uint32(f.u)
		}
	}
	return c
}

func readPart(f *fields) (p statemachine.Part) {
	for f.next() {
		switch f.num {
		case 1:
			p.Number = int(f.u)
		case 2:
			p.State = statemachine.State(f.u)
		case 3:
			p.Asked = f.bool()
		case 4:
			p.Partial = f.bool()
		case partAttempts:
			f.nested(func(in *fields) { p.Attempts = append(p.Attempts, readAttempt(in)) })
		case 6:
			p.QueuedSeq = f.u
		case 7:
			p.NotBefore = f.time()
		case 8:
			f.nested(func(in *fields) { p.Reported = readReported(in) })
		case 9:
			p.CutoffSeq = f.u
		case 10:
			p.Basis = statemachine.Basis(f.str())
		case 11:
			p.BasisSeq = f.u
		case 12:
			f.nested(func(in *fields) { p.Events = append(p.Events, readEvent(in)) })
		case 13:
			p.WindowEnd = f.time()
		case 14:
			f.nested(func(in *fields) { p.Ruling = readRuling(in) })
		}
	}
	return p
}

func readRuling(f *fields) (r statemachine.Ruling) {
	for f.next() {
		switch f.num {
		case 1:
			r.Action = statemachine.Action(f.str())
		case 2:
			r.By = f.str()
		case 3:
			r.Reason = f.str()
		case 4:
			r.Seq = f.u
		}
	}
	return r
}

func readAttempt(f *fields) (a statemachine.Attempt) {
	for f.next() {
		switch f.num {
		case 1:
			a.Number = int(f.u)
		case 2:
			a.At = f.time()
		case 3:
			a.Seq = f.u
		case 4:
			a.Session = f.str()
		case 5:
			a.SequenceNumber = uint32(f.u)
		case 6:
			a.ValidUntil = f.time()
		case 7:
			a.Outcome = statemachine.Outcome(f.u)
		case 8:
			a.CommandStatus = uint32(f.u)
		case 9:
			a.MessageID = f.str()
		case 10:
			a.AnsweredAt = f.time()
		case 11:
			a.AnswerSeq = f.u
		case 12:
			a.DoubtSeq = f.u
		case 13:
			a.DoubtCause = f.str()
		case 14:
			a.UserMessageReference = uint16(f.u)
		case 15:
			a.DoubtEnded = statemachine.DoubtEnd(f.str())
		case 16:
			a.DoubtEndSeq = f.u
		case 17:
			a.Learnt = f.bool()
		}
	}
	return a
}

func readReported(f *fields) (r statemachine.Reported) {
	for f.next() {
		switch f.num {
		case 1:
			r.State = statemachine.State(f.u)
		case 2:
			r.Final = f.bool()
		case 3:
			r.Attempt = int(f.u)
		case 4:
			r.SMSC = f.str()
		case 5:
			r.Seq = f.u
		case 6:
			r.At = f.time()
		case 7:
			r.RawStat = f.str()
		case 8:
			r.MessageState = receipt.MessageState(f.u)
		case 9:
			r.Err = f.str()
		case 10:
			r.DoneDateRaw = f.str()
		case 11:
			f.nested(func(in *fields) { r.DoneDate = readDate(in) })
		case 12:
			r.By = f.str()
		}
	}
	return r
}

func readEvent(f *fields) (e statemachine.Event) {
	for f.next() {
		switch f.num {
		case 1:
			copy(e.Fingerprint[:], f.b)
		case 2:
			e.Seq = f.u
		case 3:
			e.Count = uint32(f.u)
		}
	}
	return e
}

func readPos(f *fields) (p statemachine.DecisionPos) {
	for f.next() {
		switch f.num {
		case 1:
			p.Seq = f.u
		case 2:
			p.N = int(f.u)
		}
	}
	return p
}

func readDate(f *fields) (d receipt.Date) {
	var seconds, nanoseconds int64
	for f.next() {
		switch f.num {
		case 1:
			seconds = f.int()
		case 2:
			nanoseconds = int64(f.u)
		case 3:
			d.Zoned = f.bool()
		}
	}
	d.Wall = time.Unix(seconds, nanoseconds).UTC()
	return d
}
