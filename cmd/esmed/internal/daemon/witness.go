package daemon

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"esmed/receipt"
	"esmed/statemachine"
	"esmed/store"
)

// witnesses make a witness of each batch of the applier, for metrics, log and access log.
type witnesses struct {
	metrics *metrics
	access  *accessLog
	clock   *timekeeper
	log     *zap.Logger
}

// batch is store.Config.Witness.
func (w *witnesses) batch() store.Witness {
	return &witness{
		witnesses: w, receptions: make(map[receptionLabels]int), verdicts: make(map[verdictLabels]int),
		states: make(map[stateLabels]int),
	}
}

// witness gathers what is to be told of a batch once it is committed.
type witness struct {
	*witnesses
	at         time.Time // of the last record
	receptions map[receptionLabels]int
	verdicts   map[verdictLabels]int
	states     map[stateLabels]int
	delays     []delay
	matched    int // receptions that only a later look matched
	held       []heldReceipt
	lines      []accessLine
}

type receptionLabels struct {
	smsc string
	kind receipt.Kind
}

type verdictLabels struct {
	smsc    string
	verdict statemachine.Verdict
}

type stateLabels struct {
	smsc  string
	state statemachine.State
}

// delay is how long a part's final receipt took to come.
type delay struct {
	smsc string
	took time.Duration
}

// heldReceipt is one whose message was not found.
type heldReceipt struct {
	smsc, session, messageID string
	seq                      uint64
	correlation              statemachine.Correlation
}

// Folded implements store.Witness.
func (w *witness) Folded(rec statemachine.Record, eff *statemachine.Effects) {
	w.at = rec.At
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
		w.received(rec, fact, eff)
	case *statemachine.QueryResp:
		smsc = fact.SMSC
	case *statemachine.CancelResp:
		smsc = fact.SMSC
	case *statemachine.Retry:
		w.retried(eff.Decisions)
	}
	for i := range eff.Decisions {
		d := &eff.Decisions[i]
		of := smsc
		if of == "" {
			of = submittedTo(d.Message, eff.Messages)
		}
		w.decided(of, d)
	}
}

// decided takes what was concluded for an SMSC.
func (w *witness) decided(smsc string, d *statemachine.Decision) {
	if d.Verdict != "" {
		w.verdicts[verdictLabels{smsc, d.Verdict}]++
	}
	if d.To != statemachine.NoState && d.To != d.From {
		w.states[stateLabels{smsc, d.To}]++
	}
}

// submittedTo is the SMSC of a message that a record which names none concerns, as a person's decision or
// our own clock does; "" where no message is concerned.
func submittedTo(id statemachine.ID, messages []statemachine.MessageChange) string {
	for _, c := range messages {
		if c.Message.ID == id {
			return c.Message.SMSC
		}
	}
	return ""
}

func (w *witness) received(rec statemachine.Record, r *statemachine.Reception, eff *statemachine.Effects) {
	reading := eff.Reading
	w.receptions[receptionLabels{r.SMSC, reading.Kind}]++
	if w.access != nil {
		w.lines = append(w.lines, receptionLine(rec.Seq, r, reading, eff.Decisions))
	}
	for i := range eff.Decisions {
		d := &eff.Decisions[i]
		switch {
		case d.Record != rec.Seq: // another reception, that this one made possible to judge
		case d.Verdict == statemachine.VerdictHeld:
			w.held = append(w.held, heldReceipt{r.SMSC, r.Session, reading.ID, rec.Seq, d.Correlation})
		case d.Verdict == statemachine.VerdictApplied && d.To.Final():
			w.delayed(rec.At, r.SMSC, d, eff.Messages)
		}
	}
}

// delayed takes how long a part's final receipt took to come.
func (w *witness) delayed(at time.Time, smsc string, d *statemachine.Decision, messages []statemachine.MessageChange) {
	n := slices.IndexFunc(messages, func(c statemachine.MessageChange) bool { return c.Message.ID == d.Message })
	if n < 0 {
		return
	}
	if a := messages[n].Message.Part(d.Part).Accepted(); a != nil {
		w.delays = append(w.delays, delay{smsc, at.Sub(a.At)})
	}
}

func (w *witness) retried(decisions []statemachine.Decision) {
	for i := range decisions {
		if decisions[i].Correlation == statemachine.Matched {
			w.matched++
		}
	}
}

// Committed implements store.Witness.
func (w *witness) Committed() {
	w.clock.saw(w.at)
	for l, n := range w.receptions {
		w.metrics.receptions.WithLabelValues(l.smsc, l.kind.String()).Add(float64(n))
	}
	for l, n := range w.verdicts {
		w.metrics.verdicts.WithLabelValues(l.smsc, string(l.verdict)).Add(float64(n))
	}
	for l, n := range w.states {
		w.metrics.states.WithLabelValues(l.smsc, l.state.String()).Add(float64(n))
	}
	for _, d := range w.delays {
		w.metrics.receiptDelay.WithLabelValues(d.smsc).Observe(d.took.Seconds())
	}
	w.metrics.retryMatched.Add(float64(w.matched))
	for i := range w.held {
		h := &w.held[i]
		w.log.Warn("receipt held", zap.String("smsc", h.smsc), zap.String("session", h.session), zap.Uint64("seq", h.seq),
			zap.String("message_id", h.messageID), zap.String("correlation", string(h.correlation)))
	}
	if w.access != nil {
		w.access.write(w.lines)
	}
}
