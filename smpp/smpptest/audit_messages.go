package smpptest

import (
	"cmp"
	"fmt"
	"slices"
)

// messages checks each message's attempts and states, and notes whose submits are whose.
func (a *audit) messages(messages []AuditMessage) {
	a.Messages = len(messages)
	a.claim(messages)
	for i := range messages {
		m := &messages[i]
		if m.State == "IN_DOUBT" {
			a.InDoubt++
		}
		if m.MaybeDoubled {
			a.MaybeDoubled++
		}
		if finalState(m.State) {
			a.Final++
		}
		for j := range m.Parts {
			a.part(m, &m.Parts[j])
		}
		a.together(m)
		if len(m.Parts) > 0 && !slices.ContainsFunc(m.Parts, func(p AuditPart) bool { return p.State == m.State }) {
			a.differ(Difference{Kind: Unsupported, Message: m.ID, Detail: fmt.Sprintf("shows %s, and none of its parts does", m.State)})
		}
	}
}

// claim gives the submits whose ids are known to their messages, so that no attempt without an id is taken
// for one of them: sequence_numbers come again on every session.
func (a *audit) claim(messages []AuditMessage) {
	for i := range messages {
		m := &messages[i]
		for _, p := range m.Parts {
			for _, t := range p.Attempts {
				if t.MessageID == "" {
					continue
				}
				if s := a.submitOf(m.Destination.Addr, p.Part, t); s != nil {
					a.owners[s.N] = owner{m.ID, true}
				}
			}
		}
	}
}

func (a *audit) part(m *AuditMessage, p *AuditPart) {
	var submits []*truthSubmit
	for _, t := range p.Attempts {
		a.Attempts++
		s := a.submitOf(m.Destination.Addr, p.Part, t)
		if s != nil {
			submits = append(submits, s)
			a.owners[s.N] = owner{m.ID, t.MessageID != ""}
		} else if t.MessageID != "" {
			a.differ(Difference{Kind: UnknownAttempt, Message: m.ID, Detail: fmt.Sprintf("attempt %d of part %d has message_id %q, which was not given to a submit for its destination", t.Attempt, p.Part, t.MessageID)})
		}
	}
	a.carried(m, p, submits)
	a.shown(m, p, submits)
	a.missing(m, p, submits)
}

// submitOf is the submit that an attempt was: the one that was given its message_id, or, for an attempt
// without one, the one of this part with its sequence_number that is nobody else's.
func (a *audit) submitOf(dest string, part int, t AuditAttempt) *truthSubmit {
	if t.MessageID != "" {
		i := slices.IndexFunc(a.truth.byID[t.MessageID], func(s *truthSubmit) bool {
			return s.Dest == dest && s.Seq == t.SequenceNumber
		})
		if i < 0 {
			return nil
		}
		return a.truth.byID[t.MessageID][i]
	}
	for _, s := range a.truth.byDest[dest] {
		if _, taken := a.owners[s.N]; !taken && s.part() == part && s.Seq == t.SequenceNumber && (t.CommandStatus == "" || t.CommandStatus == s.Status) {
			return s
		}
	}
	return nil
}

// shown checks that the truth supports the state that a part shows.
func (a *audit) shown(m *AuditMessage, p *AuditPart, submits []*truthSubmit) {
	switch p.State {
	case "FAILED":
		for _, s := range submits {
			if s.accepted() && s.answered {
				a.differ(Difference{Kind: Unsupported, Message: m.ID, N: s.N, Detail: "shows FAILED, and the SMSC accepted it and said so"})
			}
		}
	case "SUBMITTED":
		if !slices.ContainsFunc(submits, (*truthSubmit).accepted) {
			a.differ(Difference{Kind: Unsupported, Message: m.ID, Detail: "shows SUBMITTED, and the SMSC accepted no submit of it"})
		}
	case "SCHEDULED", "ENROUTE", "ACCEPTED", "UNKNOWN", "DELIVERED", "EXPIRED", "DELETED", "UNDELIVERABLE", "REJECTED", "SKIPPED":
		if reason := a.unsupported(p.State, submits); reason != "" {
			a.differ(Difference{Kind: Unsupported, Message: m.ID, N: firstN(submits), Detail: fmt.Sprintf("part %d shows %s, %s", p.Part, p.State, reason)})
		}
	}
}

// unsupported says why a reported state cannot be right, or "".
func (a *audit) unsupported(state string, submits []*truthSubmit) string {
	reason := "which was never sent for it"
	for _, s := range submits {
		for _, d := range s.deliveries {
			if d.State != state || finalState(state) && !d.final() {
				continue
			}
			if !finalState(state) {
				return ""
			}
			other := a.firstOther(d, s)
			if other == nil {
				return ""
			}
			reason = fmt.Sprintf("and %s (d=%d) was stored before", other.State, other.D)
		}
	}
	return reason
}

// firstOther is a receipt with another final state that was certainly stored before d; nil if there is
// none, so that d may have been the first.
func (a *audit) firstOther(d *truthDelivery, s *truthSubmit) *truthDelivery {
	for _, e := range s.deliveries {
		if e.final() && e.State != d.State && a.truth.correlatable(e, s, a.opt.RulesFit) && e.storedBefore(d) {
			return e
		}
	}
	return nil
}

// missing checks that an acknowledged final receipt shows.
func (a *audit) missing(m *AuditMessage, p *AuditPart, submits []*truthSubmit) {
	if finalState(p.State) {
		return
	}
	for _, s := range submits {
		if !a.owners[s.N].knowsID {
			continue
		}
		for _, d := range s.deliveries {
			if d.final() && d.acked() && a.truth.correlatable(d, s, a.opt.RulesFit) {
				a.differ(Difference{Kind: MissingFinal, Message: m.ID, N: s.N, D: d.D, Detail: fmt.Sprintf("part %d shows %s, and %s was acknowledged", p.Part, p.State, d.State)})
				return
			}
		}
	}
}

// destinations checks by destination what no message_id ties together: that each submit is recorded
// before it leaves, and that a second one says so.
func (a *audit) destinations(messages []AuditMessage) {
	type count struct {
		attempts, admitted int
		message            string
	}
	known := map[string]count{}
	for i := range messages {
		m := &messages[i]
		c := known[m.Destination.Addr]
		c.message = m.ID
		for _, p := range m.Parts {
			c.attempts += len(p.Attempts)
			if m.MaybeDoubled {
				c.admitted += len(p.Attempts)
			} else {
				c.admitted += min(1, len(p.Attempts))
			}
		}
		known[m.Destination.Addr] = c
	}
	for dest, submits := range a.truth.byDest {
		accepted := 0
		for _, s := range submits {
			if s.accepted() {
				accepted++
			}
		}
		c := known[dest]
		if len(submits) > c.attempts {
			a.differ(Difference{Kind: Unrecorded, Message: c.message, N: firstN(submits), Detail: fmt.Sprintf("%d submits were seen for this destination, %d attempts are recorded", len(submits), c.attempts)})
		}
		if accepted > c.admitted {
			a.differ(Difference{Kind: Doubled, Message: c.message, N: firstN(submits), Detail: fmt.Sprintf("%d submits were taken on for this destination, %d are admitted to", accepted, c.admitted)})
		}
	}
	slices.SortStableFunc(a.Differences, func(x, y Difference) int { return cmp.Compare(x.N, y.N) })
}

func firstN(submits []*truthSubmit) uint64 {
	if len(submits) == 0 {
		return 0
	}
	return submits[0].N
}
