package daemon

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

const (
	// maxSubmits is how many submits share a commit and a write at most: enough to make both cheap, few
	// enough not to hold back answers and receptions.
	maxSubmits = 512
	// probeEvery is how often a paused SMSC is tried with one message.
	probeEvery = time.Minute
)

// dispatcher moves the parts that wait for one SMSC onto the wire. Its state belongs to loop's goroutine.
// Of each round the order is fixed: slots of the window, room at the outlet, parts, their sent records
// durable, the outlet. From reading the queue until those records it is inside the gate.
type dispatcher struct {
	cfg     *config.SMSC
	store   *store.Store
	gate    *gate
	client  *smpp.Client
	outlet  *outlet
	answers *answers
	clock   *timekeeper
	room    *diskRoom
	log     *zap.Logger

	tuned    chan struct{}         // room for one: the outlet has another limit
	paused   atomic.Pointer[pause] // a copy of pause for who asks from elsewhere; nil: there is none
	withheld withheld
	busy     atomic.Bool // the last round took all that it could, so that more may wait

	pause   pause
	cursor  store.QueueCursor
	taken   taken
	passed  []statemachine.QueueEntry // of passOver, that taken has for now
	undue   bool                      // parts seemed to have expired while the clock was in doubt: they are passed over
	stands  bool                      // the last round failed for a reason that time may heal
	encoded []byte                    // room for a submit_sm, whose length is not known before
}

// run dispatches until ctx is done. What it began to send by then is handed to the client. An error is
// the store's and ends the daemon.
func (d *dispatcher) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	writing, end := context.WithCancel(context.WithoutCancel(ctx))
	g.Go(func() error { return d.outlet.run(writing) })
	g.Go(func() error {
		defer end() // what the last round recorded is written too
		return d.loop(ctx)
	})
	return g.Wait()
}

func (d *dispatcher) loop(ctx context.Context) error {
	// What a dispatcher of the same SMSC before this one sent has left the queue only when it is applied.
	sync := func() error { return d.store.Sync(ctx) }
	if err := persist(ctx, d.log, "dispatcher", sync); err != nil && ctx.Err() == nil {
		return fmt.Errorf("dispatcher: %w", err)
	}
	for ctx.Err() == nil {
		d.listen(time.Now())
		changed := d.store.Changed()
		wait, err := d.round(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			d.goOn()
		case passing(err):
			wait = d.stand(err)
		default:
			return fmt.Errorf("dispatcher: %w", err)
		}
		if wait != nil {
			d.idle(ctx, wait, changed)
		}
	}
	return nil
}

// stand waits for what keeps a round from being made or recorded to be over. It is told once.
func (d *dispatcher) stand(err error) *waiting {
	if !d.stands {
		d.log.Error("nothing is sent for now", zap.Duration("retry", passingPause), zap.Error(err))
	}
	d.stands = true
	d.cursor = store.QueueCursor{} // what was not recorded as leaving is still to be sent
	return &waiting{until: time.Now().Add(passingPause)}
}

func (d *dispatcher) goOn() {
	if d.stands {
		d.log.Info("sending goes on")
	}
	d.stands = false
}

// waiting says what a round that sent nothing waits for.
type waiting struct {
	until time.Time // zero: no time
	queue bool      // a change of the queue ends it too
}

// idle waits for the end of w, for news from the answers, or for ctx.
func (d *dispatcher) idle(ctx context.Context, w *waiting, changed <-chan struct{}) {
	if !w.queue {
		changed = nil
	}
	until := w.until
	if look := time.Now().Add(clockEvery); d.undue && (until.IsZero() || look.Before(until)) {
		until = look
	}
	var due <-chan time.Time
	if !until.IsZero() {
		due = time.After(time.Until(until))
	}
	select {
	case <-ctx.Done():
	case <-d.answers.feedback.ready:
	case <-d.gate.turned:
	case <-d.tuned:
	case <-changed:
	case <-due:
	}
}

// round sends what may be sent now. When that was nothing, it says what to wait for.
func (d *dispatcher) round(ctx context.Context) (*waiting, error) {
	if d.undue && !d.clock.doubted() {
		d.undue = false
		d.lookAgain()
	}
	if d.gate.held() {
		return d.stay(), nil
	}
	if !d.room.sends() {
		return &waiting{until: time.Now().Add(passingPause)}, nil
	}
	n, wait := d.allowed(time.Now())
	if n == 0 {
		return wait, nil
	}
	began := time.Now()
	d.answers.awaited.Store(d.busy.Load())
	defer d.answers.awaited.Store(false)
	slots, err := d.client.Reserve(ctx, n)
	if err != nil || len(slots) == 0 {
		return nil, err
	}
	b := &batch{slots: slots, at: time.Now()}
	if b.at.Sub(began) > paceAhead { // it was not the pace that held anything up
		d.outlet.lapse(b.at)
	}
	defer func() { d.client.Release(b.slots...) }()
	d.listen(b.at) // the wait for slots may have been long
	if n, wait = d.allowed(b.at); n == 0 {
		return wait, nil
	}
	if wait, err = d.take(ctx, b, min(n, len(slots))); wait != nil || err != nil {
		return wait, err
	}
	return nil, d.write(b)
}

// take takes up to n parts off the queue and records that they leave.
func (d *dispatcher) take(ctx context.Context, b *batch, n int) (*waiting, error) {
	if err := d.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer d.gate.leave()
	if d.gate.held() {
		return d.stay(), nil
	}
	b.at = time.Now() // not before the end of a message that expired while the gate was shut
	queued, err := d.store.NextQueued(ctx, d.cfg.Name, b.at, &d.cursor, d.taken.has, n)
	if err != nil {
		return nil, err
	}
	d.busy.Store(len(queued) == n)
	if len(queued) == 0 {
		d.outlet.lapse(time.Now())
		due, _ := d.store.NextDue(d.cfg.Name, b.at)
		return &waiting{until: due, queue: true}, nil
	}
	b.grow(len(queued))
	for _, q := range queued {
		d.prepare(b, q)
	}
	return nil, d.record(ctx, b)
}

// stay waits while the queue is held.
func (d *dispatcher) stay() *waiting {
	d.busy.Store(false)
	return &waiting{}
}

// prepare makes the submit_sm of a part and its sent record, or the expired record of its message.
func (d *dispatcher) prepare(b *batch, q store.Queued) {
	m := q.Accepted
	if expired(m.ValidUntil, b.at) {
		if d.clock.doubted() { // neither sent nor ended until it is known what time it is
			d.undue = true
			d.passOver(q.Entry)
			return
		}
		b.add(q.Entry, &statemachine.QueueExpired{Message: m.Message})
		return
	}
	if q.TextGone {
		d.withhold(q, errTextGone)
		return
	}
	slot := b.slots[0]
	pdu, validUntil := submitSM(d.cfg, m, q.Entry.Part, slot.SequenceNumber, b.at)
	octets, err := smpp.AppendSubmitSM(d.encoded[:0], &pdu)
	if err != nil { // the API takes nothing that does not fit; the part waits for who finds out why it did
		d.withhold(q, err)
		return
	}
	d.encoded, octets = octets, bytes.Clone(octets)
	b.slots = b.slots[1:]
	a := attempt{
		ref: statemachine.AttemptRef{
			Message: m.Message, Part: q.Entry.Part, Attempt: q.Attempts + 1,
		},
		dest: m.Dest.Addr, sentAt: b.at, validUntil: m.ValidUntil, probe: d.pause.on(), parts: len(m.Parts),
	}
	b.submits = append(b.submits, smpp.Submit{Slot: slot, PDU: octets, Done: func(outcome smpp.Answer) {
		d.answers.in.put(answer{a, outcome})
	}})
	b.add(q.Entry, &statemachine.Sent{
		Message: a.ref.Message, Part: a.ref.Part, Attempt: a.ref.Attempt, SMSC: d.cfg.Name,
		Session: slot.Session, SequenceNumber: slot.SequenceNumber, ValidUntil: validUntil, PDU: octets,
		UserMessageReference: messageReference(d.cfg, slot.SequenceNumber),
	})
}

// expired reports whether a validity is over; a zero one never is.
func expired(validUntil, now time.Time) bool {
	return !validUntil.IsZero() && !now.Before(validUntil)
}

// record makes the batch's records durable. ctx does not end it halfway: what is recorded as leaving
// leaves. The answers that freed the batch's slots are recorded before it, so that whenever the process ends
// no more than a window is found without an answer, and no part leaves of a message that they failed.
func (d *dispatcher) record(ctx context.Context, b *batch) error {
	if len(b.facts) == 0 {
		return nil
	}
	var appended func() ([]statemachine.Record, error)
	err := d.answers.recordBefore(func() (err error) {
		if d.answers.failed.any() {
			for _, entry := range b.leaveOut(d.answers.failed.has) {
				d.passOver(entry)
			}
		}
		appended, err = d.store.BeginAppend(context.WithoutCancel(ctx), b.facts...)
		return err
	})
	var records []statemachine.Record
	if err == nil {
		records, err = appended()
	}
	if err != nil {
		for i := range b.submits {
			b.slots = append(b.slots, b.submits[i].Slot)
		}
		return err
	}
	for i, entry := range b.entries {
		d.taken.add(entry, records[i].Seq)
	}
	return nil
}

// write writes the batch's PDUs, whose records are durable. A hold may have come since, and has recalled only
// what was at the outlet by then.
func (d *dispatcher) write(b *batch) error {
	if len(b.submits) == 0 {
		return nil
	}
	if d.gate.held() {
		d.outlet.handBack(b.submits)
		return nil
	}
	if d.pause.tried(time.Now()) {
		d.tellPause()
	}
	err := d.outlet.put(b.submits)
	if d.gate.held() {
		d.outlet.recall()
	}
	return err
}

// allowed is how many submits pause and outlet let through now; when 0, what to wait for.
func (d *dispatcher) allowed(now time.Time) (int, *waiting) {
	most, until := d.pause.allow(now)
	if most == 0 {
		return 0, &waiting{until: until}
	}
	n, wait := d.outlet.room(now, most)
	if n == 0 {
		return 0, &waiting{until: now.Add(wait)}
	}
	return n, nil
}

// tellPause tells those who ask how long the queue pauses.
func (d *dispatcher) tellPause() {
	d.paused.Store(nil)
	if p := d.pause; p.on() {
		d.paused.Store(&p)
	}
}

// listen takes what answers said about the SMSC, and forgets parts that left the queue.
func (d *dispatcher) listen(now time.Time) {
	applied := d.store.Applied()
	d.taken.forget(applied)
	if d.answers.failed.forget(applied) {
		d.lookAgain() // what was left out may wait all the same
	}
	for _, f := range d.answers.feedback.take() {
		switch f.refusal {
		case refusedThrottled:
			d.outlet.throttled(now, f.sentAt)
		case refusedPaused:
			if d.pause.begin(now) {
				d.tellPause()
				d.log.Error("queue paused: the SMSC takes nothing", zap.Duration("retry", probeEvery))
			}
		default:
			if d.pause.end(f.sentAt) {
				d.tellPause()
				d.log.Info("queue goes on")
			}
		}
	}
}
