package smpptest

import (
	"fmt"
	"strings"
)

// AuditOptions say what the audit may take for granted.
type AuditOptions struct {
	// RulesFit: the ESME's id rules can read every id that the SMSC wrote, so that an acknowledged final
	// receipt must have been applied. Without it that is asked only of receipts one of whose ids is
	// literally the message_id of their submit, while the other, if different, is that of none.
	RulesFit bool
	// MaxInDoubt is how many messages may be IN_DOUBT; below 0 any number.
	MaxInDoubt int
}

// DifferenceKind says what truth and ESME disagree about.
type DifferenceKind string

// Difference kinds.
const (
	NoTruth        DifferenceKind = "no_truth"        // the truth holds no submit at all: nothing can be said
	NotStored      DifferenceKind = "not_stored"      // acknowledged, and no stored reception has those octets
	NeverSent      DifferenceKind = "never_sent"      // a stored reception whose octets were never, or less often, sent
	Undecided      DifferenceKind = "undecided"       // a stored receipt without any decision
	Misassigned    DifferenceKind = "misassigned"     // a reception assigned to a message that it is not about
	NotAssigned    DifferenceKind = "not_assigned"    // a receipt that bears a message's id, held at the end
	UnknownAttempt DifferenceKind = "unknown_attempt" // an attempt with a message_id that was not given for it
	Unrecorded     DifferenceKind = "unrecorded"      // more submits seen for a destination than attempts recorded
	Doubled        DifferenceKind = "doubled"         // more submits taken on for a destination than admitted to
	Unsupported    DifferenceKind = "unsupported"     // a state that the truth does not support
	MissingFinal   DifferenceKind = "missing_final"   // an acknowledged final receipt, and no final state
	TooManyInDoubt DifferenceKind = "in_doubt"        // more than MaxInDoubt
	WrongPart      DifferenceKind = "wrong_part"      // an attempt that carried another part, or one of another number of parts
	Mixed          DifferenceKind = "mixed"           // parts that a handset cannot keep apart from another message's, or put together
	Altered        DifferenceKind = "altered"         // a text received that was never sent to its destination
	Lost           DifferenceKind = "lost"            // a text sent that never came whole
)

// Difference is one thing that truth and ESME disagree about.
type Difference struct {
	Kind    DifferenceKind
	Message string // the ESME's id of the message; "" if none is concerned
	Record  uint64 // seq of the ESME's record; 0 if none
	N, D    uint64 // submit and delivery of the truth; 0 if none
	Detail  string
}

func (d Difference) String() string {
	var b strings.Builder
	b.WriteString(string(d.Kind))
	if d.Message != "" {
		fmt.Fprintf(&b, " message %s", d.Message)
	}
	if d.Record > 0 {
		fmt.Fprintf(&b, " record %d", d.Record)
	}
	if d.N > 0 {
		fmt.Fprintf(&b, " submit n=%d", d.N)
	}
	if d.D > 0 {
		fmt.Fprintf(&b, " delivery d=%d", d.D)
	}
	return b.String() + ": " + d.Detail
}

// AuditReport is what an Audit found. The figures count; Differences is empty if all agrees.
type AuditReport struct {
	Submits, Accepted, Refused, Ignored int // submit_sm in the truth
	Deliveries, Sent, Acknowledged      int // requests of the SMSC; times written; times acknowledged
	Pending                             int // of the deliveries that were written, not acknowledged
	AcknowledgedFinals                  int // final receipts, contradictions and repeats included

	Messages, Attempts, Receptions int // of the ESME
	Assigned, Held, NoEvidence     int // receptions by their last decision; NoEvidence: also those without one
	Final, InDoubt, MaybeDoubled   int // messages

	Differences []Difference
}

// Agree says whether nothing differs.
func (r *AuditReport) Agree() bool { return len(r.Differences) == 0 }

// Verdict is the one line that says so, and begins with "agree:" or "DISAGREE:".
func (r *AuditReport) Verdict() string {
	if r.Agree() {
		return fmt.Sprintf("agree: %d acknowledged deliveries all stored (%d assigned, %d held, %d no evidence); %d messages, %d final, %d in doubt, %d maybe doubled; no state without support",
			r.Acknowledged, r.Assigned, r.Held, r.NoEvidence, r.Messages, r.Final, r.InDoubt, r.MaybeDoubled)
	}
	return fmt.Sprintf("DISAGREE: %d differences, the first: %s", len(r.Differences), r.Differences[0])
}

// Figures are the counts for people, a line each for the SMSC and the ESME.
func (r *AuditReport) Figures() string {
	return fmt.Sprintf(`SMSC: %d submits (%d accepted, %d refused, %d ignored), %d deliveries written %d times, %d acknowledged (%d of them final receipts), %d pending
ESME: %d messages (%d final, %d in doubt, %d maybe doubled), %d attempts, %d receptions (%d assigned, %d held, %d no evidence)
`, r.Submits, r.Accepted, r.Refused, r.Ignored, r.Deliveries, r.Sent, r.Acknowledged, r.AcknowledgedFinals, r.Pending,
		r.Messages, r.Final, r.InDoubt, r.MaybeDoubled, r.Attempts, r.Receptions, r.Assigned, r.Held, r.NoEvidence)
}

// Audit compares the ground truth with what esmed says: its messages and its events, both complete.
//
// Reception by reception: what was acknowledged is stored, octet by octet; nothing is stored that was
// not sent; a receipt is assigned to the message of its submit or to none, and what is about no submit
// to none; what bears a message's id is assigned. Message by message: every attempt's message_id was
// given for it, for that part of as many; no part was taken on twice unless maybe_doubled says so; the
// parts of one message have one reference, and no other message's between them does; a shown state was
// sent for that very submit, and a final one can have been the first to
// be stored; an acknowledged final receipt shows. Destination by destination: no submit was seen that
// is not recorded, and none taken on twice unless maybe_doubled says so.
func Audit(truth []Line, messages []AuditMessage, events []AuditEvent, opt AuditOptions) AuditReport {
	a := &audit{truth: indexTruth(truth), opt: opt, owners: map[uint64]owner{}, spans: map[joinedBy][]span{}}
	a.truth.count(&a.AuditReport)
	if a.Submits == 0 {
		a.differ(Difference{Kind: NoTruth, Detail: "the truth holds no submit_sm"})
	}
	a.messages(messages)
	a.mixed()
	a.destinations(messages)
	a.receptions(events)
	if opt.MaxInDoubt >= 0 && a.InDoubt > opt.MaxInDoubt {
		a.differ(Difference{Kind: TooManyInDoubt, Detail: fmt.Sprintf("%d messages are in doubt, at most %d may be", a.InDoubt, opt.MaxInDoubt)})
	}
	return a.AuditReport
}

// audit is an Audit at work.
type audit struct {
	AuditReport
	truth  *truthIndex
	opt    AuditOptions
	owners map[uint64]owner // by Line.N
	spans  map[joinedBy][]span
}

// owner is the message that a submit belongs to, by the ESME's own account.
type owner struct {
	message string
	knowsID bool // it knows the message_id that the submit was given
}

func (a *audit) differ(d Difference) { a.Differences = append(a.Differences, d) }
