package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"esmed/statemachine"
)

// Config is what an API is made of. Reception and StatusName are needed, and SMSCs where there is a
// Submitter.
type Config struct {
	Backend

	SMSCs            []SMSC
	DefaultSMSC      string   // for submissions that name none; "" = the only one, if there is one
	CallbackPrefixes []string // what a callback_url may begin with; none = refused

	InboxOlderThan time.Duration // inbox rows show as unmatched exceptions from this age on

	Reception  ReadReception
	StatusName func(commandStatus uint32) string // "ESME_ROK"

	Metrics http.Handler                // /metrics; nil = there is none
	Ready   func(context.Context) error // nil = always; an error's text is shown by /readyz
	Version string                      // of esmed, for the OpenAPI document
	Now     func() time.Time            // nil = time.Now
	// Fault is told what a caller was answered 500 for, and Pressed that a submission was answered 429; nil = nobody
	// is. They may be called concurrently.
	Fault   func(operation string, err error)
	Pressed func()
}

// API is the HTTP API as an http.Handler. It is safe for concurrent use.
type API struct {
	cfg    Config
	router *router
	ids    *ids
	submit atomic.Pointer[reader]
	render renderer

	rooms    postRooms
	pressure pressure
	refused  atomic.Int64  // Retry-After of refused submits, ns; 0 = they are taken
	ended    chan struct{} // closed by EndStreams
	endOnce  sync.Once
}

// New makes an API. It fails on a Config that cannot work, and with a Submitter when the backend cannot
// say which message is the newest: the ids of new ones are greater.
func New(cfg Config) (*API, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Fault == nil {
		cfg.Fault = func(string, error) {}
	}
	if cfg.Pressed == nil {
		cfg.Pressed = func() {}
	}
	a := &API{
		cfg:    cfg,
		render: renderer{statusName: cfg.StatusName, reception: cfg.Reception},
		ended:  make(chan struct{}),
	}
	newest, err := cfg.newest()
	if err != nil {
		return nil, fmt.Errorf("control: the newest message: %w", err)
	}
	a.ids = newIDs(newest)
	a.submit.Store(newReader(cfg, a.ids))
	return a, a.route()
}

// newest is the id of the newest message; "" when there is none or none will be added.
func (c Config) newest() (statemachine.ID, error) {
	if c.Submit == nil {
		return "", nil
	}
	page, _, err := c.Messages.Messages(context.Background(), MessageFilter{Limit: 1})
	if err != nil || len(page) == 0 {
		return "", err
	}
	return page[0].ID, nil
}

// SetSMSCs changes the SMSCs that messages may be submitted to, as Config.SMSCs and DefaultSMSC say at
// first. Submissions that are being read are not touched.
func (a *API) SetSMSCs(smscs []SMSC, defaultSMSC string) {
	cfg := a.cfg
	cfg.SMSCs, cfg.DefaultSMSC = smscs, defaultSMSC
	a.submit.Store(newReader(cfg, a.ids))
}

func (c Config) validate() error {
	if c.Messages == nil || c.Log == nil || c.Inbox == nil || c.Exceptions == nil || c.Evidence == nil || c.Report == nil {
		return errors.New("the backend lacks a reader")
	}
	if c.Reception == nil || c.StatusName == nil {
		return errors.New("nothing reads PDUs or names statuses")
	}
	seen := map[string]bool{}
	for _, s := range c.SMSCs {
		if s.Name == "" || seen[s.Name] {
			return fmt.Errorf("SMSC %q has no name or that of another", s.Name)
		}
		seen[s.Name] = true
	}
	if c.DefaultSMSC != "" && !seen[c.DefaultSMSC] {
		return fmt.Errorf("the default SMSC %q is not one of the SMSCs", c.DefaultSMSC)
	}
	return nil
}

// ServeHTTP answers a request. Its caller is known from the context that Server or NewInProcess made.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.router.ServeHTTP(w, r) }

// RefuseSubmits answers submits 503 from now on, also the further lines of batches, and names the time
// after which to try again. Reads go on.
func (a *API) RefuseSubmits(retryAfter time.Duration) {
	a.refused.Store(int64(max(retryAfter, time.Second)))
}

// EndStreams ends followers of the log and waits for a final state, which would hold up a stop.
func (a *API) EndStreams() { a.endOnce.Do(func() { close(a.ended) }) }

// taking is nil while submits are taken.
func (a *API) taking() *Problem {
	if a.cfg.Submit == nil {
		return newProblem(http.StatusServiceUnavailable, "the store is open for reading only",
			"start the daemon: esmed run --config FILE")
	}
	if after := time.Duration(a.refused.Load()); after > 0 {
		p := newProblem(http.StatusServiceUnavailable, "the daemon is stopping", "submit again when it is back")
		p.retryAfter = after
		return p
	}
	return nil
}

// problemOf turns any error of a handler into what the caller is answered. Texts of our own faults go to
// Fault, not to the caller.
func (a *API) problemOf(operation string, err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, ErrNotFound):
		return newProblem(http.StatusNotFound, "nothing has this id", "")
	case errors.Is(err, ErrRefConflict):
		return newProblem(http.StatusConflict, "this ref or Idempotency-Key was used before, for another message",
			"repeat the first message exactly, or choose a new ref")
	case errors.Is(err, ErrNoHead):
		return badQuery("head", "no chain head has that seq; the daemon's log names one every hour")
	case errors.Is(err, ErrConfiguration):
		return newProblem(http.StatusUnprocessableEntity, strings.TrimPrefix(err.Error(), "control: "), "correct it: esmed config check tells what is wrong")
	case errors.Is(err, ErrBusy):
		return newProblem(http.StatusConflict, "somebody else has this done just now", "wait for it to end: the daemon's log says who and how far")
	case errors.Is(err, ErrNoRoom):
		a.cfg.Pressed()
		return noRoom()
	case errors.Is(err, ErrDiskFull):
		return newProblem(http.StatusInsufficientStorage, "the disk is nearly full", "free space under data_dir (esmed store stat says what takes it), then try again: nothing was accepted")
	case errors.Is(err, ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		p := newProblem(http.StatusServiceUnavailable, "the store does not answer", "try again; if it stays so, see the daemon's log")
		p.retryAfter = time.Second
		return p
	case errors.Is(err, ErrDamaged):
		a.cfg.Fault(operation, err)
		return newProblem(http.StatusInternalServerError, strings.TrimPrefix(err.Error(), "control: "),
			"keep a copy of data_dir before anything else is done to it; esmed verify says more, and esmed help guarantees what to expect of it")
	default:
		a.cfg.Fault(operation, err)
		return newProblem(http.StatusInternalServerError, "this is a fault of ours", "see the daemon's log")
	}
}
