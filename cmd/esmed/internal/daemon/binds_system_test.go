package daemon_test

import (
	"crypto/tls"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// binds are the sessions as they are now, by name.
func (s *system) binds() map[string]control.Bind {
	s.t.Helper()
	all, err := s.api.Binds(s.ctx)
	require.NoError(s.t, err)
	byName := map[string]control.Bind{}
	for _, b := range all {
		byName[b.Session] = b
	}
	return byName
}

// awaitBind waits until a session is as it should be, and gives it.
func (s *system) awaitBind(session string, until func(control.Bind) bool) control.Bind {
	s.t.Helper()
	for {
		b := s.binds()[session]
		if until(b) {
			return b
		}
		select {
		case <-s.ctx.Done():
			require.FailNow(s.t, "never came", "%s is %+v", session, b)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func inState(state string) func(control.Bind) bool {
	return func(b control.Bind) bool { return b.State == state }
}

func (s *system) order(smsc string, action control.BindAction) control.BindOrdered {
	s.t.Helper()
	o, err := s.api.OrderBind(s.ctx, smsc, action, "the test wants it")
	require.NoError(s.t, err)
	return o
}

// submitMany submits n messages and gives their ids.
func (s *system) submitMany(n int) []string {
	s.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.submit(number(i))
	}
	return ids
}

// awaitAll waits until all messages are in a state.
func (s *system) awaitAll(ids []string, state string) {
	s.t.Helper()
	for _, id := range ids {
		s.awaitState(id, state)
	}
}

// agrees waits until alpha has sent all that it has, and audits it.
func (s *system) agrees() {
	s.t.Helper()
	s.drained()
	require.Zero(s.t, s.audit("alpha", s.smsc, smpptest.AuditOptions{}).Pending)
}

// sessionsOf counts the sessions that a record type came on.
func (s *system) sessionsOf(recordType string) map[string]int {
	s.t.Helper()
	count := map[string]int{}
	for _, e := range s.events() {
		if e.Type == recordType {
			count[e.Session]++
		}
	}
	return count
}

func TestSessions_twoShareTheWork(t *testing.T) {
	s := newSystem(t, smpptest.Config{Answers: smpptest.Answers{Delay: time.Millisecond, Shuffle: 4}}, func(c *config.Config) {
		c.SMSCs[0].Sessions, c.SMSCs[0].Window = 2, 4
	})
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	s.awaitAll(s.submitMany(200), "DELIVERED")
	s.agrees()
	sent := s.sessionsOf("sent")
	require.Len(t, sent, 2)
	require.Positive(t, sent["alpha/1"])
	require.Positive(t, sent["alpha/2"])
	metrics := s.metrics()
	require.Contains(t, metrics, `esmed_bind_up{session="alpha/2",smsc="alpha"} 1`)
	require.Contains(t, metrics, `esmed_window_in_use{session="alpha/2",smsc="alpha"} 0`)
}

func TestSessions_transmitterAndReceiver(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{BeforeResponse: 0.5}}, func(c *config.Config) {
		c.SMSCs[0].Bind, c.SMSCs[0].Sessions = "transmitter+receiver", 2
	})
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 4 })
	s.awaitAll(s.submitMany(100), "DELIVERED")
	s.agrees()
	for session := range s.sessionsOf("sent") {
		require.Contains(t, []string{"alpha/1", "alpha/2"}, session)
	}
	for session := range s.sessionsOf("reception") {
		require.Contains(t, []string{"alpha/1r", "alpha/2r"}, session)
	}
	require.Empty(t, s.inbox())
	binds := s.binds()
	require.Len(t, binds, 4)
	require.Equal(t, "BoundTX", binds["alpha/1"].State)
	require.Equal(t, "transmitter", binds["alpha/1"].Bind)
	require.Equal(t, 10, binds["alpha/1"].Window)
	require.Equal(t, "BoundRX", binds["alpha/2r"].State)
	require.Equal(t, "receiver", binds["alpha/2r"].Bind)
	require.Zero(t, binds["alpha/2r"].Window)
	metrics := s.metrics()
	require.Contains(t, metrics, `esmed_bind_up{session="alpha/1r",smsc="alpha"} 1`)
	require.NotContains(t, metrics, `esmed_window_in_use{session="alpha/1r"`)
}

// The answer waits on the transmitter until the receipt has come on the receiver, and been held.
func TestSessions_aReceiptThatOvertakesItsAnswerIsMatchedInTheSameStep(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Held = true
		a.Receipts = []smpptest.Planned{{Kind: smpptest.Final, Word: "DELIVRD", BeforeResponse: true}}
		return a
	}}, func(c *config.Config) { c.SMSCs[0].Bind = "transmitter+receiver" })
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	id := s.submit(number(1))
	s.awaitRecord("reception")
	require.Len(t, s.inbox(), 1)
	require.NoError(t, s.smsc.Answer(1))
	s.awaitState(id, "DELIVERED")
	require.Empty(t, s.inbox())
	history := s.history(id)
	resp := history[slices.IndexFunc(history, func(e control.Event) bool { return e.Type == "submit_resp" })]
	require.Equal(t, "DELIVERED", resp.Decisions[len(resp.Decisions)-1].To, "the answer's own step applies the receipt")
}

func TestSessions_anAnswerAboutTheSessionRebindsThatOneOnly(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: firstTry(refuse(smpp.StatusInvBndSts))}, func(c *config.Config) { c.SMSCs[0].Sessions = 2 })
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	id := s.submit(number(1))
	s.awaitState(id, "DELIVERED")
	first := s.message(id).Parts[0].Attempts[0].Session
	s.awaitBind(first, inState("BoundTRX"))
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds == 3 && st.Bound == 2 })
	for _, e := range s.sessionEvents() {
		if strings.HasPrefix(e.Detail, "closed") {
			require.Equal(t, first, e.Session)
			require.Contains(t, e.Detail, "submit_sm answered ESME_RINVBNDSTS")
		}
	}
}

func TestBinds_aStopHoldsOverAReloadAndLosesNothing(t *testing.T) {
	s := newSystem(t, smpptest.Config{Answers: smpptest.Answers{Delay: 2 * time.Millisecond}}, func(c *config.Config) { c.SMSCs[0].Sessions = 2 })
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	ids := s.submitMany(60)
	o := s.order("alpha", control.StopBinds)
	require.True(t, o.Done)
	require.Len(t, o.Sessions, 2)
	for _, session := range []string{"alpha/1", "alpha/2"} {
		b := s.awaitBind(session, inState("Closed"))
		require.Equal(t, "the test wants it", b.Stopped.Reason)
		require.Nil(t, b.NextAttemptAt)
		require.Zero(t, b.WindowInUse)
	}
	require.False(t, s.order("alpha", control.StopBinds).Done)
	require.False(t, s.alert("bind_down", "alpha").Active)
	binds := s.smsc.Stats().Binds

	for i, change := range []func(*config.SMSC){
		func(*config.SMSC) {},
		func(c *config.SMSC) { c.Window = 3 },
	} {
		s.hangUp(s.changed(0, change), nil)
		s.awaitLogs(`"msg":"reloaded"`, i+1)
	}
	s.awaitBind("alpha/1", func(b control.Bind) bool { return b.Window == 3 && b.Stopped != nil })
	waiting := s.submit(number(1000))
	require.Equal(t, binds, s.smsc.Stats().Binds)
	require.Equal(t, "QUEUED", s.message(waiting).State)

	require.True(t, s.order("alpha", control.StartBinds).Done)
	require.False(t, s.order("alpha", control.StartBinds).Done)
	s.awaitAll(append(ids, waiting), "DELIVERED")
	s.agrees()
	require.Empty(t, s.exceptions(), "all that was outstanding was answered before the sessions unbound")
	var orders []string
	for _, e := range s.sessionEvents() {
		if e.Session == "" {
			orders = append(orders, e.Detail)
		}
	}
	require.Len(t, orders, 2)
	require.Regexp(t, `^stopped: by uid:[0-9]+: the test wants it$`, orders[0])
	require.Regexp(t, `^started: by uid:[0-9]+: the test wants it$`, orders[1])
}

func TestBinds_aStopIsOverWhenTheDaemonIsStartedAnew(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 1 })
	s.order("alpha", control.StopBinds)
	id := s.submit(number(1))
	s.restart()
	s.awaitState(id, "DELIVERED")
	require.Nil(t, s.binds()["alpha/1"].Stopped)
}

func TestBinds_restartsUnderLoadLoseNothing(t *testing.T) {
	s := newSystem(t, smpptest.Config{Answers: smpptest.Answers{Delay: time.Millisecond}}, func(c *config.Config) { c.SMSCs[0].Sessions = 2 })
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	var ids []string
	for n := range 150 {
		ids = append(ids, s.submit(number(n)))
		if n%50 == 25 {
			s.order("alpha", control.RestartBinds)
		}
	}
	s.awaitAll(ids, "DELIVERED")
	s.agrees()
	require.Empty(t, s.exceptions())
	require.GreaterOrEqual(t, s.smsc.Stats().Binds, 4)
}

func TestBinds_anUnknownSMSC(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	_, err := s.api.OrderBind(s.ctx, "beta", control.StopBinds, "")
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, 404, p.Status)
	require.Equal(t, "there are: alpha", p.Hint)
}

// One SMSC is dead, one slow and one refuses: the fourth is served as if it were alone.
func TestBinds_onesTroublesAreNotAnothers(t *testing.T) {
	start := func(c smpptest.Config) string { return startSMSC(t, c).Addr() }
	dead := start(smpptest.Config{Link: smpptest.Link{SilentAfter: 1}})
	slow := start(smpptest.Config{Answers: smpptest.Answers{Delay: time.Hour}})
	refusing := start(smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusInvSysID}})
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) {
		c.ShutdownTimeout = 100 * time.Millisecond
		c.DefaultSMSC = "alpha"
		for name, addr := range map[string]string{"dead": dead, "slow": slow, "refusing": refusing} {
			other := newSMSC(name, addr)
			other.ResponseTimeout = 200 * time.Millisecond
			c.SMSCs = append(c.SMSCs, other)
		}
	})
	for n := range 50 {
		for _, smsc := range []string{"dead", "slow", "refusing"} {
			s.submitTo(smsc, number(n), "hello")
		}
	}
	s.awaitAll(s.submitMany(100), "DELIVERED")
	s.agrees()
	require.True(t, s.alert("credentials", "refusing").Active)
	require.False(t, s.alert("credentials", "alpha").Active)
	require.Contains(t, s.alert("credentials", "refusing").Detail, "ESME_RINVSYSID")
}

// alpha, whose settings change, owes an answer that does not come. beta, which is new, does not wait for that.
func TestReload_oneThatDrainsHoldsNobodyUp(t *testing.T) {
	beta := startSMSC(t, smpptest.Config{})
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Held, a.Receipts = true, nil
		return a
	}}, func(c *config.Config) { c.ShutdownTimeout, c.DefaultSMSC = patience, "alpha" })
	id := s.submit(number(1))
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 1 })
	next := s.changed(0, func(c *config.SMSC) { c.Window++ })
	next.SMSCs = append(next.SMSCs, newSMSC("beta", beta.Addr()))
	s.hangUp(next, nil)
	s.awaitLog(`"msg":"reloaded"`)
	s.awaitState(s.submitTo("beta", number(1), "hello"), "DELIVERED")
	require.Equal(t, 1, s.smsc.Stats().Binds, "alpha still waits for its answer")
	require.Equal(t, "SUBMITTING", s.message(id).State)
	s.smsc.Drop(smpptest.DropReset)
	s.awaitState(id, "IN_DOUBT")
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds == 2 })
}

// What only says how fast is taken up as it is: at the old pace the third message would leave in minutes.
func TestReload_aChangedPaceDoesNotBindAnew(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) { c.SMSCs[0].Throughput = 0.01 })
	ids := s.submitMany(3)
	s.awaitState(ids[0], "DELIVERED")
	s.hangUp(s.changed(0, func(c *config.SMSC) { c.Throughput = 0 }), nil)
	s.awaitAll(ids, "DELIVERED")
	require.Equal(t, 1, s.smsc.Stats().Binds)
}

func TestReload_whatIsTriedAgainDoesNotBindAnew(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: firstTry(refuse(smpp.StatusInvDstAdr))}, nil)
	s.awaitState(s.submit(number(1)), "FAILED")
	s.hangUp(s.changed(0, func(c *config.SMSC) {
		c.Retry.Statuses = []smpp.Status{smpp.StatusInvDstAdr}
	}), nil)
	s.awaitLog(`"msg":"reloaded"`)
	require.Eventually(t, func() bool { // it is taken up soon after
		return s.await(s.submit(number(2)), "closed", func(m control.Message) bool { return m.Closed }).State == "DELIVERED"
	}, patience, time.Millisecond)
	require.Equal(t, 1, s.smsc.Stats().Binds)
}

func TestReload_aRenewedCertificateIsTakenUp(t *testing.T) {
	ca, err := smpptest.NewAuthority()
	require.NoError(t, err)
	server, err := ca.Issue("smsc.example.net")
	require.NoError(t, err)
	dir := t.TempDir()
	caFile, _, err := ca.Write(dir, "ca")
	require.NoError(t, err)
	renew := func() (certFile, keyFile string) {
		client, err := ca.Issue("esme")
		require.NoError(t, err)
		certFile, keyFile, err = client.Write(dir, "client")
		require.NoError(t, err)
		return certFile, keyFile
	}
	s := newSystem(t, smpptest.Config{TLS: &tls.Config{
		Certificates: []tls.Certificate{server.TLS}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool,
	}}, func(c *config.Config) {
		certFile, keyFile := renew()
		c.SMSCs[0].TLS = config.TLS{Enabled: true, CAFile: caFile, CertFile: certFile, KeyFile: keyFile, ServerName: "smsc.example.net"}
	})
	s.awaitState(s.submit(number(1)), "DELIVERED")
	same := s.changed(0, func(*config.SMSC) {})
	s.hangUp(same, nil)
	s.awaitLogs(`"msg":"reloaded"`, 1)
	s.awaitState(s.submit(number(2)), "DELIVERED")
	require.Equal(t, 1, s.smsc.Stats().Binds)

	renew()
	s.hangUp(same, nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds == 2 && st.Bound == 1 })

	require.NoError(t, os.WriteFile(same.SMSCs[0].TLS.CertFile, []byte("half of a fi"), 0o600))
	s.hangUp(same, nil)
	s.awaitLog("not reloaded: the configuration stays as it was")
	s.awaitState(s.submit(number(3)), "DELIVERED")
}

func TestReload_anSMSCTakenOutKeepsItsQueue(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) {
		c.SMSCs = append(c.SMSCs, newSMSC("beta", c.SMSCs[0].Addr[0]))
		c.DefaultSMSC = "alpha"
	})
	s.order("beta", control.StopBinds) // so that something waits
	id := s.submitTo("beta", number(1), "hello")
	full := *s.cfg
	without := full
	without.SMSCs = full.SMSCs[:1]
	s.hangUp(&without, nil)
	s.awaitLogs(`"msg":"reloaded"`, 1)
	s.awaitBind("beta/1", func(b control.Bind) bool { return b.Session == "" })
	left := s.binds()[""]
	require.Equal(t, "beta", left.SMSC)
	require.False(t, left.Configured)
	require.NotNil(t, left.Stopped)
	require.Equal(t, "QUEUED", s.message(id).State)
	_, err := s.api.OrderBind(s.ctx, "beta", control.StartBinds, "")
	require.ErrorContains(t, err, "no SMSC is named")

	s.hangUp(&full, nil)
	s.awaitLogs(`"msg":"reloaded"`, 2)
	s.awaitBind("beta/1", func(b control.Bind) bool { return b.Configured && b.Stopped != nil })
	s.order("beta", control.StartBinds)
	s.awaitState(id, "DELIVERED")
	require.NotContains(t, s.binds(), "")
}

// Accounts get locked: after refused credentials the next bind waits for reconnect.max.
func TestSessions_refusedCredentialsWaitReconnectMax(t *testing.T) {
	const longest = time.Second
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusBindFail, RefuseFirst: 1}}, func(c *config.Config) {
		c.SMSCs[0].Reconnect = config.Backoff{Min: 10 * time.Millisecond, Max: longest}
	})
	s.awaitBind("alpha/1", inState("BoundTRX"))
	var at []time.Time
	for _, l := range s.smsc.Truth() {
		if l.Type == smpptest.LineLink && (l.Event == "refused" || l.Event == "bound") {
			at = append(at, l.At)
		}
	}
	require.Len(t, at, 2)
	require.GreaterOrEqual(t, at[1].Sub(at[0]), longest-100*time.Millisecond) // its own clock reads when the answer is made
	require.False(t, s.alert("credentials", "alpha").Active)
}

// The SMSC has not noticed yet that an old session is gone: nobody waits an hour for that.
func TestSessions_alreadyBoundIsNoRefusalOfCredentials(t *testing.T) {
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusAlyBnd, RefuseFirst: 3}}, func(c *config.Config) {
		c.SMSCs[0].Reconnect = config.Backoff{Min: 10 * time.Millisecond, Max: time.Hour}
	})
	s.awaitRecord("session")
	require.False(t, s.alert("credentials", "alpha").Active)
	s.awaitState(s.submit(number(1)), "DELIVERED") // so that the bind is recorded
	events := s.sessionEvents()
	require.Len(t, events, 2)
	require.Regexp(t, `^refused: ESME_RALYBND: 127\.0\.0\.1:[0-9]+$`, events[0].Detail)
	require.Regexp(t, `^bound: 127\.0\.0\.1:[0-9]+; after 3 failed since `, events[1].Detail)
}

func TestSessions_anUnbindOfTheSMSCsIsRecordedForEach(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) { c.SMSCs[0].Bind = "transmitter+receiver" })
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 2 })
	s.smsc.Unbind()
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds == 4 && st.Bound == 2 })
	s.awaitState(s.submit(number(1)), "DELIVERED")
	var unbound []string
	for _, e := range s.sessionEvents() {
		if strings.HasPrefix(e.Detail, "closed") {
			require.Contains(t, e.Detail, "unbind by the SMSC")
			unbound = append(unbound, e.Session)
		}
	}
	require.ElementsMatch(t, []string{"alpha/1", "alpha/1r"}, unbound)
}

func TestStop_drainsTheWindowsOfAllSessions(t *testing.T) {
	s := newSystem(t, smpptest.Config{Answers: smpptest.Answers{Delay: 20 * time.Millisecond}}, func(c *config.Config) {
		c.ShutdownTimeout = patience
		c.SMSCs[0].Sessions, c.SMSCs[0].Window = 3, 2
	})
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 3 })
	ids := s.submitMany(30)
	s.restart()
	s.awaitAll(ids, "DELIVERED")
	require.Empty(t, s.exceptions(), "nothing is in doubt that had time to be answered")
	for _, id := range ids {
		require.Len(t, s.message(id).Parts[0].Attempts, 1)
	}
	s.agrees()
}

func TestBinds_saysWhenTheNextAttemptIsMade(t *testing.T) {
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusInvPaswd}}, func(c *config.Config) {
		c.SMSCs[0].Reconnect.Max = time.Hour
	})
	b := s.awaitBind("alpha/1", func(b control.Bind) bool { return b.NextAttemptAt != nil })
	require.Greater(t, time.Until(*b.NextAttemptAt), 30*time.Minute)
	require.Contains(t, b.LastError, "ESME_RINVPASWD")
	require.True(t, s.alert("credentials", "alpha").Active)
	s.smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = 0 })
	s.order("alpha", control.RestartBinds) // which does not wait an hour
	s.awaitBind("alpha/1", inState("BoundTRX"))
	require.False(t, s.alert("credentials", "alpha").Active)
}

// A changed configuration is a new chance: what the old one was refused for says nothing of it.
func TestAlerts_credentialsAreOverWhenTheConfigurationChanges(t *testing.T) {
	s := newSystem(t, smpptest.Config{Password: "right"}, func(c *config.Config) { c.SMSCs[0].Reconnect.Max = time.Hour })
	s.awaitRecord("session")
	require.True(t, s.alert("credentials", "alpha").Active)
	s.hangUp(s.changed(0, func(c *config.SMSC) { c.Password = "right" }), nil)
	s.awaitBind("alpha/1", inState("BoundTRX"))
	require.False(t, s.alert("credentials", "alpha").Active)
}

// awaitLogs waits until the daemon's log holds a text n times.
func (s *system) awaitLogs(text string, n int) {
	s.t.Helper()
	for {
		changed := s.log.next()
		if strings.Count(s.log.String(), text) >= n {
			return
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			require.FailNow(s.t, "never logged", "%s, %d times", text, n)
		}
	}
}
