package statemachine

// decide appends a decision and links it into the history of its message, which must be an edited one,
// or nil when it has none.
func (s *step) decide(m *Message, d Decision) {
	d.Pos = DecisionPos{Seq: s.rec.Seq, N: len(s.eff.Decisions)}
	d.Rules = s.rulesSeq
	if s.rules != nil {
		d.Parser = s.rules.Parser
	}
	if m != nil {
		d.Message, d.Previous = m.ID, m.LastDecision
		m.LastDecision = d.Pos
	}
	s.eff.Decisions = append(s.eff.Decisions, d)
}

// concluded appends the decision about a record that is no evidence of the SMSC's, as an answer, an
// expiry or a cut-off. attempt is 0 when it is about the part as a whole.
func (s *step) concluded(m *Message, p *Part, attempt int, from State, why string) {
	s.decide(m, Decision{Record: s.rec.Seq, Part: p.Number, Attempt: attempt, From: from, To: p.State, Why: why})
}

// decideHeld appends the decision about a reception that is not conclusive.
func (s *step) decideHeld(e *evidence, f *finding) {
	verdict, _ := judge(e, nil)
	s.decide(nil, Decision{
		Record: e.seq, Correlation: f.correlation, By: f.by, ExternalID: f.id, Rule: f.rule, Candidates: f.count,
		Verdict: verdict, Why: f.why, LogicalEvent: e.event,
	})
}
