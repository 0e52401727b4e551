package statemachine

import (
	"fmt"
	"time"
)

// Answered reports whether the SMSC's answer to the attempt is known.
func (a *Attempt) Answered() bool {
	return a.Outcome == AcceptedBy || a.Outcome == RefusedTemp || a.Outcome == RefusedPerm
}

// MayHaveArrived reports whether the SMSC has the attempt, or may have it.
func (a *Attempt) MayHaveArrived() bool {
	return a.arrived() || a.Outcome == Unanswered || a.Outcome == Doubtful
}

// arrived reports whether the SMSC certainly took the attempt.
func (a *Attempt) arrived() bool { return a.Outcome == AcceptedBy || a.Outcome == Arrived }

// answer puts the SMSC's answer (SMPP v3.4 §4.4.2) in. It may come after the response timer gave up on
// it, or after evidence showed that the attempt had arrived. id is the answer's message_id as read.
func (a *Attempt) answer(r *SubmitResp, id string, at time.Time, seq uint64) {
	switch {
	case r.CommandStatus == 0:
		a.Outcome = AcceptedBy
	case r.Temporary:
		a.Outcome = RefusedTemp
	default:
		a.Outcome = RefusedPerm
	}
	a.CommandStatus, a.AnsweredAt, a.AnswerSeq = r.CommandStatus, at, seq
	if a.DoubtSeq == 0 {
		a.DoubtEndSeq = 0
	}
	if id != "" {
		a.MessageID, a.Learnt = id, false
	}
	a.endDoubt(DoubtLateAnswer, seq)
}

// refusal says how the attempt was refused; "" when it was not.
func (a *Attempt) refusal() string {
	switch a.Outcome {
	case RefusedTemp:
		return "refused for now"
	case RefusedPerm:
		return "refused for good"
	}
	return ""
}

// doubt says what is not known of the attempt.
func (a *Attempt) doubt() string {
	if a.Seq == 0 {
		return fmt.Sprintf("attempt %d may have left after the backup was made that was restored", a.Number)
	}
	return fmt.Sprintf("attempt %d left, and its answer was lost", a.Number)
}

// endDoubt notes what told the truth about the attempt, if it was in doubt and nothing has yet. What comes
// from the SMSC takes the place of what a person said.
func (a *Attempt) endDoubt(by DoubtEnd, seq uint64) {
	if a.DoubtSeq != 0 && (a.DoubtEnded == "" || a.DoubtEnded == DoubtOperator) {
		a.DoubtEnded, a.DoubtEndSeq = by, seq
	}
}

// saidAccepted reports whether only a person says that the SMSC accepted the attempt.
func (a *Attempt) saidAccepted() bool { return a.Outcome == AcceptedBy && a.AnswerSeq == 0 }

// saidNotSent reports whether only a person says that the attempt never left.
func (a *Attempt) saidNotSent() bool { return a.Outcome == NotSent && a.DoubtEnded == DoubtOperator }

// acceptance is what it is known from that the SMSC accepted the attempt, and the record.
func (a *Attempt) acceptance() (Basis, uint64) {
	if a.saidAccepted() {
		return BasisOperator, a.DoubtEndSeq
	}
	return BasisSubmitResp, a.AnswerSeq
}

// arrive takes from a receipt that echoed our reference that the SMSC has the attempt. One that is still
// unanswered goes on waiting for its answer, and will not be in doubt if that is lost.
func (a *Attempt) arrive(seq uint64) {
	switch {
	case a.Outcome == Doubtful || a.saidNotSent():
		a.Outcome = Arrived
	case a.Outcome == Unanswered && a.DoubtEndSeq == 0:
		a.DoubtEndSeq = seq
	}
	if !a.saidAccepted() {
		a.endDoubt(DoubtClientRef, seq)
	}
}

// lost puts in that the answer was lost and reports whether the attempt did not leave after all.
func (a *Attempt) lost(r *AttemptInDoubt, seq uint64) (notSent bool) {
	if r.NotWritten {
		a.Outcome = NotSent
		return true
	}
	a.Outcome, a.DoubtSeq, a.DoubtCause = Doubtful, seq, r.Cause
	if a.DoubtEndSeq != 0 { // a receipt with our reference showed it before
		a.Outcome = Arrived
		a.endDoubt(DoubtClientRef, a.DoubtEndSeq)
	}
	return false
}
