package store

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/receipt"
	"esmed/statemachine"
)

// readsAsFact reports whether a field is one that readFact gives a type of its own.
func readsAsFact(num protowire.Number) bool {
	_, other := readFact(num, &fields{}).(*statemachine.Other)
	return !other
}

// readFact reads the current field of f as the fact that its number names.
func readFact(num protowire.Number, f *fields) statemachine.Fact {
	in := fields{rest: f.b}
	var fact statemachine.Fact
	switch num {
	case factRules:
		fact = readRules(&in)
	case factAccepted:
		in.joinStrings()
		fact = readAccepted(&in)
	case factSent:
		fact = readSent(&in)
	case factSubmitResp:
		fact = readSubmitResp(&in)
	case factInDoubt:
		fact = readInDoubt(&in)
	case factExpired:
		fact = readExpired(&in)
	case factReception:
		fact = readReception(&in)
	case factCutoff:
		fact = readCutoff(&in)
	case factQueryResp:
		fact = readQueryResp(&in)
	case factCancelResp:
		fact = readCancelResp(&in)
	case factRetry:
		fact = readRetry(&in)
	case factOperator:
		fact = readOperator(&in)
	case factSession:
		fact = readSession(&in)
	case factRetention:
		fact = readRetention(&in)
	case factRestored:
		fact = readRestored(&in)
	default:
		return &statemachine.Other{Name: typeOf(num), Raw: f.bytes()}
	}
	if in.err != nil {
		f.err = in.err
	}
	return fact
}

func readRules(f *fields) *statemachine.Rules {
	r := new(statemachine.Rules)
	for f.next() {
		switch f.num {
		case 1:
			r.Parser = f.str()
		case 2:
			var s statemachine.SMSCRules
			if json.Unmarshal(f.b, &s) != nil {
				f.fail()
			}
			r.SMSCs = append(r.SMSCs, s)
		}
	}
	return r
}

func readAccepted(f *fields) *statemachine.MessageAccepted {
	a := new(statemachine.MessageAccepted)
	for f.next() {
		switch f.num {
		case 1:
			a.Message = statemachine.ID(f.str())
		case 2:
			a.SMSC = f.str()
		case 3:
			a.Account = f.str()
		case 4:
			a.Owner = f.str()
		case 5:
			a.Ref = f.str()
		case 6:
			a.IdempotencyKey = f.str()
		case 7:
			a.RequestHash = f.bytes()
		case 8:
			a.To = f.str()
		case 9:
			a.E164 = f.str()
		case 10:
			f.nested(func(in *fields) { a.Source = readAddress(in) })
		case 11:
			f.nested(func(in *fields) { a.Dest = readAddress(in) })
		case 12:
			a.RegisteredDelivery = byte(f.u)
		case 13:
			a.Priority = byte(f.u)
		case 14:
			a.ServiceType = f.str()
		case 15:
			a.ProtocolID = byte(f.u)
		case 16:
			a.ReplaceIfPresent = byte(f.u)
		case 17:
			a.ScheduleRaw = f.str()
		case 18:
			a.ScheduledAt = f.time()
		case 19:
			a.ValidUntil = f.time()
		case 20:
			a.ValidityAsked = f.bool()
		case 21:
			a.InDoubt = f.str()
		case 22:
			f.nested(func(in *fields) { a.TLVs = append(a.TLVs, readTLV(in)) })
		case 23:
			a.CallbackURL = f.str()
		case 24:
			f.nested(func(in *fields) { a.Parts = append(a.Parts, readPartContent(in)) })
		}
	}
	return a
}

func readPartContent(f *fields) (p statemachine.PartContent) {
	for f.next() {
		switch f.num {
		case 1:
			p.ESMClass = byte(f.u)
		case 2:
			p.DataCoding = byte(f.u)
		case 3:
			p.ShortMessage = f.bytes()
		case 4:
			p.NoReceipt = f.bool()
		case 5:
			f.nested(func(in *fields) { p.TLVs = append(p.TLVs, readTLV(in)) })
		case 6:
			p.Payload = f.bool()
		}
	}
	return p
}

func readSent(f *fields) *statemachine.Sent {
	s := new(statemachine.Sent)
	for f.next() {
		switch f.num {
		case 1:
			s.Message = statemachine.ID(f.str())
		case 2:
			s.Part = int(f.u)
		case 3:
			s.Attempt = int(f.u)
		case 4:
			s.SMSC = f.str()
		case 5:
			s.Session = f.str()
		case 6:
			s.SequenceNumber = uint32(f.u)
		case 7:
			s.ValidUntil = f.time()
		case 8:
			s.PDU = f.bytes()
		case 9:
			s.UserMessageReference = uint16(f.u)
		}
	}
	return s
}

func readSubmitResp(f *fields) *statemachine.SubmitResp {
	r := new(statemachine.SubmitResp)
	for f.next() {
		switch f.num {
		case 1:
			r.Message = statemachine.ID(f.str())
		case 2:
			r.Part = int(f.u)
		case 3:
			r.Attempt = int(f.u)
		case 4:
			r.SMSC = f.str()
		case 5:
			r.Session = f.str()
		case 6:
			r.SequenceNumber = uint32(f.u)
		case 7:
			r.PDU = f.bytes()
		case 8:
			r.CommandStatus = uint32(f.u)
		case 9:
			r.MessageID = f.str()
		case 10:
			r.Temporary = f.bool()
		case 11:
			r.RetryAt = f.time()
		}
	}
	return r
}

func readInDoubt(f *fields) *statemachine.AttemptInDoubt {
	d := new(statemachine.AttemptInDoubt)
	for f.next() {
		switch f.num {
		case 1:
			d.Message = statemachine.ID(f.str())
		case 2:
			d.Part = int(f.u)
		case 3:
			d.Attempt = int(f.u)
		case 4:
			d.SMSC = f.str()
		case 5:
			d.Session = f.str()
		case 6:
			d.Cause = f.str()
		case 7:
			d.NotWritten = f.bool()
		case 8:
			d.RetryAt = f.time()
		}
	}
	return d
}

func readExpired(f *fields) *statemachine.QueueExpired {
	e := new(statemachine.QueueExpired)
	for f.next() {
		if f.num == 1 {
			e.Message = statemachine.ID(f.str())
		}
	}
	return e
}

func readReception(f *fields) *statemachine.Reception {
	r := new(statemachine.Reception)
	for f.next() {
		switch f.num {
		case 1:
			r.SMSC = f.str()
		case 2:
			r.Account = f.str()
		case 3:
			r.Session = f.str()
		case 4:
			r.PDU = f.bytes()
		case 5:
			r.Length = uint32(f.u)
		}
	}
	return r
}

func readCutoff(f *fields) *statemachine.Cutoff {
	c := new(statemachine.Cutoff)
	for f.next() {
		switch f.num {
		case 1:
			c.Message = statemachine.ID(f.str())
		case 2:
			c.Part = int(f.u)
		}
	}
	return c
}

func readQueryResp(f *fields) *statemachine.QueryResp {
	r := new(statemachine.QueryResp)
	for f.next() {
		switch f.num {
		case 1:
			r.Message = statemachine.ID(f.str())
		case 2:
			r.Part = int(f.u)
		case 3:
			r.Attempt = int(f.u)
		case 4:
			r.SMSC = f.str()
		case 5:
			r.Account = f.str()
		case 6:
			r.Session = f.str()
		case 7:
			r.PDU = f.bytes()
		case 8:
			r.CommandStatus = uint32(f.u)
		case 9:
			r.MessageID = f.str()
		case 10:
			r.MessageState = byte(f.u)
		case 11:
			r.FinalDateRaw = f.str()
		case 12:
			r.ErrorCode = byte(f.u)
		}
	}
	return r
}

func readCancelResp(f *fields) *statemachine.CancelResp {
	r := new(statemachine.CancelResp)
	for f.next() {
		switch f.num {
		case 1:
			r.Message = statemachine.ID(f.str())
		case 2:
			r.Part = int(f.u)
		case 3:
			r.Attempt = int(f.u)
		case 4:
			r.SMSC = f.str()
		case 5:
			r.Session = f.str()
		case 6:
			r.PDU = f.bytes()
		case 7:
			r.CommandStatus = uint32(f.u)
		}
	}
	return r
}

func readRetry(f *fields) *statemachine.Retry {
	r := new(statemachine.Retry)
	for f.next() {
		if f.num == 1 {
			r.Row = statemachine.InboxKey(f.str())
		}
	}
	return r
}

func readSession(f *fields) *statemachine.SessionEvent {
	e := new(statemachine.SessionEvent)
	for f.next() {
		switch f.num {
		case 1:
			e.SMSC = f.str()
		case 2:
			e.Session = f.str()
		case 3:
			e.Event = f.str()
		case 4:
			e.CommandStatus = uint32(f.u)
		case 5:
			e.Detail = f.str()
		case 6:
			e.PDU = f.bytes()
		}
	}
	return e
}

func readAddress(f *fields) (a receipt.Address) {
	for f.next() {
		switch f.num {
		case 1:
			a.Addr = f.str()
		case 2:
			a.TON = byte(f.u)
		case 3:
			a.NPI = byte(f.u)
		}
	}
	return a
}

func readTLV(f *fields) (t receipt.TLV) {
	for f.next() {
		switch f.num {
		case 1:
			t.Tag = uint16(f.u)
		case 2:
			t.Value = f.bytes()
		}
	}
	return t
}
