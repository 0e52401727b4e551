package store

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/receipt"
	"esmed/statemachine"
)

// appendFact appends the fact's field of record.proto's Record and seals its texts there. It reports
// whether there is an encoding for it.
func (e *encoder) appendFact(b []byte, fact statemachine.Fact, spans []Span) ([]byte, bool) {
	var at int
	switch f := fact.(type) {
	case *statemachine.Rules:
		b, at = openNested(b, factRules)
		b = appendRules(b, f)
	case *statemachine.MessageAccepted:
		b, at = openNested(b, factAccepted)
		b = e.appendAccepted(b, f)
	case *statemachine.Sent:
		b, at = openNested(b, factSent)
		b = e.appendSent(b, f, spans)
	case *statemachine.SubmitResp:
		b, at = openNested(b, factSubmitResp)
		b = e.appendSubmitResp(b, f, spans)
	case *statemachine.AttemptInDoubt:
		b, at = openNested(b, factInDoubt)
		b = appendInDoubt(b, f)
	case *statemachine.QueueExpired:
		b, at = openNested(b, factExpired)
		b = putString(b, 1, string(f.Message))
	case *statemachine.Reception:
		b, at = openNested(b, factReception)
		b = e.appendReception(b, f, spans)
	case *statemachine.Cutoff:
		b, at = openNested(b, factCutoff)
		b = putString(b, 1, string(f.Message))
		b = putUint(b, 2, uint64(f.Part))
	case *statemachine.QueryResp:
		b, at = openNested(b, factQueryResp)
		b = e.appendQueryResp(b, f, spans)
	case *statemachine.CancelResp:
		b, at = openNested(b, factCancelResp)
		b = e.appendCancelResp(b, f, spans)
	case *statemachine.Retry:
		b, at = openNested(b, factRetry)
		b = putString(b, 1, string(f.Row))
	case *statemachine.Operator:
		b, at = openNested(b, factOperator)
		b = appendOperator(b, f)
	case *statemachine.SessionEvent:
		b, at = openNested(b, factSession)
		b = e.appendSession(b, f, spans)
	case *statemachine.Retention:
		b, at = openNested(b, factRetention)
		b = appendRetention(b, f)
	case *statemachine.Restored:
		b, at = openNested(b, factRestored)
		b = appendRestored(b, f)
	case *statemachine.Other:
		num, ok := numberOf(f.Name)
		if !ok || readsAsFact(num) {
			return b, false
		}
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), f.Raw), true
	default:
		return b, false
	}
	return closeNested(b, at), true
}

func appendRules(b []byte, f *statemachine.Rules) []byte {
	b = putString(b, 1, f.Parser)
	for i := range f.SMSCs {
		// Strings, numbers and maps with string keys: encoding/json sorts those and cannot fail.
		data, _ := json.Marshal(&f.SMSCs[i])
		b = putBytes(b, 2, data)
	}
	return b
}

func (e *encoder) appendAccepted(b []byte, f *statemachine.MessageAccepted) []byte {
	b = putString(b, 1, string(f.Message))
	b = putString(b, 2, f.SMSC)
	b = putString(b, 3, f.Account)
	b = putString(b, 4, f.Owner)
	b = putString(b, 5, f.Ref)
	b = putString(b, 6, f.IdempotencyKey)
	b = putBytes(b, 7, f.RequestHash)
	e.seal.last(b, len(f.RequestHash))
	b = putString(b, 8, f.To)
	b = putString(b, 9, f.E164)
	b = putAddress(b, 10, f.Source)
	b = putAddress(b, 11, f.Dest)
	b = putUint(b, 12, uint64(f.RegisteredDelivery))
	b = putUint(b, 13, uint64(f.Priority))
	b = putString(b, 14, f.ServiceType)
	b = putUint(b, 15, uint64(f.ProtocolID))
	b = putUint(b, 16, uint64(f.ReplaceIfPresent))
	b = putString(b, 17, f.ScheduleRaw)
	b = putTime(b, 18, f.ScheduledAt)
	b = putTime(b, 19, f.ValidUntil)
	b = putBool(b, 20, f.ValidityAsked)
	b = putString(b, 21, f.InDoubt)
	b = e.appendTLVs(b, 22, f.TLVs)
	b = putString(b, 23, f.CallbackURL)
	for i := range f.Parts {
		var at int
		b, at = openNested(b, 24)
		b = closeNested(e.appendPartContent(b, &f.Parts[i]), at)
	}
	return b
}

func (e *encoder) appendPartContent(b []byte, p *statemachine.PartContent) []byte {
	b = putUint(b, 1, uint64(p.ESMClass))
	b = putUint(b, 2, uint64(p.DataCoding))
	b = putBytes(b, 3, p.ShortMessage)
	e.seal.last(b, len(p.ShortMessage))
	b = putBool(b, 4, p.NoReceipt)
	b = e.appendTLVs(b, 5, p.TLVs)
	return putBool(b, 6, p.Payload)
}

func (e *encoder) appendTLVs(b []byte, num protowire.Number, tlvs []receipt.TLV) []byte {
	for _, t := range tlvs {
		var at int
		b, at = openNested(b, num)
		b = putUint(b, 1, uint64(t.Tag))
		b = putBytes(b, 2, t.Value)
		if t.Tag == receipt.TagMessagePayload {
			e.seal.last(b, len(t.Value))
		}
		b = closeNested(b, at)
	}
	return b
}

func (e *encoder) appendSent(b []byte, f *statemachine.Sent, spans []Span) []byte {
	b = putString(b, 1, string(f.Message))
	b = putUint(b, 2, uint64(f.Part))
	b = putUint(b, 3, uint64(f.Attempt))
	b = putString(b, 4, f.SMSC)
	b = putString(b, 5, f.Session)
	b = putUint(b, 6, uint64(f.SequenceNumber))
	b = putTime(b, 7, f.ValidUntil)
	b = putBytes(b, 8, f.PDU)
	e.seal.spans(b[len(b)-len(f.PDU):], spans)
	return putUint(b, 9, uint64(f.UserMessageReference))
}

func (e *encoder) appendSubmitResp(b []byte, f *statemachine.SubmitResp, spans []Span) []byte {
	b = putString(b, 1, string(f.Message))
	b = putUint(b, 2, uint64(f.Part))
	b = putUint(b, 3, uint64(f.Attempt))
	b = putString(b, 4, f.SMSC)
	b = putString(b, 5, f.Session)
	b = putUint(b, 6, uint64(f.SequenceNumber))
	b = putBytes(b, 7, f.PDU)
	e.seal.spans(b[len(b)-len(f.PDU):], spans)
	b = putUint(b, 8, uint64(f.CommandStatus))
	b = putString(b, 9, f.MessageID)
	b = putBool(b, 10, f.Temporary)
	return putTime(b, 11, f.RetryAt)
}

func appendInDoubt(b []byte, f *statemachine.AttemptInDoubt) []byte {
	b = putString(b, 1, string(f.Message))
	b = putUint(b, 2, uint64(f.Part))
	b = putUint(b, 3, uint64(f.Attempt))
	b = putString(b, 4, f.SMSC)
	b = putString(b, 5, f.Session)
	b = putString(b, 6, f.Cause)
	b = putBool(b, 7, f.NotWritten)
	return putTime(b, 8, f.RetryAt)
}

func (e *encoder) appendReception(b []byte, f *statemachine.Reception, spans []Span) []byte {
	b = putString(b, 1, f.SMSC)
	b = putString(b, 2, f.Account)
	b = putString(b, 3, f.Session)
	b = putBytes(b, 4, f.PDU)
	e.seal.spans(b[len(b)-len(f.PDU):], spans)
	return putUint(b, 5, uint64(f.Length))
}

func (e *encoder) appendQueryResp(b []byte, f *statemachine.QueryResp, spans []Span) []byte {
	b = putString(b, 1, string(f.Message))
	b = putUint(b, 2, uint64(f.Part))
	b = putUint(b, 3, uint64(f.Attempt))
	b = putString(b, 4, f.SMSC)
	b = putString(b, 5, f.Account)
	b = putString(b, 6, f.Session)
	b = putBytes(b, 7, f.PDU)
	e.seal.spans(b[len(b)-len(f.PDU):], spans)
	b = putUint(b, 8, uint64(f.CommandStatus))
	b = putString(b, 9, f.MessageID)
	b = putUint(b, 10, uint64(f.MessageState))
	b = putString(b, 11, f.FinalDateRaw)
	return putUint(b, 12, uint64(f.ErrorCode))
}

func (e *encoder) appendCancelResp(b []byte, f *statemachine.CancelResp, spans []Span) []byte {
	b = putString(b, 1, string(f.Message))
	b = putUint(b, 2, uint64(f.Part))
	b = putUint(b, 3, uint64(f.Attempt))
	b = putString(b, 4, f.SMSC)
	b = putString(b, 5, f.Session)
	b = putBytes(b, 6, f.PDU)
	e.seal.spans(b[len(b)-len(f.PDU):], spans)
	return putUint(b, 7, uint64(f.CommandStatus))
}

func (e *encoder) appendSession(b []byte, f *statemachine.SessionEvent, spans []Span) []byte {
	b = putString(b, 1, f.SMSC)
	b = putString(b, 2, f.Session)
	b = putString(b, 3, f.Event)
	b = putUint(b, 4, uint64(f.CommandStatus))
	b = putString(b, 5, f.Detail)
	b = putBytes(b, 6, f.PDU)
	e.seal.spans(b[len(b)-len(f.PDU):], spans)
	return b
}

func putAddress(b []byte, num protowire.Number, a receipt.Address) []byte {
	if a == (receipt.Address{}) {
		return b
	}
	b, at := openNested(b, num)
	b = putString(b, 1, a.Addr)
	b = putUint(b, 2, uint64(a.TON))
	b = putUint(b, 3, uint64(a.NPI))
	return closeNested(b, at)
}
