package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	// maxHeld is how many parts of an SMSC may wait to be asked about. The windows of more end unasked.
	maxHeld = 4096
	// queryPatience is how long a part may wait for its turn and its answers, unbound or not, before its
	// window ends without them.
	queryPatience = 10 * time.Minute
	// queryTries is how often a query_sm is sent that is not answered, or refused for now.
	queryTries = 2
	// queryAgain is the pause before it is sent again.
	queryAgain = 5 * time.Second

	// Queries never compete with submits: no more of them are outstanding than a tenth of window, besides
	// it, and no more are sent than a tenth of throughput, or a hundredth while submits wait.
	maxQueries      = 4   // outstanding, however large window is
	maxQueryRate    = 20. // a second, however large throughput is
	queryShare      = .1
	queryShareOfOne = .1 // of that rate while submits wait
)

// queries asks an SMSC with query_overdue about parts whose window ended (query_sm, SMPP v3.4 §4.8), records
// what it answers, which is evidence, and then ends the windows of those that are still open.
type queries struct {
	cfg     *config.SMSC
	store   *store.Store
	asks    *inquirer
	busy    func() bool // submits wait
	doubted func() bool // the clock is
	log     *zap.Logger

	tuned   atomic.Pointer[config.SMSC] // throughput and retry as they are now
	waiting chan held

	mu   sync.Mutex
	held map[partKey]struct{} // those that wait, or are asked about
	next time.Time            // when the next query may leave
}

type partKey struct {
	message statemachine.ID
	part    int
}

// held is a part that waits to be asked about.
type held struct {
	key   partKey
	until time.Time // end of its patience
}

func newQueries(asks *inquirer, busy, doubted func() bool, log *zap.Logger) *queries {
	q := &queries{
		cfg: asks.cfg, store: asks.store, asks: asks, busy: busy, doubted: doubted, log: log,
		waiting: make(chan held, maxHeld), held: map[partKey]struct{}{},
	}
	q.tuned.Store(asks.cfg)
	return q
}

// hold takes a part whose window ended. False: its window is to be ended unasked, since too many wait.
func (q *queries) hold(d store.Due) bool {
	key := partKey{d.Message, d.Part}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, known := q.held[key]; known {
		return true
	}
	select {
	case q.waiting <- held{key, time.Now().Add(queryPatience)}:
		q.held[key] = struct{}{}
		return true
	default:
		return false
	}
}

// run asks until ctx is done. What waits then is taken up by the next daemon. An error is the store's.
func (q *queries) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range min(max(q.cfg.Window/10, 1), maxQueries) {
		g.Go(func() error { return q.lane(ctx) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

// lane asks about one part after the other.
func (q *queries) lane(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case h := <-q.waiting:
			err := q.settle(ctx, h)
			q.release(h.key)
			if err != nil && ctx.Err() == nil && !passing(err) {
				return err
			}
		}
	}
}

func (q *queries) release(key partKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.held, key)
}

// settle asks about each attempt of a part that has an id, until something final is known, and else ends
// the part's window.
func (q *queries) settle(ctx context.Context, h held) error {
	m, p, err := q.open(ctx, h.key)
	if err != nil || p == nil {
		return err
	}
	attempts := p.Attempts
	if !p.Asked { // nobody promised to know
		attempts = nil
	}
	for i := range attempts {
		id, err := q.asks.messageID(ctx, &attempts[i])
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		if err := q.ask(ctx, h, m, &attempts[i], id); err != nil {
			return err
		}
		if _, p, err = q.open(ctx, h.key); err != nil || p == nil {
			return err
		}
	}
	if ctx.Err() != nil || q.doubted() {
		return nil // it is found again
	}
	_, err = q.store.Append(ctx, &statemachine.Cutoff{Message: h.key.message, Part: h.key.part})
	return err
}

// open gives a part whose window is over and that nothing final is known of; nil when there is none (any
// more).
func (q *queries) open(ctx context.Context, key partKey) (*statemachine.Message, *statemachine.Part, error) {
	m, err := q.store.Message(ctx, key.message)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return nil, nil, err
	}
	p := m.Part(key.part)
	if p == nil || p.Closed() || p.State != statemachine.Submitted && !p.State.Reported() || p.WindowEnd.After(time.Now()) {
		return m, nil, nil
	}
	return m, p, nil
}

// ask sends the query_sm, a second time if it is not answered or refused for now.
func (q *queries) ask(ctx context.Context, h held, m *statemachine.Message, a *statemachine.Attempt, id string) error {
	about := statemachine.AttemptRef{Message: h.key.message, Part: h.key.part, Attempt: a.Number}
	for try := 1; ; try++ {
		answer, err := q.request(ctx, h, m, about, id)
		switch {
		case errors.Is(err, errUnasked):
			q.log.Debug("not asked", zap.String("id", string(h.key.message)), zap.Int("part", h.key.part), zap.Error(err))
			return nil // its window ends without an answer
		case err != nil:
			return err
		case answer.Outcome == smpp.Answered && !classify(q.tuned.Load().Retry, answer.CommandStatus).temporary():
			return nil
		}
		q.log.Debug("query_sm without an answer that says something", zap.String("id", string(h.key.message)), zap.Int("part", h.key.part),
			zap.Stringer("outcome", answer.Outcome), zap.Stringer("command_status", answer.CommandStatus), zap.Int("try", try))
		if try == queryTries || !rest(ctx, queryAgain) {
			return nil
		}
	}
}

// request waits for the query's turn and then for its outcome.
func (q *queries) request(ctx context.Context, h held, m *statemachine.Message, about statemachine.AttemptRef, id string) (reply, error) {
	ctx, cancel := context.WithDeadline(ctx, h.until)
	defer cancel()
	if !rest(ctx, q.turn(time.Now())) {
		return reply{}, fmt.Errorf("%w: %w", errUnasked, ctx.Err())
	}
	return q.asks.query(ctx, m, about, id)
}

// turn takes the next turn to send a query, and says how long it is until then.
func (q *queries) turn(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next.Before(now) {
		q.next = now
	}
	wait := q.next.Sub(now)
	q.next = q.next.Add(q.interval())
	return wait
}

// interval is the time between two queries.
func (q *queries) interval() time.Duration {
	rate := maxQueryRate
	if limit := q.tuned.Load().Throughput; limit > 0 {
		rate = min(rate, limit*queryShare)
	}
	if q.busy() {
		rate *= queryShareOfOne
	}
	return time.Duration(float64(time.Second) / rate)
}

// rest waits, and reports whether ctx let it.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
