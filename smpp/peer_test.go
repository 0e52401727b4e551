package smpp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// elapse lets d pass on a bubble's clock.
func elapse(d time.Duration) { <-time.After(d) }

// peer is the SMSC's end of a connection, moved by hand.
type peer struct {
	t    testing.TB
	conn net.Conn
	fr   *FrameReader
}

func newPeer(t testing.TB, conn net.Conn) *peer {
	return &peer{t: t, conn: conn, fr: NewFrameReader(conn, MaxCommandLength)}
}

// next reads one PDU, which must be of the kind id.
func (p *peer) next(id CommandID) Frame {
	p.t.Helper()
	f, err := p.fr.Next()
	require.NoError(p.t, err)
	require.Equal(p.t, id.String(), f.CommandID.String())
	return f
}

// gone reads until our end has closed the connection.
func (p *peer) gone() {
	p.t.Helper()
	for {
		f, err := p.fr.Next()
		if err == nil {
			require.Equal(p.t, CommandUnbind.String(), f.CommandID.String(), "nothing but unbind may come before the end")
			continue
		}
		require.True(p.t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe), "%v", err)
		return
	}
}

func (p *peer) write(octets ...[]byte) {
	p.t.Helper()
	for _, b := range octets {
		_, err := p.conn.Write(b)
		require.NoError(p.t, err)
	}
}

// send writes a PDU.
func (p *peer) send(pdu PDU) {
	p.t.Helper()
	p.write(encode(p.t, pdu))
}

// bind takes the bind and accepts it.
func (p *peer) bind() {
	p.t.Helper()
	f := p.next(CommandBindTransceiver)
	p.send(&BindResp{Header: respHeader(f.Header, StatusOK), SystemID: "smsc"})
}

// unbind takes the unbind and answers it.
func (p *peer) unbind() {
	p.t.Helper()
	p.write(AppendResponse(nil, CommandUnbind, StatusOK, p.next(CommandUnbind).SequenceNumber))
}

func respHeader(h Header, status Status) Header {
	return Header{CommandID: h.CommandID.Response(), CommandStatus: status, SequenceNumber: h.SequenceNumber}
}

func encode(t testing.TB, p PDU) []byte {
	t.Helper()
	b, err := Append(nil, p)
	require.NoError(t, err)
	return b
}

func submitResp(seq uint32, id string) []byte {
	b, err := Append(nil, &SubmitSMResp{Header: Header{SequenceNumber: seq}, MessageID: id})
	if err != nil {
		panic(err)
	}
	return b
}

func deliverSM(seq uint32, text string) *DeliverSM {
	return &DeliverSM{Header: Header{SequenceNumber: seq}, Source: Address{1, 1, "393331234567"}, Dest: Address{5, 0, "ACME"}, ESMClass: 4, ShortMessage: []byte(text)}
}

// recorder is a Handler that keeps what it is told and answers at once, unless hold is set.
type recorder struct {
	hold     bool
	events   chan Event
	requests chan *Request
}

func newRecorder() *recorder {
	return &recorder{events: make(chan Event, 1000), requests: make(chan *Request, 10000)}
}

func (r *recorder) Session(e Event) { r.events <- e }

func (r *recorder) Received(q *Request) {
	if !r.hold {
		q.Respond(StatusOK)
	}
	r.requests <- q
}

// event waits for the next event, which must be of the kind.
func (r *recorder) event(t testing.TB, kind EventKind) Event {
	t.Helper()
	e := <-r.events
	require.Equal(t, kind.String(), e.Kind.String(), "%s %v", e.Reason, e.Err)
	return e
}

// rig is a client's session whose connections end at peers moved by hand.
type rig struct {
	t       testing.TB
	client  *Client
	number  int // of the session
	mode    BindMode
	handler *recorder
	conns   chan net.Conn
	cancel  context.CancelFunc
	group   *errgroup.Group
}

// newRig runs a client of one session over net.Pipe; change may change its configuration.
func newRig(t testing.TB, change func(*Config)) *rig {
	return newRigs(t, 1, func(_ int, c *Config) {
		if change != nil {
			change(c)
		}
	})[0]
}

// newRigs runs one client of n sessions.
func newRigs(t testing.TB, n int, change func(number int, c *Config)) []*rig {
	rigs, cfgs := make([]*rig, n), make([]Config, n)
	for i := range n {
		r := &rig{t: t, number: i, handler: newRecorder(), conns: make(chan net.Conn)}
		cfgs[i] = Config{
			Name:        fmt.Sprintf("alpha/%d", i+1),
			Addrs:       []string{"smsc:2775"},
			Bind:        BindConfig{SystemID: "esme", Password: "secret"},
			EnquireLink: 30 * time.Second,
			Handler:     r.handler,
			Dial: func(ctx context.Context, _ string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				select {
				case r.conns <- theirs:
					return ours, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			},
		}
		change(i, &cfgs[i])
		r.mode = cfgs[i].Bind.Mode
		rigs[i] = r
	}
	client, group := New(cfgs...), new(errgroup.Group)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	group.Go(func() error { return client.Run(ctx) })
	for _, r := range rigs {
		r.client, r.cancel, r.group = client, cancel, group
	}
	return rigs
}

// accept is the SMSC's end of the next connection.
func (r *rig) accept() *peer { return newPeer(r.t, <-r.conns) }

// bound is accept, and the bind taken.
func (r *rig) bound() *peer {
	r.t.Helper()
	p := r.accept()
	f := p.next(r.mode.command())
	p.send(&BindResp{Header: respHeader(f.Header, StatusOK), SystemID: "smsc"})
	r.handler.event(r.t, EventBound)
	return p
}

func (r *rig) status() SessionStatus { return r.client.Status()[r.number] }

// stop ends the client without its peers' doing.
func (r *rig) stop() {
	r.t.Helper()
	r.cancel()
	require.NoError(r.t, r.group.Wait())
}

// stopBound ends the client over p with an unbind.
func (r *rig) stopBound(p *peer) {
	r.t.Helper()
	r.cancel()
	p.unbind()
	p.gone()
	require.NoError(r.t, r.group.Wait())
	r.handler.event(r.t, EventUnbound)
}

// outcomes keeps what completions are told.
type outcomes struct {
	mu  sync.Mutex
	all map[uint32][]Answer
	ch  chan Answer
}

func newOutcomes() *outcomes {
	return &outcomes{all: make(map[uint32][]Answer), ch: make(chan Answer, 10000)}
}

func (o *outcomes) done(a Answer) {
	o.mu.Lock()
	o.all[a.SequenceNumber] = append(o.all[a.SequenceNumber], a)
	o.mu.Unlock()
	o.ch <- a
}

// of is what was told of one sequence number.
func (o *outcomes) of(seq uint32) []Answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[seq]
}

// submits makes one submit_sm for each slot.
func submits(t testing.TB, slots []Slot, done func(Answer)) []Submit {
	t.Helper()
	batch := make([]Submit, len(slots))
	for i, s := range slots {
		batch[i] = Submit{Slot: s, Done: done, PDU: encode(t, &SubmitSM{
			Header: Header{SequenceNumber: s.SequenceNumber}, Dest: Address{1, 1, "393331234567"}, ShortMessage: []byte("hello"),
		})}
	}
	return batch
}

// submit reserves n slots and sends in them, in one batch.
func (r *rig) submit(n int, done func(Answer)) []Slot {
	r.t.Helper()
	var slots []Slot
	for len(slots) < n {
		more, err := r.client.Reserve(context.Background(), n-len(slots))
		require.NoError(r.t, err)
		slots = append(slots, more...)
	}
	require.NoError(r.t, r.client.Send(submits(r.t, slots, done)))
	return slots
}
