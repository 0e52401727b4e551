package smpp

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// boundAll binds every session of a client.
func boundAll(rigs []*rig) []*peer {
	peers := make([]*peer, len(rigs))
	for i, r := range rigs {
		peers[i] = r.bound()
	}
	return peers
}

// stopAll ends a client whose peers answer unbind.
func stopAll(rigs []*rig, peers []*peer) {
	rigs[0].cancel()
	for _, p := range peers {
		p.unbind()
		p.gone()
	}
	require.NoError(rigs[0].t, rigs[0].group.Wait())
	for _, r := range rigs {
		r.handler.event(r.t, EventUnbound)
	}
}

// sessionsOf counts slots by their sessions.
func sessionsOf(slots []Slot) map[string]int {
	n := make(map[string]int)
	for _, s := range slots {
		n[s.Session]++
	}
	return n
}

func TestClient_spreadsSubmitsByFreeSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rigs := newRigs(t, 3, func(i int, c *Config) { c.Window = []int{4, 4, 8}[i] })
		peers := boundAll(rigs)
		client := rigs[0].client
		synctest.Wait()
		reserve := func(n int) []Slot {
			slots, err := client.Reserve(t.Context(), n)
			require.NoError(t, err)
			return slots
		}
		emptiest := reserve(4)
		require.Equal(t, map[string]int{"alpha/3": 4}, sessionsOf(emptiest))
		level := reserve(6)
		require.Equal(t, map[string]int{"alpha/1": 2, "alpha/2": 2, "alpha/3": 2}, sessionsOf(level))
		require.Len(t, sessionsOf(level[:3]), 3, "the first few use all of them")
		rest := reserve(100)
		require.Equal(t, map[string]int{"alpha/1": 2, "alpha/2": 2, "alpha/3": 2}, sessionsOf(rest))

		got := newOutcomes()
		require.NoError(t, client.Send(submits(t, level, got.done)))
		for _, p := range peers {
			for range 2 {
				p.write(submitResp(p.next(CommandSubmitSM).SequenceNumber, "a"))
				<-got.ch
			}
		}
		client.Release(append(emptiest, rest...)...)
		client.Release(append(emptiest, rest...)...)
		synctest.Wait()
		all := reserve(100)
		require.Equal(t, map[string]int{"alpha/1": 4, "alpha/2": 4, "alpha/3": 8}, sessionsOf(all), "given back twice is given back once")
		client.Release(all...)
		stopAll(rigs, peers)
	})
}

func TestClient_littleTrafficUsesEverySession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rigs := newRigs(t, 3, func(int, *Config) {})
		peers := boundAll(rigs)
		used := make(map[string]int)
		for range 9 {
			got := newOutcomes()
			slot := rigs[0].submit(1, got.done)[0]
			used[slot.Session]++
			for i, r := range rigs {
				if r.status().Name == slot.Session {
					peers[i].write(submitResp(peers[i].next(CommandSubmitSM).SequenceNumber, "a"))
				}
			}
			<-got.ch
			synctest.Wait()
		}
		require.Equal(t, map[string]int{"alpha/1": 3, "alpha/2": 3, "alpha/3": 3}, used)
		stopAll(rigs, peers)
	})
}

func TestClient_aPeerThatStopsReadingHoldsUpItsOwnSessionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rigs := newRigs(t, 2, func(_ int, c *Config) { c.Window, c.EnquireLink, c.WriteTimeout = 4, 0, 10*time.Second })
		peers := boundAll(rigs)
		stuck, client := newOutcomes(), rigs[0].client
		synctest.Wait()
		all, err := client.Reserve(t.Context(), 100)
		require.NoError(t, err)
		var first []Slot
		for _, s := range all {
			if s.Session == "alpha/1" {
				first = append(first, s)
			} else {
				client.Release(s)
			}
		}
		began := time.Now()
		for _, s := range first[:3] { // the first of them is being written, the others wait behind
			require.NoError(t, client.Send(submits(t, []Slot{s}, stuck.done)))
			synctest.Wait()
		}
		client.Release(first[3])
		for range 9 { // seconds, of four a second
			slots, err := client.Reserve(t.Context(), 100)
			require.NoError(t, err)
			require.Equal(t, map[string]int{"alpha/2": 4}, sessionsOf(slots))
			got := newOutcomes()
			require.NoError(t, client.Send(submits(t, slots, got.done)))
			for range slots {
				peers[1].write(submitResp(peers[1].next(CommandSubmitSM).SequenceNumber, "a"))
				require.Equal(t, Answered, (<-got.ch).Outcome)
			}
			elapse(time.Second)
		}
		for range 3 {
			require.Equal(t, NotWritten, (<-stuck.ch).Outcome)
		}
		require.Equal(t, 10*time.Second+lastWords, time.Since(began))
		rigs[0].handler.event(t, EventUnbound)
		peers[0] = rigs[0].bound()
		stopAll(rigs, peers)
	})
}

func TestClient_slotsOfASessionThatEndsAreNotLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rigs := newRigs(t, 2, func(_ int, c *Config) { c.Window = 2 })
		peers := boundAll(rigs)
		client := rigs[0].client
		synctest.Wait()
		lent, err := client.Reserve(t.Context(), 100)
		require.NoError(t, err)
		require.NoError(t, peers[0].conn.Close())
		rigs[0].handler.event(t, EventUnbound)
		client.Release(lent...)
		got := newOutcomes()
		slots, err := client.Reserve(t.Context(), 100)
		require.NoError(t, err)
		require.Equal(t, map[string]int{"alpha/2": 2}, sessionsOf(slots))
		require.NoError(t, client.Send(submits(t, slots, got.done)))
		require.NoError(t, client.Send(submits(t, slots, got.done)))
		require.Equal(t, NotWritten, (<-got.ch).Outcome, "a slot is good for one submit_sm")
		require.Equal(t, NotWritten, (<-got.ch).Outcome)
		for range slots {
			peers[1].write(submitResp(peers[1].next(CommandSubmitSM).SequenceNumber, "a"))
			require.Equal(t, Answered, (<-got.ch).Outcome)
		}

		rigs[1].client.Rebind("alpha/2", "to see that no other is")
		peers[0] = rigs[0].bound()
		peers[1].unbind()
		peers[1].gone()
		require.Equal(t, "to see that no other is", rigs[1].handler.event(t, EventUnbound).Reason)
		peers[1] = rigs[1].bound()
		require.Empty(t, rigs[0].handler.events)
		stopAll(rigs, peers)
	})
}

func TestClient_transmitterAndReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rigs := newRigs(t, 2, func(i int, c *Config) { c.Bind.Mode = []BindMode{Receiver, Transmitter}[i] })
		peers := boundAll(rigs)
		got := newOutcomes()
		require.Equal(t, "alpha/2", rigs[0].submit(1, got.done)[0].Session)
		peers[0].send(deliverSM(1, "id:a1 stat:DELIVRD")) // overtakes the response
		peers[0].next(CommandDeliverSMResp)
		require.Equal(t, "alpha/1", (<-rigs[0].handler.requests).Session)
		require.Empty(t, got.ch)
		peers[1].write(submitResp(peers[1].next(CommandSubmitSM).SequenceNumber, "a1"))
		require.Equal(t, "a1", (<-got.ch).MessageID)

		answered := make(chan Answer, 1)
		rigs[0].group.Go(func() error {
			a, err := rigs[0].client.Request(t.Context(), &QuerySM{MessageID: "a1"})
			answered <- a
			return err
		})
		q := peers[1].next(CommandQuerySM)
		peers[1].send(&QuerySMResp{Header: respHeader(q.Header, StatusOK), MessageID: "a1", MessageState: 2})
		require.Equal(t, "alpha/2", (<-answered).Session)
		stopAll(rigs, peers)
	})
}

func TestClient_theSameNumbersOnTwoSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rigs := newRigs(t, 2, func(_ int, c *Config) { c.ResponseTimeout, c.EnquireLink = 5*time.Second, 0 })
		peers := boundAll(rigs)
		got := newOutcomes()
		slots := rigs[0].submit(4, got.done)
		require.Equal(t, map[string]int{"alpha/1": 2, "alpha/2": 2}, sessionsOf(slots))
		for _, p := range peers {
			require.EqualValues(t, 2, p.next(CommandSubmitSM).SequenceNumber)
			require.EqualValues(t, 3, p.next(CommandSubmitSM).SequenceNumber)
		}
		for _, answer := range []struct {
			peer int
			seq  uint32
			id   string
		}{{1, 3, "b3"}, {0, 3, "a3"}, {1, 2, "b2"}} { // the last one sent first, and so on
			peers[answer.peer].write(submitResp(answer.seq, answer.id))
			a := <-got.ch
			require.Equal(t, answer.id, a.MessageID)
			require.Equal(t, rigs[answer.peer].status().Name, a.Session)
			require.Equal(t, answer.seq, a.SequenceNumber)
		}
		a := <-got.ch
		require.Equal(t, []any{TimedOut, "alpha/1", uint32(2)}, []any{a.Outcome, a.Session, a.SequenceNumber})
		peers[1].write(submitResp(2, "a2")) // on the wrong connection
		require.True(t, (<-rigs[1].handler.requests).Stray())
		peers[0].write(submitResp(2, "a2")) // late
		a = <-got.ch
		require.Equal(t, []any{true, "alpha/1", "a2"}, []any{a.Late, a.Session, a.MessageID})
		stopAll(rigs, peers)
	})
}

func TestClient_aHandlerThatHangsHoldsUpItsOwnSessionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowHandler{recorder: newRecorder(), gate: make(chan struct{})}
		rigs := newRigs(t, 2, func(i int, c *Config) {
			if i == 0 {
				c.Handler = slow
			}
		})
		rigs[0].handler = slow.recorder
		peers := boundAll(rigs)
		peers[0].send(deliverSM(1, "id:1"))
		synctest.Wait()
		peers[1].send(deliverSM(1, "id:1"))
		peers[1].next(CommandDeliverSMResp)
		got := newOutcomes()
		rigs[0].submit(2, got.done)
		for _, p := range peers {
			p.write(submitResp(p.next(CommandSubmitSM).SequenceNumber, "a"))
			require.Equal(t, Answered, (<-got.ch).Outcome)
		}
		close(slow.gate)
		peers[0].next(CommandDeliverSMResp)
		stopAll(rigs, peers)
	})
}

func TestClient_stopThenStartEndsGracefullyAndBindsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rigs := newRigs(t, 2, func(_ int, c *Config) { c.ShutdownTimeout = time.Minute })
		peers := boundAll(rigs)
		client := rigs[0].client
		got := newOutcomes()
		rigs[0].submit(2, got.done)
		client.Stop()
		client.Start()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Reserve(ctx, 1)
		require.ErrorIs(t, err, context.DeadlineExceeded, "while the windows drain")
		for i, p := range peers {
			p.write(submitResp(p.next(CommandSubmitSM).SequenceNumber, "a"))
			require.Equal(t, Answered, (<-got.ch).Outcome)
			began := time.Now()
			p.unbind()
			p.gone()
			require.Equal(t, stoppedByOperator, rigs[i].handler.event(t, EventUnbound).Reason)
			peers[i] = rigs[i].bound()
			require.Zero(t, time.Since(began), "no pause")
		}
		client.Start() // what is bound stays so
		synctest.Wait()
		for _, r := range rigs {
			require.Equal(t, BoundTRX, r.status().State)
			require.Empty(t, r.handler.events)
		}
		stopAll(rigs, peers)
	})
}

func TestClient_tellsWhenItTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := r.accept()
		require.Zero(t, r.status().NextAttempt)
		p.send(&BindResp{Header: respHeader(p.next(CommandBindTransceiver).Header, StatusInvPaswd)})
		p.gone()
		r.handler.event(t, EventBindRefused)
		synctest.Wait()
		require.Equal(t, time.Now().Add(time.Minute), r.status().NextAttempt)
		r.client.Stop()
		synctest.Wait()
		require.Zero(t, r.status().NextAttempt)
		r.client.Start()
		r.stopBound(r.bound())
	})
}
