package control

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"esmed/statemachine"
)

func (r renderer) event(e LogEntry) Event {
	w := Event{
		Seq: e.Record.Seq, At: e.Record.At.UTC(), Type: string(e.Record.Fact.Type()),
		Decisions: make([]Decision, len(e.Decisions)),
	}
	for i := range e.Decisions {
		d := &e.Decisions[i]
		w.Decisions[i] = decision(d)
		if d.PossibleRepeatOf != 0 {
			w.PossibleRepeatOf = d.PossibleRepeatOf
		}
	}
	r.fact(&w, e.Record)
	return w
}

// fact fills in what the record's type has.
func (r renderer) fact(w *Event, rec statemachine.Record) {
	switch f := rec.Fact.(type) {
	case *statemachine.Rules:
		w.Detail = rulesDetail(f)
	case *statemachine.MessageAccepted:
		w.SMSC, w.Message, w.Detail = f.SMSC, string(f.Message), acceptedDetail(f)
	case *statemachine.Sent:
		w.SMSC, w.Session = f.SMSC, f.Session
		w.attempt(f.Message, f.Part, f.Attempt)
		w.pdu(f.PDU, f.SequenceNumber)
	case *statemachine.SubmitResp:
		w.SMSC, w.Session, w.Detail = f.SMSC, f.Session, r.statusName(f.CommandStatus)
		w.attempt(f.Message, f.Part, f.Attempt)
		w.pdu(f.PDU, f.SequenceNumber)
	case *statemachine.AttemptInDoubt:
		w.SMSC, w.Session, w.Detail = f.SMSC, f.Session, f.Cause
		if f.NotWritten {
			w.Detail = "not written: the attempt did not leave"
		}
		w.attempt(f.Message, f.Part, f.Attempt)
	case *statemachine.QueueExpired:
		w.Message = string(f.Message)
	case *statemachine.Reception:
		r.received(w, f)
	case *statemachine.Cutoff:
		w.attempt(f.Message, f.Part, 0)
	case *statemachine.QueryResp:
		w.SMSC, w.Session, w.Detail = f.SMSC, f.Session, r.statusName(f.CommandStatus)
		w.attempt(f.Message, f.Part, f.Attempt)
		w.pdu(f.PDU, sequenceNumber(f.PDU))
	case *statemachine.CancelResp:
		w.SMSC, w.Session, w.Detail = f.SMSC, f.Session, r.statusName(f.CommandStatus)
		w.attempt(f.Message, f.Part, f.Attempt)
		w.pdu(f.PDU, sequenceNumber(f.PDU))
	case *statemachine.Operator:
		w.Operator, w.SMSC = decided(f), f.SMSC
		if m := f.Target.Message; m != "" {
			w.Message, w.Part = string(m), f.Target.Part
		}
		if f.Action == statemachine.ActionCancel && len(f.Messages) == 1 {
			w.Message = string(f.Messages[0])
		}
	case *statemachine.Retention:
		w.Detail = retentionDetail(f)
	case *statemachine.Restored:
		w.Detail = restoredDetail(f)
	case *statemachine.SessionEvent:
		w.SMSC, w.Session, w.Detail = f.SMSC, f.Session, r.sessionDetail(f)
		w.PDU = hex.EncodeToString(f.PDU)
	}
}

// acceptedDetail says in how many submits a message goes, where that is not one with a short_message.
func acceptedDetail(f *statemachine.MessageAccepted) string {
	switch {
	case len(f.Parts) > 1:
		return fmt.Sprintf("in %d parts", len(f.Parts))
	case len(f.Parts) == 1 && f.Parts[0].Payload:
		return "in message_payload"
	}
	return ""
}

// received reads the PDU under the rules that the decisions about it were made under.
func (r renderer) received(w *Event, f *statemachine.Reception) {
	w.SMSC, w.Session = f.SMSC, f.Session
	w.pdu(f.PDU, sequenceNumber(f.PDU))
	if int(f.Length) > len(f.PDU) {
		w.Detail = fmt.Sprintf("over max_pdu: the first %d of %d octets", len(f.PDU), f.Length)
	}
	var rules uint64
	if len(w.Decisions) > 0 {
		rules = w.Decisions[0].Rules
	}
	if rc := r.reception(rules, f); rc != nil {
		view := rc.View()
		w.Receipt = &view
	}
}

func (r renderer) sessionDetail(f *statemachine.SessionEvent) string {
	parts := []string{f.Event}
	if f.CommandStatus != 0 {
		parts = append(parts, r.statusName(f.CommandStatus))
	}
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	return strings.Join(parts, ": ")
}

func decided(f *statemachine.Operator) *Decided {
	d := &Decided{
		Action: string(f.Action), By: f.By, Reason: f.Reason, Exception: f.Exception,
		Target: string(f.Target.Message), MessageID: f.MessageID,
	}
	if f.Target.Part != 0 {
		d.Target += "/" + strconv.Itoa(f.Target.Part)
	}
	if r := f.Reprocess; r != nil {
		d.Rows, d.Messages = len(r.Rows), len(r.Messages)
	}
	if f.Action == statemachine.ActionDrop {
		d.Messages = len(f.Messages)
	}
	return d
}

// retentionDetail says what a retention record closes or drops; it does one of these.
func retentionDetail(f *statemachine.Retention) string {
	switch {
	case len(f.Close) > 0:
		return fmt.Sprintf("closes %d messages that were still open", len(f.Close))
	case f.Messages != "":
		return fmt.Sprintf("drops messages whose id is less than %s", f.Messages)
	case len(f.Inbox) > 0:
		return fmt.Sprintf("drops %d receipts that waited in the inbox", len(f.Inbox))
	case len(f.Exceptions) > 0:
		return fmt.Sprintf("drops %d exceptions", len(f.Exceptions))
	}
	return fmt.Sprintf("drops records before %d", f.Log)
}

func restoredDetail(f *statemachine.Restored) string {
	switch {
	case f.Done:
		return "the backup " + f.Backup + " is taken up: what may have been sent since is in doubt"
	case f.Send:
		return "begins anew from the backup " + f.Backup + "; what was queued is sent"
	}
	return "begins anew from the backup " + f.Backup + "; what was queued may have been sent since"
}

func rulesDetail(f *statemachine.Rules) string {
	names := make([]string, len(f.SMSCs))
	for i := range f.SMSCs {
		names[i] = f.SMSCs[i].SMSC
	}
	return fmt.Sprintf("parser %s; rules of %s", f.Parser, strings.Join(names, ", "))
}

func (w *Event) attempt(m statemachine.ID, part, attempt int) {
	w.Message, w.Part, w.Attempt = string(m), part, attempt
}

func (w *Event) pdu(octets []byte, sequence uint32) {
	w.PDU, w.SequenceNumber = hex.EncodeToString(octets), &sequence
}

// headerLength is that of a PDU's header (SMPP v3.4 §3.2), whose last four octets are the sequence
// number.
const headerLength = 16

// sequenceNumber is 0 in a PDU too short to have one.
func sequenceNumber(pdu []byte) uint32 {
	if len(pdu) < headerLength {
		return 0
	}
	return binary.BigEndian.Uint32(pdu[headerLength-4:])
}

func decision(d *statemachine.Decision) Decision {
	w := Decision{
		N: d.Pos.N, Record: d.Record, Message: string(d.Message), Part: d.Part, Attempt: d.Attempt,
		Correlation: string(d.Correlation), By: d.By, ExternalID: d.ExternalID,
		Rule: append([]string{}, d.Rule...), Candidates: d.Candidates, NarrowedBy: d.NarrowedBy,
		Verdict: string(d.Verdict), Why: d.Why, From: d.From.String(), To: d.To.String(),
		LogicalEvent: d.LogicalEvent.String(), Rules: d.Rules, Parser: d.Parser,
	}
	if d.RepeatOf != 0 {
		w.RepeatOf = &d.RepeatOf
	}
	return w
}
