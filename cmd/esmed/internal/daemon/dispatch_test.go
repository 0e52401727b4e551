package daemon_test

import (
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/smpp"
	"esmed/smpp/smpptest"
	"esmed/store"
)

// firstTry answers the first submit to each destination as first says, and the others well.
func firstTry(first func(*smpptest.Action)) func(smpptest.Submit, smpptest.Action) smpptest.Action {
	seen := map[string]bool{}
	return func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		if !seen[sub.Dest.Addr] {
			seen[sub.Dest.Addr] = true
			first(&a)
		}
		return a
	}
}

func refuse(status smpp.Status) func(*smpptest.Action) {
	return func(a *smpptest.Action) { a.Status = status }
}

func TestDispatch_refusals(t *testing.T) {
	tests := []struct {
		name     string
		status   smpp.Status
		state    string
		attempts int
		binds    int
	}{
		{"a full queue is tried again", smpp.StatusMsgQFul, "DELIVERED", 2, 1},
		{"throttling is tried again", smpp.StatusThrottled, "DELIVERED", 2, 1},
		{"a status that the operator calls temporary is tried again", 0x408, "DELIVERED", 2, 1},
		{"a wrong bind status binds again and keeps the message", smpp.StatusInvBndSts, "DELIVERED", 2, 2},
		{"a wrong destination is for good", smpp.StatusInvDstAdr, "FAILED", 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSystem(t, smpptest.Config{OnSubmit: firstTry(refuse(tt.status))}, func(c *config.Config) {
				c.SMSCs[0].Retry.Statuses = []smpp.Status{0x408}
			})
			m := s.awaitState(s.submit(number(1)), tt.state)
			require.Len(t, m.Parts[0].Attempts, tt.attempts)
			require.Equal(t, tt.status.String(), m.Parts[0].Attempts[0].CommandStatus)
			require.False(t, m.MaybeDoubled)
			require.Equal(t, tt.binds, s.smsc.Stats().Binds)
		})
	}
}

func TestDispatch_throttlingLosesNothing(t *testing.T) {
	refused := 0
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		if refused < 2 {
			refused++
			a.Status = smpp.StatusThrottled
		}
		return a
	}}, nil)
	var ids []string
	for n := range 50 {
		ids = append(ids, s.submit(number(n)))
	}
	for _, id := range ids {
		require.False(t, s.awaitState(id, "DELIVERED").MaybeDoubled)
	}
	require.EqualValues(t, 52, s.smsc.Stats().Submits)
}

func TestDispatch_aPauseStatusHoldsTheQueue(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: firstTry(refuse(0x500))}, func(c *config.Config) {
		c.SMSCs[0].Retry.PauseStatuses = []smpp.Status{0x500}
	})
	first := s.submit(number(1))
	s.awaitLog(`"msg":"queue paused: the SMSC takes nothing"`)
	second := s.submit(number(2))
	s.awaitState(first, "QUEUED")
	require.Equal(t, "QUEUED", s.message(second).State)
	require.EqualValues(t, 1, s.smsc.Stats().Submits)
}

func TestDispatch_throughputIsKeptTo(t *testing.T) {
	const limit = 50
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) { c.SMSCs[0].Throughput = limit })
	var ids []string
	for n := range 2 * limit {
		ids = append(ids, s.submit(number(n)))
	}
	for _, id := range ids {
		s.awaitState(id, "DELIVERED")
	}
	var at []time.Time
	for _, line := range s.smsc.Truth() {
		if line.Type == smpptest.LineSubmit {
			at = append(at, line.At)
		}
	}
	const most = limit + limit/50
	for i := most; i < len(at); i++ {
		// What the loopback delays one submit more than another by is not the daemon's.
		require.Greater(t, at[i].Sub(at[i-most]), time.Second-50*time.Millisecond)
	}
}

func TestDispatch_aLateAnswerEndsTheDoubt(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Held = true
		return a
	}}, func(c *config.Config) { c.SMSCs[0].ResponseTimeout = 100 * time.Millisecond })
	id := s.submit(number(1))
	s.awaitState(id, "IN_DOUBT")
	require.Equal(t, []string{"in_doubt"}, s.exceptionKinds())

	require.NoError(t, s.smsc.Answer(1))
	m := s.awaitState(id, "DELIVERED")
	require.False(t, m.MaybeDoubled)
	require.Empty(t, s.exceptions())
	require.Len(t, m.Parts[0].Attempts, 1)
}

func TestDispatch_aCutLeavesDoubtWhereTheAnswerWasLost(t *testing.T) {
	t.Run("before the response, and nobody can know", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: firstTry(func(a *smpptest.Action) { a.Drop = smpptest.DropBefore })}, nil)
		id := s.submit(number(1))
		s.awaitState(id, "IN_DOUBT")
		s.drained()
		require.Equal(t, "IN_DOUBT", s.message(id).State, "its receipt has an id that nobody knows")
		require.Len(t, s.inbox(), 1)
		require.EqualValues(t, 1, s.smsc.Stats().Submits, "nothing is sent again")
	})
	t.Run("before the response, and the receipt echoes our reference", func(t *testing.T) {
		const tag = 0x1401
		s := newSystem(t, smpptest.Config{
			OnSubmit: firstTry(func(a *smpptest.Action) { a.Drop = smpptest.DropReset }),
			Receipts: smpptest.Receipts{ClientRefTLV: tag},
		}, func(c *config.Config) { c.SMSCs[0].ClientRefTLV = tag })
		id := s.submit(number(1))
		s.awaitState(id, "DELIVERED")
		require.Empty(t, s.inbox())
		require.Empty(t, s.exceptions())
	})
	t.Run("in the middle of the response, and the message asks for another attempt", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: firstTry(func(a *smpptest.Action) { a.Drop = smpptest.DropMid })},
			func(c *config.Config) { c.SMSCs[0].InDoubt = "resend" })
		m := s.awaitState(s.submit(number(1)), "DELIVERED")
		require.Len(t, m.Parts[0].Attempts, 2)
		require.True(t, m.MaybeDoubled)
	})
	t.Run("after the response, and nothing is in doubt", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: firstTry(func(a *smpptest.Action) { a.Drop = smpptest.DropAfter })}, nil)
		m := s.awaitState(s.submit(number(1)), "DELIVERED")
		require.Len(t, m.Parts[0].Attempts, 1)
		require.Empty(t, s.exceptions())
	})
}

func TestDispatch_validity(t *testing.T) {
	t.Run("what is left of it is sent", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{}, nil)
		m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), From: "ACME", Text: "hello", Validity: "24h"}, "")
		require.NoError(t, err)
		s.awaitState(m.ID, "DELIVERED")
		require.Contains(t, []string{"000001000000000R", "000000235959000R"}, s.smsc.Submits()[0].ValidityPeriod)
	})
	t.Run("a message that expires in our queue fails and is not sent again", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: firstTry(refuse(smpp.StatusMsgQFul))}, func(c *config.Config) {
			c.SMSCs[0].Retry.Min, c.SMSCs[0].Retry.Max = 3*time.Second, 3*time.Second
		})
		m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), From: "ACME", Text: "hello", Validity: "1s"}, "")
		require.NoError(t, err)
		got := s.awaitState(m.ID, "FAILED")
		require.Equal(t, "expiry", got.Basis)
		require.EqualValues(t, 1, s.smsc.Stats().Submits)
	})
}

func TestStop(t *testing.T) {
	t.Run("the window drains and nothing is in doubt", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{Answers: smpptest.Answers{Delay: 100 * time.Millisecond}}, nil)
		id := s.submit(number(1))
		s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 1 })
		s.restart()
		s.awaitState(id, "DELIVERED")
		require.NotContains(t, types(s.history(id)), "in_doubt")
	})
	t.Run("what is unanswered then is in doubt", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: firstTry(func(a *smpptest.Action) { a.Never = true })}, func(c *config.Config) {
			c.ShutdownTimeout = 50 * time.Millisecond
		})
		id := s.submit(number(1))
		s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 1 })
		s.restart()
		require.Equal(t, "IN_DOUBT", s.message(id).State)
		doubt := s.history(id)[slices.Index(types(s.history(id)), "in_doubt")]
		require.Contains(t, doubt.Detail, "stop")
	})
	t.Run("a second signal does not wait for the window", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{OnSubmit: firstTry(func(a *smpptest.Action) { a.Never = true })}, func(c *config.Config) {
			c.ShutdownTimeout = 2 * patience
		})
		id := s.submit(number(1))
		s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 1 })
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
		s.awaitLog(`"msg":"stopping","shutdown_timeout"`)
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
		require.ErrorIs(t, s.run.Wait(), daemon.ErrImmediate)
		s.api.Close()
		s.start()
		require.Equal(t, "IN_DOUBT", s.message(id).State)
	})
	t.Run("what waits is sent by the next daemon", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: 0x0D}}, nil)
		id := s.submit(number(1))
		require.Equal(t, "QUEUED", s.message(id).State)
		s.smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = 0 })
		s.restart()
		s.awaitState(id, "DELIVERED")
	})
}

func TestRun_severalSMSCsKeepTheirMessagesApart(t *testing.T) {
	other, err := smpptest.Start(smpptest.Config{Receipts: smpptest.Receipts{States: []smpptest.StateShare{{Word: "UNDELIV", Share: 1}}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) {
		c.SMSCs = append(c.SMSCs, newSMSC("beta", other.Addr()))
		c.DefaultSMSC = "alpha"
	})
	// Both give out the same ids: the account keeps them apart.
	for n := range 10 {
		a := s.submit(number(n))
		b, _, err := s.api.Submit(s.ctx, control.Submission{To: number(n), From: "ACME", Text: "hello", SMSC: "beta"}, "")
		require.NoError(t, err)
		s.awaitState(a, "DELIVERED")
		s.awaitState(b.ID, "UNDELIVERABLE")
	}
	binds, err := s.api.Binds(s.ctx)
	require.NoError(t, err)
	require.Len(t, binds, 2)
	require.Equal(t, "alpha/1", binds[0].Session)
	require.Equal(t, "BoundTRX", binds[0].State)
}

func TestRun_refusesADirectoryInUse(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	cfg := *s.cfg
	cfg.API.Socket += "2"
	require.ErrorIs(t, daemon.Run(s.ctx, &cfg, daemon.Options{Log: s.log}), store.ErrLocked)
}

func TestRun_refusesAnotherAccountWhileMessagesAreOpen(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Receipts = nil
		return a
	}}, nil)
	s.awaitState(s.submit(number(1)), "SUBMITTED")
	s.halt()
	cfg := *s.cfg
	cfg.SMSCs = slices.Clone(cfg.SMSCs)
	cfg.SMSCs[0].Account = "other"
	var bad *daemon.ConfigError
	require.ErrorAs(t, daemon.Run(s.ctx, &cfg, daemon.Options{Log: s.log}), &bad)
	s.start()
}

func TestLog_holdsNoTextsPasswordsOrWholeNumbers(t *testing.T) {
	s := newSystem(t, smpptest.Config{
		Receipts: smpptest.Receipts{Duplicates: 0.5, Contradictions: 0.5, Unknown: 0.5},
		Traffic:  smpptest.Traffic{MO: 0.5, Garbage: 0.5, Oversize: 0.2},
	}, func(c *config.Config) { c.Log.Access = c.DataDir + ".access" })
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() { s.submit(number(n)) })
	}
	wg.Wait()
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 20 })
	s.drained()
	s.events()
	access := readFile(t, s.cfg.Log.Access)
	require.Equal(t, 20, strings.Count(access, `"event":"submit"`))
	require.NotZero(t, strings.Count(access, `"event":"receipt"`))
	for _, out := range []string{s.log.String(), access} {
		require.NotContains(t, out, "secret")
		require.NotContains(t, out, "Your code")
		require.NotContains(t, out, hex.EncodeToString([]byte("Your code")))
		for n := range 20 {
			require.NotContains(t, out, number(n)[1:])
		}
	}
}

func TestMetrics_silenceCountsForItsSMSC(t *testing.T) {
	s := newSystem(t, silent, shortWindows)
	s.awaitState(s.submit(number(1)), "UNREPORTED")
	require.Contains(t, s.metrics(), `esmed_states_total{smsc="alpha",state="UNREPORTED"} 1`)
	require.NotContains(t, s.metrics(), `esmed_states_total{smsc=""`)
}

func TestMetrics_nameWhatHappened(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{Duplicates: 1, Unknown: 1}}, nil)
	s.awaitState(s.submit(number(1)), "DELIVERED")
	s.drained()
	text := s.metrics()
	for _, line := range []string{
		`esmed_submits_total{command_status="ESME_ROK",smsc="alpha"} 1`,
		`esmed_receptions_total{kind="delivery_receipt",smsc="alpha"} 3`,
		`esmed_verdicts_total{smsc="alpha",verdict="applied"} 1`,
		`esmed_verdicts_total{smsc="alpha",verdict="duplicate"} 1`,
		`esmed_states_total{smsc="alpha",state="DELIVERED"} 1`,
		`esmed_bind_up{session="alpha/1",smsc="alpha"} 1`,
		`esmed_window_in_use{session="alpha/1",smsc="alpha"} 0`,
		`esmed_inbox_size{smsc="alpha"} 1`,
		`esmed_apply_lag_records 0`,
		`esmed_receipt_ack_seconds_count{smsc="alpha"} 3`,
		`esmed_receipt_delay_seconds_count{smsc="alpha"} 1`,
	} {
		require.Contains(t, text, line)
	}
}

func TestReload(t *testing.T) {
	sim := smpptest.Config{Receipts: smpptest.Receipts{States: []smpptest.StateShare{{Word: "ANSWERED", State: "DELIVERED", Share: 1}}}}
	s := newSystem(t, sim, nil)
	first := s.submit(number(1))
	s.await(first, "noted", func(m control.Message) bool { return m.Receptions.Noted == 1 })

	next := *s.cfg
	next.SMSCs = slices.Clone(next.SMSCs)
	next.SMSCs[0].Rules.States = map[string]string{"ANSWERED": "DELIVERED"}
	next.SMSCs = append(next.SMSCs, newSMSC("beta", s.smsc.Addr()))
	next.DefaultSMSC = "alpha"
	next.Alerts.OverdueAbove = 7
	s.hangUp(&next, nil)
	s.awaitLog(`"msg":"reloaded"`)

	s.awaitState(s.submit(number(2)), "DELIVERED")
	require.Contains(t, s.log.String(), `"key":"alerts"`)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	require.Equal(t, 2, s.smsc.Stats().Binds, "alpha kept its session")

	next.SMSCs = next.SMSCs[:1]
	s.hangUp(&next, nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 1 })
	_, _, err := s.api.Submit(s.ctx, control.Submission{To: number(3), From: "ACME", Text: "hello", SMSC: "beta"}, "")
	var refused *control.ProblemError
	require.ErrorAs(t, err, &refused)
}

func TestReload_aWrongConfigurationChangesNothing(t *testing.T) {
	errNotReloaded := errors.New("the file is wrong")
	s := newSystem(t, smpptest.Config{}, nil)
	s.hangUp(nil, errNotReloaded)
	s.awaitLog(errNotReloaded.Error())
	s.awaitState(s.submit(number(1)), "DELIVERED")
}
