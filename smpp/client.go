package smpp

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Client keeps one or several sessions to one SMSC up, such as a transmitter and a receiver, or three
// transceivers. What is sent is spread over those that can send, by their free slots. Its methods but Run
// may be called from any goroutine.
type Client struct {
	keepers  []*keeper
	pool     pool
	requests chan outgoing // taken by any session that can send
	closed   chan struct{} // Run has returned
}

// New makes a client with a session for each of cfgs; Run brings it to life. The sessions' names are to
// differ.
func New(cfgs ...Config) *Client {
	c := &Client{requests: make(chan outgoing), closed: make(chan struct{})}
	for _, cfg := range cfgs {
		c.keepers = append(c.keepers, newKeeper(cfg.withDefaults(), &c.pool, c.requests))
	}
	return c
}

// Run dials and binds each session, and does so again whenever it ends, until ctx is done; then it takes
// no new submits, waits up to Config.ShutdownTimeout for each window to drain, unbinds, closes and returns
// nil. It is called once. An error is that of a configuration that can never work.
func (c *Client) Run(ctx context.Context) error {
	defer close(c.closed)
	for _, k := range c.keepers {
		if err := k.cfg.validate(); err != nil {
			return err
		}
	}
	var g errgroup.Group
	for _, k := range c.keepers {
		g.Go(func() error { k.run(ctx); return nil })
	}
	return g.Wait()
}

// Reserve waits until there is a free slot in the window of a session that is bound to send and whose
// connection takes what is written, and gives at least one slot and at most n. They come from the sessions
// with most free slots, in turn. Each is to be used with Send or given back with Release. Its errors are
// ctx's and ErrClosed. A Receiver never has a slot.
func (c *Client) Reserve(ctx context.Context, n int) ([]Slot, error) {
	return c.pool.reserve(ctx, n, c.closed)
}

// Send hands encoded submit_sm's to the sessions that reserved their slots; those of one session go out in
// one write. It does not block. Each Done is called as Submit says; if the session is gone, or the slot was
// used or given back before, with NotWritten and before Send returns. An error means that an entry is not a
// submit_sm with its slot's number or has no Done: nothing was sent then, and the slots are still the
// caller's.
func (c *Client) Send(batch []Submit) error {
	for i := range batch {
		if err := batch[i].check(); err != nil {
			return err
		}
	}
	for _, s := range c.pool.send(batch) {
		s.notWritten()
	}
	return nil
}

// Release gives back slots that will not be used. It does not block. Those of a session that is gone are
// gone with it.
func (c *Client) Release(slots ...Slot) { c.pool.release(slots) }

// Request sends a query_sm or cancel_sm, outside the window, over any session that is bound to send, and
// waits for its outcome. p's sequence number is not read. ctx bounds the wait for a session; from then on
// the outcome comes within Config.ResponseTimeout, and is waited for, since it is evidence. The error is nil
// where there is an Answer, whatever its Outcome; else ctx's, ErrClosed, or the encoder's.
func (c *Client) Request(ctx context.Context, p PDU) (Answer, error) {
	if id := commandOf(p); id != CommandQuerySM && id != CommandCancelSM {
		return Answer{}, fmt.Errorf("smpp: %s is not sent as a request", id)
	}
	pdu, err := Append(nil, p)
	if err != nil {
		return Answer{}, err
	}
	o := outgoing{pdu: pdu, reply: make(chan Answer, 1)}
	select {
	case c.requests <- o:
		return <-o.reply, nil
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	case <-c.closed:
		return Answer{}, ErrClosed
	}
}

// Rebind ends the bound session of that name, gracefully, and binds again; reason is for the log and the
// event. It does not block, and may be called from a Done.
func (c *Client) Rebind(session, reason string) {
	for _, k := range c.keepers {
		if k.cfg.Name == session {
			order(k.rebind, reason)
		}
	}
}

// Abort cuts the sessions that there are now, without draining or unbinding: what is outstanding is handed
// back as Lost. With Run's context done it is how to end at once; else Run binds again. It does not block.
func (c *Client) Abort(reason string) {
	for _, k := range c.keepers {
		order(k.abort, reason)
	}
}

// Stop ends the sessions gracefully and keeps them closed until Start. It does not wait: Stop and then
// Start ends each session that there is and binds anew when it has ended.
func (c *Client) Stop() {
	for _, k := range c.keepers {
		k.stop()
	}
}

// Start undoes Stop. Without one it ends the pauses before the next attempts.
func (c *Client) Start() {
	for _, k := range c.keepers {
		k.start()
	}
}

// Status is what the sessions are doing, in the order of New's configurations.
func (c *Client) Status() []SessionStatus {
	all := make([]SessionStatus, len(c.keepers))
	for i, k := range c.keepers {
		all[i] = k.told()
	}
	return all
}
