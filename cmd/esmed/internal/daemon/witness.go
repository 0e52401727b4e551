package daemon

import (
	"slices"

	"go.uber.org/zap"

	"esmed/receipt"
	"esmed/statemachine"
)

// witness sees each record as the applier takes it, for metrics, log and access log.
type witness struct {
	metrics *metrics
	access  *accessLog
	clock   *timekeeper
	log     *zap.Logger
	// rules are an SMSC's reading rules in force; nil = the default ones.
	rules func(smsc string) *receipt.Rules
}

// decided takes a record and what was concluded from it (store.Config.OnDecisions).
func (w *witness) decided(rec statemachine.Record, decisions []statemachine.Decision, messages []*statemachine.Message) {
	w.clock.saw(rec.At)
	smsc := ""
	switch fact := rec.Fact.(type) {
	case *statemachine.MessageAccepted:
		smsc = fact.SMSC
	case *statemachine.Sent:
		smsc = fact.SMSC
	case *statemachine.SubmitResp:
		smsc = fact.SMSC
	case *statemachine.AttemptInDoubt:
		smsc = fact.SMSC
	case *statemachine.Reception:
		smsc = fact.SMSC
		w.received(rec.Seq, fact, decisions)
		w.delayed(rec, fact, decisions, messages)
	case *statemachine.QueryResp:
		smsc = fact.SMSC
	case *statemachine.CancelResp:
		smsc = fact.SMSC
	case *statemachine.Retry:
		w.retried(decisions)
	}
	for i := range decisions {
		d := &decisions[i]
		of := smsc
		if of == "" {
			of = submittedTo(d.Message, messages)
		}
		w.metrics.decided(of, d)
	}
}

// submittedTo is the SMSC of a message that a record which names none concerns, as a person's decision or
// our own clock does; "" where no message is concerned.
func submittedTo(id statemachine.ID, messages []*statemachine.Message) string {
	for _, m := range messages {
		if m.ID == id {
			return m.SMSC
		}
	}
	return ""
}

func (w *witness) received(seq uint64, r *statemachine.Reception, decisions []statemachine.Decision) {
	reading := receipt.Decode(DecodePDU(r.PDU), w.rules(r.SMSC))
	w.metrics.receptions.WithLabelValues(r.SMSC, reading.Kind.String()).Inc()
	w.access.received(seq, r, &reading, decisions)
	for i := range decisions {
		if d := &decisions[i]; d.Record == seq && d.Verdict == statemachine.VerdictHeld {
			w.log.Warn("receipt held", zap.String("smsc", r.SMSC), zap.String("session", r.Session), zap.Uint64("seq", seq),
				zap.String("message_id", reading.ID), zap.String("correlation", string(d.Correlation)))
		}
	}
}

// delayed takes how long a part's final receipt took to come.
func (w *witness) delayed(rec statemachine.Record, r *statemachine.Reception, decisions []statemachine.Decision, messages []*statemachine.Message) {
	for i := range decisions {
		d := &decisions[i]
		if d.Record != rec.Seq || d.Verdict != statemachine.VerdictApplied || !d.To.Final() {
			continue
		}
		n := slices.IndexFunc(messages, func(m *statemachine.Message) bool { return m.ID == d.Message })
		if n < 0 {
			continue
		}
		if a := messages[n].Part(d.Part).Accepted(); a != nil {
			w.metrics.receiptDelay.WithLabelValues(r.SMSC).Observe(rec.At.Sub(a.At).Seconds())
		}
	}
}

func (w *witness) retried(decisions []statemachine.Decision) {
	for i := range decisions {
		if decisions[i].Correlation == statemachine.Matched {
			w.metrics.retryMatched.Inc()
		}
	}
}
