package smpp

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newLoopback is a rig over real sockets. accept takes the next one.
func newLoopback(t *testing.T, change func(*Config)) (r *rig, accept func() *peer) {
	r, ln := listening(t, change)
	return r, func() *peer {
		conn, err := ln.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return newPeer(t, conn)
	}
}

func listening(t *testing.T, change func(*Config)) (*rig, net.Listener) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	r := newRig(t, func(c *Config) {
		c.Addrs, c.Dial = []string{ln.Addr().String()}, nil
		c.ReconnectMin, c.ReconnectMax = time.Millisecond, 10*time.Millisecond
		if change != nil {
			change(c)
		}
	})
	return r, ln
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

// Under a link that is cut again and again, from many senders at once, every submit still ends exactly once
// and what is called not written never reached the SMSC.
func TestWire_cutsLoseNothing(t *testing.T) {
	r, ln := listening(t, func(c *Config) { c.Window, c.ResponseTimeout = 20, 200*time.Millisecond })
	const senders, each, cutAfter = 8, 60, 37
	reached := make(map[string]bool)
	r.group.Go(func() error {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return nil
			}
			p := newPeer(t, conn)
			for range cutAfter {
				f, err := p.fr.Next()
				if err != nil {
					break
				}
				answer := AppendResponse(nil, f.CommandID, StatusOK, f.SequenceNumber)
				if f.CommandID == CommandSubmitSM {
					var s SubmitSM
					require.NoError(t, decode(new(codec), f.PDU, &s))
					reached[string(s.ShortMessage)] = true
					answer = submitResp(f.SequenceNumber, "a")
					if len(reached)%7 == 0 { // some stay unanswered
						continue
					}
				}
				_, _ = conn.Write(answer)
			}
			_ = conn.Close()
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
			require.NotContains(t, reached, text)
		}
	}
}
