package smpp_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// storing is a handler that answers all that it gets, from another goroutine.
type storing struct {
	received chan *smpp.Request
	bound    atomic.Int64
	kinds    map[smpp.CommandID]int
	oversize int
}

func (s *storing) Session(e smpp.Event) {
	if e.Kind == smpp.EventBound {
		s.bound.Add(1)
	}
}

func (s *storing) Received(r *smpp.Request) { s.received <- r }

func (s *storing) run() error {
	for r := range s.received {
		s.kinds[r.CommandID]++
		if r.Oversize() {
			s.oversize++
		}
		r.Respond(smpp.StatusOK)
	}
	return nil
}

func TestClient_withAnSMSCThatDoesEverythingWrong(t *testing.T) {
	smsc, err := smpptest.Start(smpptest.Config{
		Seed:     1,
		Answers:  smpptest.Answers{Refuse: []smpptest.Refusal{{Status: smpp.StatusThrottled, Share: 0.05}}, Never: 0.01, Shuffle: 5},
		Receipts: smpptest.Receipts{BeforeResponse: 0.2, Duplicates: 0.1, DataSM: 0.2, Unknown: 0.05, BrokenTLVs: 0.1},
		Traffic:  smpptest.Traffic{MO: 0.05, Garbage: 0.1, UnknownCommand: 0.05, Oversize: 0.01, EnquireLink: 50 * time.Millisecond, Sequence: smpptest.Collide},
		Link: smpptest.Link{DropEvery: 150, Fragment: 700, Drops: []smpptest.Drop{
			smpptest.DropBefore, smpptest.DropAfter, smpptest.DropMid, smpptest.DropReset,
		}},
	})
	require.NoError(t, err)
	h := &storing{received: make(chan *smpp.Request), kinds: make(map[smpp.CommandID]int)}
	client := smpp.New(smpp.Config{
		Name: "alpha/1", Addrs: []string{smsc.Addr()}, Handler: h, Window: 20, EnquireLink: time.Second,
		ResponseTimeout: 300 * time.Millisecond, ReconnectMin: time.Millisecond, ReconnectMax: 10 * time.Millisecond,
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running, handling errgroup.Group
	handling.Go(h.run)
	running.Go(func() error { return client.Run(ctx) })

	const messages = 600
	type end struct {
		message int
		smpp.Answer
	}
	told := make(chan end, 2*messages)
	for n := range messages {
		slots, err := client.Reserve(ctx, 1)
		require.NoError(t, err)
		pdu, err := smpp.AppendSubmitSM(nil, &smpp.SubmitSM{
			Header:             smpp.Header{SequenceNumber: slots[0].SequenceNumber},
			Dest:               smpp.Address{TON: 1, NPI: 1, Addr: fmt.Sprintf("39333%07d", n)},
			RegisteredDelivery: 1,
			ShortMessage:       []byte("hello"),
		})
		require.NoError(t, err)
		require.NoError(t, client.Send([]smpp.Submit{{Slot: slots[0], PDU: pdu, Done: func(a smpp.Answer) { told <- end{n, a} }}}))
	}
	ends := make(map[int]smpp.Answer)
	for len(ends) < messages {
		if e := <-told; !e.Late {
			require.NotContains(t, ends, e.message, "told twice")
			ends[e.message] = e.Answer
		}
	}
	waiting, giveUp := context.WithTimeout(ctx, 20*time.Second)
	defer giveUp()
	require.NoError(t, smsc.Drained(waiting), "everything that the SMSC had to say was answered")
	cancel()
	require.NoError(t, running.Wait())
	close(h.received)
	require.NoError(t, handling.Wait())
	require.NoError(t, smsc.Close())

	seen := make(map[string]smpptest.Line)
	for _, line := range smsc.Truth() {
		if line.Type == smpptest.LineSubmit {
			require.NotContains(t, seen, line.Dest, "submitted twice")
			seen[line.Dest] = line
		}
	}
	outcomes := make(map[smpp.Outcome]int)
	for n, a := range ends {
		outcomes[a.Outcome]++
		line, arrived := seen[fmt.Sprintf("39333%07d", n)]
		switch a.Outcome {
		case smpp.Answered:
			require.True(t, arrived)
			require.Equal(t, line.Status, a.CommandStatus.String())
			require.Equal(t, line.MessageID, a.MessageID)
			require.Equal(t, line.Seq, a.SequenceNumber)
		case smpp.NotWritten:
			require.False(t, arrived)
		}
	}
	require.Greater(t, outcomes[smpp.Answered], messages*3/4)
	require.NotZero(t, outcomes[smpp.Lost])
	require.GreaterOrEqual(t, h.bound.Load(), int64(messages/150))
	require.NotZero(t, h.kinds[smpp.CommandDeliverSM])
	require.NotZero(t, h.kinds[smpp.CommandDataSM])
	require.NotZero(t, h.oversize)
	require.Zero(t, smsc.Stats().StrayAcks, "nothing was answered twice")
}
