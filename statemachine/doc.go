// Package statemachine says, record by record and without I/O, whose a receipt is, what it counts for,
// and how a part and a message move. The same log gives the same states, decisions, inbox, exceptions
// and counters, wherever and whenever it is folded: no clock, no goroutine, no order of maps takes part.
//
// # Duties of the caller
//
//  1. Append a Record to the log, durably.
//  2. Step it: Fold.Step(view, record, effects), records in the order of Seq, each once. The effects are lent, and
//     used again from record to record.
//  3. Put all its Effects in place together, so that the View shows them before the next Step. Within a
//     slice they go in order (a queue entry may be put and removed by one record).
//  4. Put a Rules record in force itself: View.Rules gives it from the next record on.
//
// A Record whose condition no longer holds changes nothing and says why in Effects.NoEffect. Step fails
// only when the View does; then nothing was decided and the same Step may be tried again. Neither side
// modifies a value that it was given: Effects hold new values, which may share what did not change.
//
//	mem := statemachine.NewMemory(statemachine.Fold{Decode: decode})
//	var effects statemachine.Effects
//	for _, rec := range log {
//		err := mem.Apply(rec, &effects) // Step, and put in place
//		…
//	}
//	mem.Messages["01JDXW5Q0C8Z4Y3K7M2N9P6R5T"].Reason(statusName) // alpha reported DELIVRD in record 1841, …
//
// # States of a part
//
//	                  ┌──────── refused for now, did not leave, resent after doubt ───────┐
//	                  ▼                                                                   │
//	accepted ──▶ QUEUED ──sent──▶ SUBMITTING ──submit_resp──▶ SUBMITTED                   │
//	                  │                │  │        ▲             │   │                     │
//	                  │                │  └─in_doubt─▶ IN_DOUBT ─┼───┼── late answer ──────┤
//	                  │                │                    │    │   │                     │
//	       expired, withdrawn          refused              ▼    ▼   └──cutoff──▶ UNREPORTED
//	      or a sibling failed          for good    SCHEDULED ENROUTE                   │
//	                  │                │           ACCEPTED  UNKNOWN ──cutoff──▶ UNREPORTED
//	                  ▼                ▼                    │                          │
//	                FAILED ◀───────────┘                    ▼                          ▼
//	                                   DELIVERED EXPIRED DELETED UNDELIVERABLE REJECTED SKIPPED
//
//	state                                     final   closed   rests on (Basis)
//	QUEUED SUBMITTING IN_DOUBT                no      no       none
//	SUBMITTED                                 no      (1)      submit_sm_resp, cutoff, operator
//	SCHEDULED ENROUTE ACCEPTED UNKNOWN        (2)     (1)(2)   receipt, callback, query_sm
//	DELIVERED EXPIRED DELETED UNDELIVERABLE
//	REJECTED SKIPPED                          yes     yes      receipt, callback, query_sm, operator
//	FAILED                                    yes     yes      submit_sm_resp, expiry, operator
//	UNREPORTED                                no      yes      cutoff
//
//	(1) where no receipt was asked for, or where one was asked for failure only and the window is over
//	(2) ACCEPTED and UNKNOWN are final where the SMSC's rules said so when they were reported
//
// The state follows from the part's attempts and evidence alone (Part.current): the reported state or
// UNREPORTED if there is one, else SUBMITTING while an attempt is unanswered, QUEUED while one waits to
// be made, IN_DOUBT while one is, else SUBMITTED, else FAILED. What is final never moves, unless a person
// decides that something else counts, or takes such a decision back.
//
// # Windows
//
// A part that waits for an outcome, or is in doubt, has a WindowEnd and an entry in Effects.Windows under it;
// one that is UNREPORTED keeps its own and is counted in Effects.Overdue under its minute. They follow the
// rules in force when the part was last touched: a page of a reprocess touches every message whose windows
// the rules moved, and a cutoff that comes too early moves the entry to where it belongs. A window to which
// the rules give no end, as those of an SMSC that was taken out of the configuration, stays as it was.
//
// # Retention
//
// A message is dropped once nothing waits for it any more; Message.Loose says whether something does. A
// retention record closes it then: what waits in the queue leaves it, an unanswered attempt is in doubt, and
// a part that is open becomes FAILED (basis expiry) where no attempt of it may have arrived, else what a
// cutoff makes of it, in doubt or not. Where it is not even known whether the SMSC has the part it is
// UNREPORTED, also if no receipt was asked for. The doubt's exception ends; what comes after counts as ever.
//
// A dropped row of the inbox leaves a decision for each of its receptions, and the exception that it opened
// ends. What refers to a dropped message (ids in the index) finds nothing. What was dropped from the log
// (ErrGone) is not judged again: a reception stays in the row that holds it.
//
// # Decisions
//
// Every record that says something about a message but accepted and sent, our own acts, which the
// Message itself names, leaves a Decision in the message's chain; a reception leaves one for each part
// it is judged for, or one without a message. The last decision about a reception is the one that
// stands: matched, not_a_receipt, undecodable, or held in exactly one row of the inbox, until that is
// dropped.
//
// # Decisions of persons
//
// An Operator record ends an exception, and with it something about a part, or says why it cannot. undo folds
// the message again from its other records, under the rules of their time; correlation stays what it was, but
// for receptions that the message had by the undone record alone, which go through it again. Its decision names
// the undone record (Decision.Record), and each reception that left the message, or counts for something else
// now, has one of its own. What the SMSC says after a person is taken for what it is: its answer takes the place
// of a person's word, and its receipts are judged by what the person decided.
//
// cancel and drop are about no exception. A part that waits leaves the queue by them; one that may have arrived
// shows what it would otherwise, and so does one that had left when the message was cancelled. None is put back
// after that by the SMSC's answer or the loss of it: only a person's resend does that. hold and release change no
// message: Effects.Hold tells whoever sends.
//
// A page of a reprocess gives the same in whatever pages a pass comes, as long as no id fits several messages.
//
// Files: step.go (Fold), submit.go and reception.go (a function a record type), part.go, attempt.go and
// fold.go (states), evidence.go and verdict.go (what evidence counts for), correlate.go, narrow.go and
// address.go (whose it is), identify.go (which ids an attempt has), inbox.go and release.go (what waits),
// operator.go with assign.go, doubt.go, take.go and undo.go (what persons decide), refold.go (a message folded
// again without a record), putback.go and reopen.go (that in the place of what it was), reprocess.go (what
// changed rules change), restored.go, window.go (when a part's time is over), retention.go (what is closed and
// dropped), exceptions.go, tally.go, reason.go, overlay.go (a step sees what it changed itself), memory.go (a
// View in maps), cancel.go (what is not to be sent any more), hold.go.
package statemachine
