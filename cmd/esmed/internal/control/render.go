package control

import (
	"time"

	"esmed/receipt"
	"esmed/statemachine"
)

// renderer makes wire values of statemachine's.
type renderer struct {
	statusName func(uint32) string
	reception  ReadReception
}

func (r renderer) message(m *statemachine.Message) Message {
	w := Message{
		ID: string(m.ID), Ref: m.Ref, SMSC: m.SMSC, Account: m.Account, To: m.To,
		Source:             address(m.Source),
		Destination:        Destination{Address: address(m.Dest), E164: m.E164},
		State:              m.State.String(),
		Final:              m.Final(),
		Closed:             m.Closed(),
		Basis:              string(m.Basis()),
		Reason:             m.Reason(r.statusName),
		Evidence:           m.EvidenceSeqs(),
		RegisteredDelivery: int(m.RegisteredDelivery),
		MaybeDoubled:       m.MaybeDoubled(),
		AcceptedAt:         m.AcceptedAt.UTC(),
		SubmittedAt:        instant(m.SubmittedAt),
		FinalisedAt:        instant(m.FinalisedAt),
		UpdatedAt:          m.UpdatedAt.UTC(),
		Receptions:         receptions(m.Counts),
		Exceptions:         append([]string{}, m.Exceptions...),
		Parts:              make([]Part, len(m.Parts)),
	}
	for i := range m.Parts {
		w.Parts[i] = r.part(&m.Parts[i])
	}
	if a := m.Acceptance(); a != nil {
		w.Acceptance = r.acceptance(a)
	}
	if reported := m.Report(); reported != nil {
		w.Receipt = messageReceipt(reported)
	}
	return w
}

// acceptance says how the SMSC accepted an attempt. Where only a person says that it did, there is no status.
func (r renderer) acceptance(a *statemachine.Attempt) *Acceptance {
	w := &Acceptance{MessageID: a.MessageID, At: a.AnsweredAt.UTC(), Record: a.DoubtEndSeq}
	if a.AnswerSeq != 0 {
		w.CommandStatus, w.Record = r.statusName(a.CommandStatus), a.AnswerSeq
	}
	return w
}

func messageReceipt(r *statemachine.Reported) *MessageReceipt {
	return &MessageReceipt{
		RawStat: r.RawStat, MessageState: wireState(r.MessageState), Err: r.Err,
		DoneDateRaw: r.DoneDateRaw, DoneDate: r.DoneDate.String(), At: r.At.UTC(), Record: r.Seq,
	}
}

func (r renderer) part(p *statemachine.Part) Part {
	w := Part{Part: p.Number, State: p.State.String(), RetryAt: instant(p.NotBefore), Attempts: make([]Attempt, len(p.Attempts))}
	for i := range p.Attempts {
		a := &p.Attempts[i]
		w.Attempts[i] = Attempt{
			Attempt: a.Number, At: a.At.UTC(), Session: a.Session,
			SequenceNumber: a.SequenceNumber, MessageID: a.MessageID,
		}
		if a.Answered() && a.AnswerSeq != 0 {
			w.Attempts[i].CommandStatus = r.statusName(a.CommandStatus)
		}
	}
	return w
}

func receptions(c statemachine.Counts) Receptions {
	return Receptions{
		Receipts: int(c.Receipts), Duplicate: int(c.Duplicate), Repeat: int(c.Repeat), Late: int(c.Late),
		Stale: int(c.Stale), Unordered: int(c.Unordered), Noted: int(c.Noted), Conflict: int(c.Conflict),
	}
}

func inboxRow(e InboxEntry) InboxRow {
	row := e.Row
	return InboxRow{
		ID: inboxID(row), SMSC: row.SMSC, Account: row.Account,
		TLVID: orNull(row.TLVID), TextID: orNull(row.TextID), RawStat: row.RawStat, State: row.State.String(),
		SourceAddr: row.Source.Addr, DestAddr: row.Dest.Addr,
		ReportedAt: row.ReportedAt.String(), ReceivedAt: row.ReceivedAt.UTC(),
		Attempts: e.Attempts, NextTryAt: instant(e.NextTryAt),
		Why: string(row.Why), WaitsFor: row.WaitsFor, Dismissed: row.Dismissed,
		Receptions: append([]uint64{}, row.Receptions...),
	}
}

func exception(x *statemachine.Exception) Exception {
	w := Exception{
		ID: x.ID, Kind: string(x.Kind), Status: x.Status, SMSC: x.SMSC, Account: x.Account,
		Message: string(x.Message), Part: x.Part, Records: append([]uint64{}, x.Records...),
		Candidates: make([]Candidate, len(x.Candidates)), Count: x.Count,
		FirstAt: x.FirstAt.UTC(), LastAt: x.LastAt.UTC(), Reason: x.Reason,
	}
	for i, c := range x.Candidates {
		w.Candidates[i] = Candidate{Message: string(c.Message), Part: c.Part, Attempt: c.Attempt}
	}
	if res := x.Resolution; res != nil {
		w.Resolution = &Resolution{Action: res.Action, By: res.By, At: res.At.UTC(), Reason: res.Reason, Record: res.Seq}
	}
	return w
}

func address(a receipt.Address) Address {
	return Address{Addr: a.Addr, TON: int(a.TON), NPI: int(a.NPI)}
}

// wireState is the octet of message_state; null for none.
func wireState(s receipt.MessageState) *int {
	if s == receipt.NoState {
		return nil
	}
	octet := int(s) - 1
	return &octet
}

// instant is null for a time that never was.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// orNull is null for a text that was not there.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
