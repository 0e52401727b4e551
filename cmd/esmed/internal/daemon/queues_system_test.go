package daemon_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// queue is the queue of an SMSC, which has to be there.
func (s *system) queue(smsc string) control.Queue {
	s.t.Helper()
	all, err := s.api.Queues(s.ctx)
	require.NoError(s.t, err)
	for _, q := range all {
		if q.SMSC == smsc {
			return q
		}
	}
	require.FailNow(s.t, "no queue", smsc)
	return control.Queue{}
}

func (s *system) hold(smsc string) control.QueueOrder {
	s.t.Helper()
	done, err := s.api.HoldQueue(s.ctx, smsc, "they migrate")
	require.NoError(s.t, err)
	return done
}

func (s *system) release(smsc string) control.QueueOrder {
	s.t.Helper()
	done, err := s.api.ReleaseQueue(s.ctx, smsc, "")
	require.NoError(s.t, err)
	return done
}

// sentBetween are the records of submits that left between two others.
func (s *system) sentBetween(after, before uint64) (n int) {
	for _, e := range s.events() {
		if e.Type == "sent" && e.Seq > after && e.Seq < before {
			n++
		}
	}
	return n
}

func TestHold_nothingLeavesThatWasNotLeaving(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	const lanes, each = 4, 50
	held := make(chan control.QueueOrder, 1)
	var g errgroup.Group
	for lane := range lanes {
		g.Go(func() error {
			for n := lane * each; n < (lane+1)*each; n++ {
				if n == each/2 { // in the midst of traffic
					done, err := s.api.HoldQueue(s.ctx, "alpha", "they migrate")
					if err != nil {
						return err
					}
					held <- done
				}
				if _, _, err := s.api.Submit(s.ctx, control.Submission{To: number(n), From: "ACME", Text: "x"}, ""); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	hold := <-held
	require.True(t, hold.Changed)
	require.Equal(t, "they migrate", hold.Queue.Held.Reason)
	require.Equal(t, hold.Record, hold.Queue.Held.Record)
	require.Contains(t, hold.Queue.Why, "held by uid:")
	q := s.queue("alpha")
	require.Positive(t, q.Waiting)
	require.Equal(t, q.Waiting, q.Priorities["0"])
	require.NotNil(t, q.OldestAt)

	again := s.hold("alpha")
	require.False(t, again.Changed)
	require.Contains(t, again.Detail, "is held already, by uid:")
	s.restart()
	require.NotNil(t, s.queue("alpha").Held, "a restart does not end it")
	s.hangUp(s.withWindow(20), nil)
	s.awaitLog(`"msg":"reloaded"`)
	require.NotNil(t, s.queue("alpha").Held, "nor does a reload")
	waits := s.submit(number(lanes * each))
	require.Equal(t, "QUEUED", s.message(waits).State)

	free := s.release("alpha")
	require.True(t, free.Changed)
	require.Nil(t, free.Queue.Held)
	s.awaitState(waits, "DELIVERED")
	require.Zero(t, s.sentBetween(hold.Record, free.Record))
	require.Zero(t, s.queue("alpha").Waiting)
	require.Len(t, s.seen(), lanes*each+1)
	require.False(t, s.release("alpha").Changed)
	s.drained()
}

// withWindow is the configuration with another window, so that its SMSC is bound anew.
func (s *system) withWindow(n int) *config.Config {
	next := *s.cfg
	next.SMSCs = append([]config.SMSC{}, s.cfg.SMSCs...)
	next.SMSCs[0].Window = n
	return &next
}

func TestHold_whatWaitsGoesOnToExpire(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.hold("alpha")
	m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), From: "ACME", Text: "x", Validity: "1s"}, "")
	require.NoError(t, err)
	s.halt()
	<-time.After(time.Until(m.AcceptedAt.Add(time.Second)))
	s.start()
	m = s.awaitState(m.ID, "FAILED")
	require.Equal(t, "expiry", m.Basis)
	require.NotNil(t, s.queue("alpha").Held)
	require.Zero(t, s.smsc.Stats().Submits)
}

func TestQueue_saysWhyNothingLeaves(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		switch sub.Dest.Addr[len(sub.Dest.Addr)-1] {
		case '1':
			a.Status = smpp.StatusMsgQFul
		case '2':
			a.Status = 0x500
		}
		return a
	}}, func(c *config.Config) {
		c.SMSCs[0].Retry.Min, c.SMSCs[0].Retry.Max = time.Hour, time.Hour
		c.SMSCs[0].Retry.PauseStatuses = []smpp.Status{0x500}
		c.SMSCs[0].Throughput = 100
	})
	s.awaitLog(`"msg":"bound"`)
	q := s.queue("alpha")
	require.Equal(t, control.BindUp, q.Bind)
	require.Empty(t, q.Why)
	require.Equal(t, 100., *q.Rate)

	delayed := s.submit(number(1))
	s.await(delayed, "refused for now", func(m control.Message) bool { return m.State == "QUEUED" && len(m.Parts[0].Attempts) == 1 })
	q = s.queue("alpha")
	require.EqualValues(t, 1, q.Delayed)
	require.NotNil(t, q.RetryAt)
	require.Contains(t, q.Why, "waits for the first retry at ")
	s.submit(number(2))
	s.awaitLog(`"msg":"queue paused: the SMSC takes nothing"`)
	q = s.queue("alpha")
	require.NotNil(t, q.Paused)
	require.Contains(t, q.Why, "the SMSC has taken nothing since ")

	next := *s.cfg
	next.SMSCs = []config.SMSC{newSMSC("beta", s.smsc.Addr())}
	s.hangUp(&next, nil)
	s.awaitLog(`"msg":"stopped","smsc":"alpha"`)
	q = s.queue("alpha")
	require.Equal(t, control.BindNotConfigured, q.Bind)
	require.EqualValues(t, 2, q.Waiting+q.Delayed, "it keeps its queue")
	s.hold("alpha")
	done, err := s.api.DropQueue(s.ctx, "alpha", "gone", nil)
	require.NoError(t, err)
	require.Equal(t, control.QueueDrop{Messages: 2, Parts: 2}, done)
	require.Equal(t, "FAILED", s.message(delayed).State)
	_, err = s.api.HoldQueue(s.ctx, "gamma", "")
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, 404, p.Status)
}

func TestDrop_takesWhatWaitedWhenItBegan(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.hold("alpha")
	const n = 300 // more than a page
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.submit(number(i))
	}
	var late string
	var told []control.QueueDrop
	done, err := s.api.DropQueue(s.ctx, "alpha", "withdrawn", func(p control.QueueDrop) {
		if told = append(told, p); late == "" {
			late = s.submit(number(n))
		}
	})
	require.NoError(t, err)
	require.Equal(t, n, done.Messages)
	require.GreaterOrEqual(t, len(told), 2)
	require.EqualValues(t, 1, s.queue("alpha").Waiting)
	for _, id := range []string{ids[0], ids[n-1]} {
		m := s.message(id)
		require.Equal(t, "FAILED", m.State)
		require.Equal(t, "operator", m.Basis)
		require.Contains(t, m.Reason, "withdrawn")
	}
	s.release("alpha")
	s.awaitState(late, "DELIVERED")
	s.drained()
	require.Equal(t, map[string]bool{number(n): true}, s.seen())
}
