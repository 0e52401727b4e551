package daemon

import (
	"sync"

	"esmed/smpp"
	"esmed/statemachine"
)

// maxLate is of how many questions an SMSC's answers are waited for that did not come in time. What answers more
// of them is recorded as a response to nothing outstanding.
const maxLate = 1024

// lateAnswers are the questions (query_sm, cancel_sm) that were not answered in time. As long as its session lasts
// nothing else has a question's number, so that what still comes with it is the answer: to be recorded as that, for
// nobody who waits.
type lateAnswers struct {
	mu   sync.Mutex
	open map[lateKey]lateQuestion
}

type lateKey struct {
	session string
	number  uint32
}

type lateQuestion struct {
	response smpp.CommandID
	fact     func(*smpp.Answer) statemachine.Fact
}

func newLateAnswers() *lateAnswers { return &lateAnswers{open: map[lateKey]lateQuestion{}} }

// expect takes a question that timed out.
func (l *lateAnswers) expect(a *smpp.Answer, question smpp.CommandID, fact func(*smpp.Answer) statemachine.Fact) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) < maxLate {
		l.open[lateKey{a.Session, a.SequenceNumber}] = lateQuestion{question.Response(), fact}
	}
}

// take gives the record of a response that answers such a question; nil when it does not.
func (l *lateAnswers) take(r *smpp.Request) statemachine.Fact {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := lateKey{r.Session, r.SequenceNumber}
	q, known := l.open[key]
	if !known || r.CommandID != q.response && r.CommandID != smpp.CommandGenericNack {
		return nil
	}
	delete(l.open, key)
	return q.fact(&smpp.Answer{
		Outcome: smpp.Answered, Late: true, Session: r.Session, SequenceNumber: r.SequenceNumber,
		CommandID: r.CommandID, CommandStatus: r.CommandStatus, PDU: r.PDU,
	})
}

// forget drops the questions of a session that ended or began.
func (l *lateAnswers) forget(session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.open {
		if key.session == session {
			delete(l.open, key)
		}
	}
}
