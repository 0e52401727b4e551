package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// Causes of doubt (statemachine.AttemptInDoubt).
const (
	causeTimeout = "timeout"
	causeCut     = "cut"
	causeStop    = "stop"
	causeCrash   = "crash"
)

// answersWait is how long the record of an answer may wait for that of the submit_sm which the answer makes room
// for: both then share a commit, for which the next submit_sm would else wait twice.
const answersWait = time.Millisecond

// attempt is a submit_sm under way.
type attempt struct {
	ref        statemachine.AttemptRef
	dest       string
	sentAt     time.Time
	validUntil time.Time // of its message; zero: for ever
	probe      bool      // the one message that tries whether a paused SMSC takes some again
	parts      int       // of its message
}

// answer is what became of an attempt.
type answer struct {
	attempt
	smpp.Answer
}

// feedback tells the dispatcher what an answer says about the SMSC rather than about the message.
type feedback struct {
	refusal refusal
	sentAt  time.Time
}

// answers turns what became of submits into records. The sessions put answers in; whoever takes them out
// holds the lock until they are on their way to the store, so that they are recorded in order.
type answers struct {
	cfg      *config.SMSC
	store    *store.Store
	metrics  *metrics
	access   *accessLog
	log      *zap.Logger
	rebind   func(session, reason string)
	stopping atomic.Bool // what is lost from now on is lost by our own doing
	retry    atomic.Pointer[config.Retry]
	awaited  atomic.Bool // the dispatcher records what is there as soon as it has a slot, which an answer gives it

	mu       sync.Mutex // held from taking until recorded
	in       *mailbox[answer]
	refused  *mailbox[statemachine.Fact] // records that the disk had no room for
	feedback *mailbox[feedback]
	failed   failed
}

// run records answers until ctx is done, which is when the session has ended, and none is left.
func (a *answers) run(ctx context.Context) error {
	var again <-chan time.Time // while there may be records that were refused
	for {
		var err error
		select {
		case <-a.in.ready:
			if a.awaited.Load() {
				select {
				case <-ctx.Done():
				case <-time.After(answersWait):
				}
			}
			err = a.recordAll() // mostly none is left then
		case <-a.refused.ready:
			if again == nil {
				again = time.After(passingPause)
			}
		case <-again:
			again = nil
			err = a.recordRefused()
		case <-ctx.Done():
			return errors.Join(a.recordRefused(), a.recordAll())
		}
		if err != nil {
			return err
		}
	}
}

// recordAll records what is there. Called before a reception is recorded, it keeps the order of the wire:
// a receipt that came behind the answer to its submit finds the message and never sees the inbox. Between
// sessions the wire has no order: an answer that has been read by then is recorded first, whichever session
// it came on, and a receipt that overtook its answer on another one waits in the inbox for it.
func (a *answers) recordAll() error { return a.recordBefore(func() error { return nil }) }

// recordBefore records what is there, and then what queue gives to the store, with no answer between.
func (a *answers) recordBefore(queue func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.in.take() {
		now := time.Now()
		if err := a.post(a.fact(one, now), now.Add(-one.RoundTrip)); err != nil {
			return fmt.Errorf("answers: %w", err)
		}
	}
	return queue()
}

// recordRefused tries again what there was no room for.
func (a *answers) recordRefused() error {
	for _, fact := range a.refused.take() {
		if err := a.post(fact, time.Time{}); err != nil {
			return fmt.Errorf("answers: %w", err)
		}
	}
	return nil
}

// post queues a record. It is written whatever else ends, so no context ends it. sent is when the submit_sm was
// written; zero: a record that had to wait for room on the disk, whose time says nothing.
func (a *answers) post(fact statemachine.Fact, sent time.Time) error {
	return a.store.Post(context.Background(), fact, func(r statemachine.Record, err error) {
		switch {
		case err == nil:
			a.recorded(fact, r.Seq, sent)
		case errors.Is(err, store.ErrDiskFull):
			a.refused.put(fact)
		default:
			a.log.Error("answer not recorded", zap.Error(err))
		}
	})
}

// recorded takes a record that is on disk.
func (a *answers) recorded(fact statemachine.Fact, seq uint64, sent time.Time) {
	resp, ok := fact.(*statemachine.SubmitResp)
	if !ok {
		return
	}
	if !sent.IsZero() {
		a.metrics.recorded(a.cfg.Name, time.Since(sent))
	}
	if resp.CommandStatus != uint32(smpp.StatusOK) && !resp.Temporary {
		a.failed.recorded(resp.Message, seq)
	}
}

func (a *answers) fact(one answer, now time.Time) statemachine.Fact {
	if one.Outcome == smpp.Answered {
		return a.answered(one, now)
	}
	if one.Outcome != smpp.NotWritten {
		a.metrics.unanswered(a.cfg.Name)
		a.access.submit(a.cfg.Name, one, "", one.Outcome.String())
	}
	a.log.Warn("submit_sm without an answer", zap.String("session", one.Session), zap.String("id", string(one.ref.Message)),
		zap.Int("part", one.ref.Part), zap.Int("attempt", one.ref.Attempt), zap.Stringer("outcome", one.Outcome))
	return &statemachine.AttemptInDoubt{
		Message: one.ref.Message, Part: one.ref.Part, Attempt: one.ref.Attempt,
		SMSC: a.cfg.Name, Session: one.Session, Cause: a.cause(one.Outcome),
		NotWritten: one.Outcome == smpp.NotWritten, RetryAt: now,
	}
}

func (a *answers) cause(o smpp.Outcome) string {
	switch {
	case o == smpp.TimedOut:
		return causeTimeout
	case a.stopping.Load():
		return causeStop
	}
	return causeCut
}

func (a *answers) answered(one answer, now time.Time) *statemachine.SubmitResp {
	a.metrics.answered(a.cfg.Name, one.CommandStatus, one.RoundTrip)
	a.access.submit(a.cfg.Name, one, one.MessageID, one.CommandStatus.String())
	retry := a.retry.Load()
	refused := classify(*retry, one.CommandStatus)
	resp := &statemachine.SubmitResp{
		Message: one.ref.Message, Part: one.ref.Part, Attempt: one.ref.Attempt,
		SMSC: a.cfg.Name, Session: one.Session, SequenceNumber: one.SequenceNumber,
		PDU: one.PDU, CommandStatus: uint32(one.CommandStatus), MessageID: one.MessageID,
		Temporary: refused.temporary(),
	}
	if refused != notRefused {
		a.log.Warn("submit_sm refused", zap.String("session", one.Session), zap.String("id", string(one.ref.Message)),
			zap.Int("part", one.ref.Part), zap.Int("attempt", one.ref.Attempt),
			zap.Stringer("command_status", one.CommandStatus), zap.Bool("temporary", resp.Temporary))
	}
	switch refused {
	case refusedForGood:
		if one.parts > 1 {
			a.failed.add(one.ref.Message)
		}
	case refusedForNow, refusedThrottled, refusedSession:
		resp.RetryAt = now.Add(retryDelay(retry.Min, retry.Max, one.ref.Attempt, rand.Float64()))
		if expired(one.validUntil, resp.RetryAt) { // its time is then, and it is over
			resp.RetryAt = one.validUntil
		}
	}
	a.react(one, refused)
	return resp
}

// react does what an answer asks for beyond its message.
func (a *answers) react(one answer, refused refusal) {
	switch refused {
	case refusedSession:
		a.rebind(one.Session, "submit_sm answered "+one.CommandStatus.String())
	case refusedThrottled, refusedPaused:
		a.feedback.put(feedback{refused, one.sentAt})
	default:
		if one.probe {
			a.feedback.put(feedback{refused, one.sentAt})
		}
	}
}
