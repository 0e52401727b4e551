package statemachine

import "fmt"

// judge is DESIGN §3's table of verdicts: the first row that fits decides. p is the part that the
// evidence was matched to, nil when there is none. Beside the verdict it gives a reason for people.
func judge(e *evidence, p *Part) (Verdict, string) {
	if p == nil { // row 1
		return VerdictHeld, ""
	}
	ev := p.event(e.event)
	final := p.Final()
	order := compare(e.reported, p.Reported.DoneDate)
	switch {
	case ev != nil: // row 2
		return VerdictDuplicate, fmt.Sprintf("the same event as record %d", ev.Seq)
	case e.state == NoState: // row 3
		return VerdictNoted, stateless(e)
	case e.neverFinalises(): // row 4
		return VerdictNoted, "an intermediate notification never finalises"
	case e.differ: // row 5
		return VerdictNoted, "message_state and the text name different states"
	case final && !e.final: // row 6
		return VerdictLate, "the part is final"
	case final && e.state == p.State:
		return VerdictRepeat, "another report of the same final state"
	case final:
		return VerdictConflict, fmt.Sprintf("contradicts %s of record %d", p.State, p.BasisSeq)
	case e.final: // row 7
		return VerdictApplied, ""
	case p.CutoffSeq != 0: // row 8
		return VerdictLate, "the window is over"
	case e.state == p.Reported.State && order != newer: // row 9
		return VerdictRepeat, "another report of the same state"
	case p.Reported.State == NoState || order == newer:
		return VerdictApplied, ""
	case order == older:
		return VerdictStale, "reported for an earlier time than what is known"
	}
	return VerdictUnordered, "its time does not say whether it is newer than what is known"
}

// neverFinalises: an intermediate notification with a final word.
func (e *evidence) neverFinalises() bool { return e.intermediate && e.final }

func stateless(e *evidence) string {
	if word := e.unmapped(); word != "" {
		return "no rule maps its state word"
	}
	return "it names no state"
}
