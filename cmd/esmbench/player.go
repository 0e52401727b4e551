package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"esmed/statemachine"
	"esmed/store"
)

// How lives overlap, in messages.
const (
	sentBehind     = 16      // a message leaves when so many more are accepted
	answeredBehind = 64      // the SMSC answers
	underWay       = 1 << 14 // whose receipts come in any order
)

// silent is a message that no receipt will come for.
type silent struct {
	id statemachine.ID
	at time.Time // when it was answered
}

// tempo is how far time goes on at most before all that was begun is in the log: a record's time is not the one at
// which it was handed over, but that of its commit.
const tempo = 2 * time.Hour

// life is a message that the player has begun.
type life struct {
	number   int
	id       statemachine.ID
	external string
	dest     string
	at       time.Time // when it was accepted
}

// player lives the lives of a filling.
type player struct {
	*filling
	store      *store.Store
	clock      *atomic.Int64 // nanoseconds; the store's
	start, end time.Time

	random  *rand.Rand
	entropy *ulid.MonotonicEntropy
	recent  [2 * answeredBehind]life // by number
	waiting []life                   // for their receipts
	silent  []silent                 // oldest first

	caughtUp time.Time      // when all was last in the log
	posted   sync.WaitGroup // facts that are not in the log

	mu     sync.Mutex
	failed error // the first
}

func newPlayer(f *filling, s *store.Store, clock *atomic.Int64, start, end time.Time) *player {
	seed := [32]byte{1}
	return &player{
		filling: f, store: s, clock: clock, start: start, end: end,
		caughtUp: start, random: rand.New(rand.NewChaCha8(seed)), entropy: ulid.Monotonic(rand.NewChaCha8(seed), 0),
	}
}

func (p *player) play(ctx context.Context) error {
	if _, err := p.store.SetRules(ctx, p.rules()); err != nil {
		return err
	}
	total := p.messages + p.queued
	for n := range total + answeredBehind {
		if err := p.step(ctx, n, total); err != nil {
			return err
		}
	}
	for len(p.waiting) > 0 {
		if err := p.report(ctx); err != nil {
			return err
		}
	}
	if err := p.store.Sync(ctx); err != nil {
		return err
	}
	return p.failure()
}

// step accepts the message with a number, and does what others behind it have waited for.
func (p *player) step(ctx context.Context, n, total int) error {
	if err := errors.Join(p.failure(), ctx.Err()); err != nil {
		return err
	}
	if n < total {
		now := p.start.Add(time.Duration(float64(p.end.Sub(p.start)) * float64(n) / float64(total)))
		p.goOn(now)
		if err := errors.Join(p.giveUp(ctx, now), p.accept(ctx, n, now)); err != nil {
			return err
		}
	}
	if i := n - sentBehind; i >= 0 && i < p.messages {
		if err := p.post(ctx, p.sent(&p.recent[i%len(p.recent)])); err != nil {
			return err
		}
	}
	if i := n - answeredBehind; i >= 0 && i < p.messages {
		return p.answer(ctx, p.recent[i%len(p.recent)])
	}
	return nil
}

// goOn lets time go on.
func (p *player) goOn(now time.Time) {
	if now.Sub(p.caughtUp) >= tempo {
		p.posted.Wait()
		p.caughtUp = now
	}
	p.clock.Store(now.UnixNano())
}

// accept begins a life.
func (p *player) accept(ctx context.Context, n int, now time.Time) error {
	l := life{number: n, id: statemachine.ID(ulid.MustNew(ulid.Timestamp(now), p.entropy).String()), at: now}
	l.dest = fmt.Sprintf("39%010d", (3_330_000_000+n*7919)%10_000_000_000)
	l.external = strings.ToUpper(strconv.FormatInt(int64(n)+1, 16))
	if p.ids == idsUUID {
		a, b := p.random.Uint64(), p.random.Uint64()
		l.external = fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xFFFF, a&0xFFF, b>>48&0x3FFF|0x8000, b&0xFFFFFFFFFFFF)
	}
	p.recent[n%len(p.recent)] = l
	p.posted.Add(1)
	err := p.store.AcceptPost(ctx, p.accepted(&l), func(_ store.Acceptance, err error) { p.done(err) })
	if err != nil {
		p.posted.Done()
	}
	return err
}

// answer takes the SMSC's answer; what is under way for long enough is reported.
func (p *player) answer(ctx context.Context, l life) error {
	if err := p.post(ctx, p.submitResp(&l)); err != nil {
		return err
	}
	if p.random.Float64() < p.open {
		p.silent = append(p.silent, silent{l.id, time.Unix(0, p.clock.Load())})
		return nil
	}
	if p.waiting = append(p.waiting, l); len(p.waiting) <= underWay {
		return nil
	}
	return p.report(ctx)
}

// report brings the receipt of any message that waits for one.
func (p *player) report(ctx context.Context) error {
	i, last := p.random.IntN(len(p.waiting)), len(p.waiting)-1
	l := p.waiting[i]
	p.waiting[i] = p.waiting[last]
	p.waiting = p.waiting[:last]
	return p.post(ctx, p.reception(&l))
}

// giveUp ends the windows that are over, whatever tempo did to the times of their records.
func (p *player) giveUp(ctx context.Context, now time.Time) error {
	for len(p.silent) > 0 && p.silent[0].at.Add(deliveryWindow+2*tempo).Before(now) {
		if err := p.post(ctx, &statemachine.Cutoff{Message: p.silent[0].id, Part: 1}); err != nil {
			return err
		}
		p.silent = p.silent[1:]
	}
	return nil
}

func (p *player) post(ctx context.Context, fact statemachine.Fact) error {
	p.posted.Add(1)
	err := p.store.Post(ctx, fact, func(_ statemachine.Record, err error) { p.done(err) })
	if err != nil {
		p.posted.Done()
	}
	return err
}

func (p *player) done(err error) {
	defer p.posted.Done()
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
}

func (p *player) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}
