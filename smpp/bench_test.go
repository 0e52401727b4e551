package smpp

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func BenchmarkAppendSubmitSM(b *testing.B) {
	p := &SubmitSM{Source: Address{5, 0, "ACME"}, Dest: Address{1, 1, "393331234567"}, RegisteredDelivery: 1, ShortMessage: []byte("Your code is 4711")}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = AppendSubmitSM(dst[:0], p)
	}
}

func BenchmarkDeliverSM_Decode(b *testing.B) {
	d := deliverSM(7, "id:5A3C99F1 sub:001 dlvrd:001 submit date:2611301200 done date:2611301204 stat:DELIVRD err:000 text:Your code is")
	d.TLVs = TLVs{{Tag: TagReceiptedMessageID, Value: []byte("5A3C99F1\x00")}, {Tag: TagMessageState, Value: []byte{2}}}
	pdu := encode(b, d)
	var p DeliverSM
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Decode(pdu)
	}
}

func BenchmarkSubmitSMResp_Decode(b *testing.B) {
	pdu := submitResp(7, "5A3C99F1")
	var p SubmitSMResp
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Decode(pdu)
	}
}

// BenchmarkClient_life is submit_sm, its response, a deliver_sm and its response over loopback, in a
// full window of 1000, against a peer that does nothing else. ns/op is per life.
func BenchmarkClient_life(b *testing.B) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer ln.Close()
	var g errgroup.Group
	g.Go(func() error { return serveLives(ln) })

	h := newRecorder()
	var received atomic.Int64
	c := New(Config{Name: "bench", Addrs: []string{ln.Addr().String()}, Window: 1000, Handler: countingHandler{h, &received}})
	ctx, cancel := context.WithCancel(context.Background())
	g.Go(func() error { return c.Run(ctx) })
	h.event(b, EventBound)

	p := &SubmitSM{Source: Address{5, 0, "ACME"}, Dest: Address{1, 1, "393331234567"}, RegisteredDelivery: 1, ShortMessage: []byte("Your code is 4711")}
	b.ResetTimer()
	answered := make(chan struct{}, 1000)
	for sent := 0; sent < b.N; {
		slots, err := c.Reserve(ctx, min(256, b.N-sent))
		require.NoError(b, err)
		batch := make([]Submit, len(slots))
		octets := make([]byte, 0, 128*len(slots))
		for i, s := range slots {
			p.SequenceNumber = s.SequenceNumber
			start := len(octets)
			octets, _ = AppendSubmitSM(octets, p)
			batch[i] = Submit{Slot: s, PDU: octets[start:], Done: func(Answer) { answered <- struct{}{} }}
		}
		require.NoError(b, c.Send(batch))
		sent += len(slots)
		for range len(slots) {
			<-answered
		}
	}
	b.StopTimer()
	cancel()
	require.NoError(b, ln.Close())
	_ = g.Wait()
}

type countingHandler struct {
	*recorder
	n *atomic.Int64
}

func (h countingHandler) Received(r *Request) {
	h.n.Add(1)
	r.Respond(StatusOK)
}

// serveLives answers every submit_sm with its response and a receipt.
func serveLives(ln net.Listener) error {
	conn, err := ln.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	fr := NewFrameReader(conn, 1<<20)
	receipt, _ := Append(nil, deliverSM(1, "id:5A3C99F1 sub:001 dlvrd:001 submit date:2611301200 done date:2611301204 stat:DELIVRD err:000 text:"))
	var out []byte
	var room []Frame
	for {
		b := nextBatch(fr, room[:0])
		room = b.frames
		out = out[:0]
		for _, f := range b.frames {
			switch f.CommandID {
			case CommandSubmitSM:
				out = append(append(out, submitResp(f.SequenceNumber, "5A3C99F1")...), receipt...)
			case CommandDeliverSMResp:
			default:
				out = AppendResponse(out, f.CommandID, StatusOK, f.SequenceNumber)
			}
		}
		if _, err := conn.Write(out); err != nil || b.err != nil {
			return err
		}
	}
}
