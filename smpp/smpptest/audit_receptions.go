package smpptest

import (
	"encoding/hex"
	"fmt"
)

// receptions checks what is stored, and whom it was assigned to.
func (a *audit) receptions(events []AuditEvent) {
	decisions := map[uint64][]AuditDecision{} // by the reception that they are about, in log order
	for _, e := range events {
		for _, d := range e.Decisions {
			decisions[d.Record] = append(decisions[d.Record], d)
		}
	}
	for _, e := range events {
		if e.Type != "reception" {
			continue
		}
		a.Receptions++
		o := a.octetsOf(e.PDU)
		if o == nil {
			a.differ(Difference{Kind: NeverSent, Record: e.Seq, Detail: "no such octets were ever sent"})
			continue
		}
		if o.stored++; o.stored == o.sent+1 {
			a.differ(Difference{Kind: NeverSent, Record: e.Seq, D: o.of.D, Detail: fmt.Sprintf("stored more often than the %d times it was sent", o.sent)})
		}
		a.reception(e.Seq, o.of, decisions[e.Seq])
	}
	for _, d := range a.truth.order {
		for _, s := range d.sendings {
			if o := s.octets; s.ackedAt >= 0 && o.of == d && o.stored < o.acked {
				a.differ(Difference{Kind: NotStored, N: d.N, D: d.D, Detail: fmt.Sprintf("%s acknowledged %d times, stored %d times", d.Kind, o.acked, o.stored)})
				break
			}
		}
	}
}

// octetsOf is what the truth knows of a stored PDU, or nil.
func (a *audit) octetsOf(pdu string) *truthOctets {
	octets, err := hex.DecodeString(pdu)
	if err != nil {
		return nil
	}
	if o := a.truth.written[sum(octets)]; o != nil {
		return o
	}
	if len(octets) >= headerLen {
		return a.truth.oversize[string(octets[:headerLen])]
	}
	return nil
}

// reception checks the decisions about one stored delivery.
func (a *audit) reception(record uint64, d *truthDelivery, decisions []AuditDecision) {
	for _, dec := range decisions {
		if dec.Correlation == "matched" && d.Kind != Raw && (d.N == 0 || a.owners[d.N].message != dec.Message) {
			a.differ(Difference{Kind: Misassigned, Message: dec.Message, Record: record, N: d.N, D: d.D, Detail: a.whose(d)})
		}
	}
	evidence := d.N > 0 || d.Kind == UnknownID
	switch {
	case len(decisions) == 0 && evidence:
		a.differ(Difference{Kind: Undecided, Record: record, N: d.N, D: d.D, Detail: "no decision about it"})
		a.NoEvidence++
	case len(decisions) == 0:
		a.NoEvidence++
	default:
		a.lastDecision(record, d, decisions[len(decisions)-1])
	}
}

func (a *audit) whose(d *truthDelivery) string {
	switch owner := a.owners[d.N].message; {
	case d.N == 0:
		return fmt.Sprintf("assigned to a message, and %s is about none", d.Kind)
	case owner == "":
		return "assigned to a message, and no message is known to have been that submit"
	default:
		return "assigned to this message, and is about " + owner
	}
}

func (a *audit) lastDecision(record uint64, d *truthDelivery, last AuditDecision) {
	switch last.Correlation {
	case "matched":
		a.Assigned++
	case "not_a_receipt", "undecodable":
		a.NoEvidence++
	default:
		a.Held++
		s := a.truth.submits[d.N]
		if s != nil && a.owners[s.N].knowsID && a.truth.correlatable(d, s, a.opt.RulesFit) {
			a.differ(Difference{Kind: NotAssigned, Message: a.owners[s.N].message, Record: record, N: s.N, D: d.D, Detail: "held as " + last.Correlation + ", and it bears the id of this message"})
		}
	}
}
