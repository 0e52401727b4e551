package statemachine

import (
	"encoding/hex"

	"esmed/receipt"
)

// reception judges a PDU that the SMSC sent us.
func (s *step) reception(r *Reception) error {
	s.by = r.SMSC
	e := &s.own
	s.read(e, s.rec.Seq, s.rec.At, r)
	s.eff.Reading = &e.receipt
	if !e.receipt.IsEvidence() {
		return s.setAside(e)
	}
	f, err := s.correlate(e)
	if err != nil {
		return err
	}
	if f.correlation == Matched {
		return s.apply(e, &f)
	}
	s.decideHeld(e, &f)
	return s.hold(e, &f)
}

// setAside takes a reception that is no evidence: undecodable, or something else than a receipt.
func (s *step) setAside(e *evidence) error {
	if e.receipt.Kind == receipt.Undecodable {
		return s.undecodable(e)
	}
	d := Decision{Record: e.seq, Correlation: NotAReceipt}
	if e.seq == s.rec.Seq {
		fingerprint := e.event
		seq, at, err := s.view.Inbound(e.account, fingerprint)
		if err != nil {
			return err
		}
		if seq != 0 && e.at.Sub(at) <= InboundWindow {
			d.PossibleRepeatOf = seq
		}
		s.eff.Inbound = append(s.eff.Inbound, InboundChange{e.account, fingerprint, e.seq, e.at})
	}
	s.decide(nil, d)
	return nil
}

// undecodable raises a body that nobody can read. The same octets again are one matter.
func (s *step) undecodable(e *evidence) error {
	group := e.account + "/" + hex.EncodeToString(e.event[:])
	x, err := s.openException(KindUndecodable, group)
	if err != nil {
		return err
	}
	verdict, _ := judge(e, nil)
	d := Decision{Record: e.seq, Correlation: Undecodable, Verdict: verdict, LogicalEvent: e.event}
	if x != nil && len(x.Records) > 0 {
		d.RepeatOf = x.Records[0]
	}
	s.decide(nil, d)
	return s.raise(matter{
		kind: KindUndecodable, group: group, smsc: e.smsc, account: e.account, record: e.seq,
		reason: "its body cannot be read as a receipt or a message",
	})
}

// queryResp judges the SMSC's answer to our query_sm (SMPP v3.4 §4.8.2), which is evidence like a receipt.
func (s *step) queryResp(q *QueryResp) error {
	s.by = q.SMSC
	m, p, err := s.find(q.Message, q.Part)
	if err != nil || p == nil {
		return err
	}
	a := p.attempt(q.Attempt)
	switch {
	case a == nil:
		return s.noEffect("the attempt that was asked about was never sent")
	case q.CommandStatus != 0:
		s.concluded(m, p, q.Attempt, p.State, "the SMSC refused to answer the query")
		return nil
	}
	e := s.readQuery(s.rec.Seq, s.rec.At, q)
	ref := AttemptRef{m.ID, q.Part, q.Attempt}
	f := finding{
		correlation: Matched, count: 1,
		candidate: candidate{m: m, refs: []AttemptRef{ref}, by: ByRequest, id: a.MessageID},
	}
	return s.apply(&e, &f)
}

// retry judges a row of the inbox again, under the rules of today.
func (s *step) retry(r *Retry) error {
	s.by = "retry"
	row, err := s.inboxRow(r.Row)
	if err != nil {
		return err
	}
	if row == nil {
		return s.noEffect("the row is not in the inbox any more")
	}
	return s.wake(row)
}
