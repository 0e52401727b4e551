package smpp

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newLoopback is a rig over real sockets. accept takes the next one.
func newLoopback(t *testing.T, change func(*Config)) (r *rig, accept func() *peer) {
	ln := listen(t)
	r = newRig(t, func(c *Config) {
		dialTo(c, ln)
		if change != nil {
			change(c)
		}
	})
	return r, func() *peer {
		conn, err := ln.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return newPeer(t, conn)
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// dialTo makes c bind at ln, again and again.
func dialTo(c *Config, ln net.Listener) {
	c.Addrs, c.Dial = []string{ln.Addr().String()}, nil
	c.ReconnectMin, c.ReconnectMax = time.Millisecond, 10*time.Millisecond
}

func TestWire_oneOctetASegment(t *testing.T) {
	r, accept := newLoopback(t, nil)
	p := accept()
	f := p.next(CommandBindTransceiver)
	stream := encode(t, &BindResp{Header: respHeader(f.Header, StatusOK)})
	stream = append(stream, encode(t, deliverSM(1, "id:1"))...)
	stream = append(stream, encode(t, deliverSM(2, "id:2"))...)
	for i := range stream { // TCP_NODELAY is on
		p.write(stream[i : i+1])
	}
	r.handler.event(t, EventBound)
	require.EqualValues(t, 1, p.next(CommandDeliverSMResp).SequenceNumber)
	require.EqualValues(t, 2, p.next(CommandDeliverSMResp).SequenceNumber)
	r.stopBound(p)
}

func TestWire_manyPDUsASegment(t *testing.T) {
	r, accept := newLoopback(t, func(c *Config) { c.Window = 500 })
	p := accept()
	p.bind()
	r.handler.event(t, EventBound)
	got := newOutcomes()
	slots := r.submit(500, got.done)
	var stream []byte
	for i, s := range slots {
		require.Equal(t, s.SequenceNumber, p.next(CommandSubmitSM).SequenceNumber)
		stream = append(stream, encode(t, deliverSM(s.SequenceNumber, "id:1"))...)
		stream = append(stream, submitResp(slots[len(slots)-1-i].SequenceNumber, "a")...)
	}
	p.write(stream)
	for range slots {
		p.next(CommandDeliverSMResp)
		require.Equal(t, Answered, (<-got.ch).Outcome)
	}
	r.stopBound(p)
}

func TestWire_resetInMidPDU(t *testing.T) {
	r, accept := newLoopback(t, nil)
	p := accept()
	p.bind()
	r.handler.event(t, EventBound)
	got := newOutcomes()
	r.submit(3, got.done)
	for range 3 {
		p.next(CommandSubmitSM)
	}
	p.write(encode(t, deliverSM(1, "id:1"))[:25])
	require.NoError(t, p.conn.(*net.TCPConn).SetLinger(0))
	require.NoError(t, p.conn.Close())
	for range 3 {
		require.Equal(t, Lost, (<-got.ch).Outcome)
	}
	require.Error(t, r.handler.event(t, EventUnbound).Err)
	p = accept()
	p.bind()
	r.handler.event(t, EventBound)
	r.stopBound(p)
}

func TestWire_garbageIsNackedAndBoundAgain(t *testing.T) {
	r, accept := newLoopback(t, nil)
	p := accept()
	p.bind()
	r.handler.event(t, EventBound)
	p.write(make([]byte, 4096))
	require.Equal(t, StatusInvCmdLen, p.next(CommandGenericNack).CommandStatus)
	p.gone()
	require.ErrorIs(t, r.handler.event(t, EventUnbound).Err, ErrFraming)
	p = accept()
	p.bind()
	r.handler.event(t, EventBound)
	r.stopBound(p)
}

func TestWire_theSMSCUnbinds(t *testing.T) {
	r, accept := newLoopback(t, nil)
	p := accept()
	p.bind()
	r.handler.event(t, EventBound)
	p.write(AppendHeader(nil, Header{16, CommandUnbind, 0, 3}))
	require.Equal(t, Header{16, CommandUnbindResp, StatusOK, 3}, p.next(CommandUnbindResp).Header)
	p.gone()
	require.Equal(t, "unbind by the SMSC", r.handler.event(t, EventUnbound).Reason)
	p = accept()
	p.bind()
	r.handler.event(t, EventBound)
	r.stopBound(p)
}

// Under links that are cut again and again, from many senders at once, every submit still ends exactly once
// and what is called not written never reached the SMSC.
func TestWire_cutsLoseNothing(t *testing.T) {
	for _, sessions := range []int{1, 3} {
		t.Run(fmt.Sprint(sessions, " sessions"), func(t *testing.T) { cutsLoseNothing(t, sessions) })
	}
}

func cutsLoseNothing(t *testing.T, sessions int) {
	ln := listen(t)
	r := newRigs(t, sessions, func(_ int, c *Config) {
		dialTo(c, ln)
		c.Window, c.ResponseTimeout = 20, 200*time.Millisecond
	})[0]
	const senders, each, cutAfter = 8, 60, 37
	var smsc cutter
	r.group.Go(func() error {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return nil
			}
			r.group.Go(func() error { smsc.serve(t, conn, cutAfter); return nil })
		}
	})
	type told struct {
		text string
		Answer
	}
	answers := make(chan told, senders*each*2)
	for sender := range senders {
		r.group.Go(func() error {
			for i := range each {
				slots, err := r.client.Reserve(context.Background(), 1)
				if err != nil {
					return err
				}
				text := string([]byte{'a' + byte(sender), byte(i >> 4), byte(i & 15)})
				pdu := mustEncode(&SubmitSM{Header: Header{SequenceNumber: slots[0].SequenceNumber}, ShortMessage: []byte(text)})
				if err := r.client.Send([]Submit{{slots[0], pdu, func(a Answer) { answers <- told{text, a} }}}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	ends := make(map[string]Outcome)
	for len(ends) < senders*each {
		a := <-answers
		if a.Late {
			require.Equal(t, TimedOut, ends[a.text])
			continue
		}
		require.NotContains(t, ends, a.text, "told twice")
		ends[a.text] = a.Outcome
	}
	r.cancel()
	require.NoError(t, ln.Close())
	require.NoError(t, r.group.Wait())
	for text, o := range ends {
		if o == NotWritten {
			require.NotContains(t, smsc.reached, text)
		}
	}
}

// cutter is an SMSC that leaves some submits unanswered and cuts every connection before long.
type cutter struct {
	mu      sync.Mutex
	reached map[string]bool // texts
}

func (s *cutter) serve(t *testing.T, conn net.Conn, cutAfter int) {
	p := newPeer(t, conn)
	for range cutAfter {
		f, err := p.fr.Next()
		if err != nil {
			break
		}
		answer := AppendResponse(nil, f.CommandID, StatusOK, f.SequenceNumber)
		if f.CommandID == CommandSubmitSM {
			if s.reach(f)%7 == 0 {
				continue
			}
			answer = submitResp(f.SequenceNumber, "a")
		}
		_, _ = conn.Write(answer)
	}
	_ = conn.Close()
}

// reach says how many texts have come.
func (s *cutter) reach(f Frame) int {
	var sm SubmitSM
	if err := decode(new(codec), f.PDU, &sm); err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reached == nil {
		s.reached = make(map[string]bool)
	}
	s.reached[string(sm.ShortMessage)] = true
	return len(s.reached)
}

// An SMSC that stops reading one connection gets no more on it than its socket takes; over the other one all
// goes on. What it was sent and what it was not is known to the octet.
func TestWire_aFullSocketHoldsUpItsOwnSessionAlone(t *testing.T) {
	const sendBuffer = 64 << 10 // octets, or some times that as the system sees fit
	stuckAt, freeAt := listen(t), listen(t)
	rigs := newRigs(t, 2, func(i int, c *Config) {
		dialTo(c, []net.Listener{stuckAt, freeAt}[i])
		c.Window, c.EnquireLink, c.WriteTimeout = 1000, 0, time.Second/2
		c.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			conn, err := dialTCP(ctx, addr)
			if err == nil {
				err = conn.(*net.TCPConn).SetWriteBuffer(sendBuffer)
			}
			return conn, err
		}
	})
	client := rigs[0].client
	stuck, free := acceptBind(t, stuckAt), acceptBind(t, freeAt)
	rigs[0].handler.event(t, EventBound)
	rigs[1].handler.event(t, EventBound)
	require.NoError(t, stuckAt.Close()) // it does not come back
	rigs[1].group.Go(func() error { return answerAll(free) })

	// Two megabytes at once, which the connection cannot take, and what goes behind them.
	lost, size, sent := newOutcomes(), 0, 0
	for batch := 32; batch > 0; {
		slots, err := client.Reserve(t.Context(), 2000)
		require.NoError(t, err)
		var long []Submit
		for _, s := range slots {
			if s.Session != "alpha/1" || len(long) == batch {
				client.Release(s)
				continue
			}
			long = append(long, Submit{Slot: s, Done: lost.done, PDU: encode(t, &SubmitSM{
				Header: Header{SequenceNumber: s.SequenceNumber}, TLVs: TLVs{{Tag: TagMessagePayload, Value: make([]byte, 1<<16-1)}},
			})})
			size = len(long[0].PDU)
		}
		require.NoError(t, client.Send(long))
		sent += len(long)
		batch = min(len(long), 1)
	}
	got := newOutcomes()
	for range 50 {
		slots, err := client.Reserve(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"alpha/2": len(slots)}, sessionsOf(slots))
		require.NoError(t, client.Send(submits(t, slots, got.done)))
		for range slots {
			require.Equal(t, Answered, (<-got.ch).Outcome)
		}
	}

	var outcomes [4]int
	for range sent {
		outcomes[(<-lost.ch).Outcome]++
	}
	arrived, err := io.ReadAll(stuck.fr.r)
	require.NoError(t, err)
	require.Equal(t, (len(arrived)+size-1)/size, outcomes[Lost], "those of which an octet arrived may have arrived")
	require.Equal(t, sent-outcomes[Lost], outcomes[NotWritten])
	require.NotZero(t, outcomes[NotWritten])
	rigs[0].cancel()
	require.NoError(t, rigs[0].group.Wait())
}

func acceptBind(t *testing.T, ln net.Listener) *peer {
	t.Helper()
	conn, err := ln.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	p := newPeer(t, conn)
	p.bind()
	return p
}

// answerAll answers every request until the connection ends.
func answerAll(p *peer) error {
	for {
		f, err := p.fr.Next()
		if err != nil {
			return nil
		}
		answer := AppendResponse(nil, f.CommandID, StatusOK, f.SequenceNumber)
		if f.CommandID == CommandSubmitSM {
			answer = submitResp(f.SequenceNumber, "a")
		}
		if _, err := p.conn.Write(answer); err != nil {
			return err
		}
	}
}
