package lives

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"esmed/smpp/smpptest"
)

// Load says what is put on the daemon. Exactly one of Socket and Listen is needed, and Status.
type Load struct {
	Socket string // the API's socket
	Listen string // or its address, host:port
	Token  string // of Listen
	Status string // what "smscsim serve --status-file" writes

	PID     int    // of the daemon, for CPU, memory and octets written; 0: without these
	DataDir string // of the daemon, for octets stored; "": without

	Lives    int           // how many; 0: as many as Duration allows
	Duration time.Duration // of submitting; 0: until all Lives are submitted
	Rate     int           // submissions a second; 0: as many as are taken

	Clients    int // so many send single requests, each waiting for its answer; 0: one batch
	Unanswered int // submissions of a batch that may wait for their results; 0 = 4096
	Ahead      int // submissions hold back while so many accepted lives are not done; 0: they do not

	Probes int           // lives a second that are asked for until they are final; 0: none
	Scrape time.Duration // between looks at /metrics during the run; 0: only before and after
	Quiet  time.Duration // it is given up when no life has ended for so long; 0 = 30s
}

const (
	defaultUnanswered = 4096
	defaultQuiet      = 30 * time.Second
)

// Validate says what is missing or contradictory, joined.
func (l Load) Validate() error {
	var errs []error
	if (l.Socket == "") == (l.Listen == "") {
		errs = append(errs, errors.New("one of socket and listen is needed"))
	}
	if l.Status == "" {
		errs = append(errs, errors.New("the simulator's status file is needed"))
	}
	if l.Lives <= 0 && l.Duration <= 0 {
		errs = append(errs, errors.New("a number of lives or a duration is needed"))
	}
	for name, n := range map[string]int{"rate": l.Rate, "clients": l.Clients, "unanswered": l.Unanswered, "ahead": l.Ahead, "probes": l.Probes} {
		if n < 0 {
			errs = append(errs, fmt.Errorf("%s: must not be below 0 (got %d)", name, n))
		}
	}
	return errors.Join(errs...)
}

// loader is a Load at work.
type loader struct {
	Load
	api    *api
	maker  maker
	tally  tally
	pace   *pace
	probes *probes
	done   atomic.Uint64 // lives of this run whose receipt the SMSC has an answer to
}

// Run submits, waits until every life has ended, and measures. The error says why there is no Result; a
// Result that does not add up is none, see Result.Wrong. ctx ends it early, with an error.
func (l Load) Run(ctx context.Context) (Result, error) {
	if err := l.Validate(); err != nil {
		return Result{}, fmt.Errorf("lives: %w", err)
	}
	l.Unanswered, l.Quiet = cmp.Or(l.Unanswered, defaultUnanswered), cmp.Or(l.Quiet, defaultQuiet)
	w := &loader{Load: l, api: newAPI(l), tally: tally{refused: map[int]uint64{}}}
	defer w.api.close()
	r, err := w.run(ctx)
	if err != nil {
		return r, fmt.Errorf("lives: %w", err)
	}
	return r, nil
}

func (l *loader) run(ctx context.Context) (Result, error) {
	start := time.Now()
	before, err := l.look(ctx, start)
	if err != nil {
		return Result{}, err
	}
	if before.smsc.Pending > 0 {
		return Result{}, fmt.Errorf("the simulator has %d requests from before on their way", before.smsc.Pending)
	}
	start = time.Now()
	l.maker = maker{run: strconv.FormatInt(start.UnixMicro(), 36)}
	l.pace = newPace(l.Load, start)
	l.probes = newProbes(l.api, l.Probes)
	watch := newWatch(l)
	if err := l.work(ctx, before, watch); err != nil {
		return Result{}, err
	}
	after, err := l.look(ctx, before.hour)
	if err != nil {
		return Result{}, err
	}
	return l.result(start, before, after, watch), nil
}

// work submits and waits until all has ended, while others watch.
func (l *loader) work(ctx context.Context, before look, watch *watch) error {
	g, ctx := errgroup.WithContext(ctx)
	over, finish := context.WithCancel(ctx)
	defer finish()
	g.Go(func() error { return watch.run(over) })
	g.Go(func() error { return l.probes.run(over) })
	g.Go(func() error { return l.follow(over, before.smsc) })
	g.Go(func() error {
		defer finish()
		if err := l.submit(ctx); err != nil {
			return err
		}
		return l.awaitLast(ctx, before.smsc)
	})
	return g.Wait()
}

func (l *loader) submit(ctx context.Context) error {
	if l.Clients > 0 {
		return l.postAll(ctx)
	}
	return l.batch(ctx)
}

// StatusEvery is how often the simulator's status file is written, and read.
const StatusEvery = 200 * time.Millisecond

// follow keeps done as the simulator has it, for who holds back. It fails when no life ends while some
// are held back for.
func (l *loader) follow(ctx context.Context, before smscStatus) error {
	if l.Ahead == 0 {
		return nil
	}
	since := time.Now()
	return Every(ctx, StatusEvery, func() error {
		st, err := readStatus(l.Status)
		if err != nil {
			return err
		}
		done := st.Finals - before.Finals
		accepted, _ := l.tally.counts()
		if done != l.done.Load() || accepted < done+uint64(l.Ahead) {
			since = time.Now()
		}
		if time.Since(since) > l.Quiet {
			return fmt.Errorf("no life has ended for %s, and %d wait", l.Quiet, accepted-done)
		}
		l.done.Store(done)
		l.pace.wake()
		return nil
	})
}

// awaitLast returns when all that was accepted has had its receipt acknowledged, or when nothing more
// comes: what is missing then shows in the Result.
func (l *loader) awaitLast(ctx context.Context, before smscStatus) error {
	accepted, _ := l.tally.counts()
	var last smpptest.Stats
	since := time.Now()
	tick := time.NewTicker(StatusEvery / 4)
	defer tick.Stop()
	for {
		st, err := readStatus(l.Status)
		if err != nil {
			return err
		}
		if st.Finals-before.Finals >= accepted && st.Pending == 0 {
			return nil
		}
		if st.Acked != last.Acked || st.Submits != last.Submits {
			last, since = st.Stats, time.Now()
		}
		if time.Since(since) > l.Quiet {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// Every calls f now and at the interval, until ctx ends or f fails.
func Every(ctx context.Context, interval time.Duration, f func() error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := f(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
