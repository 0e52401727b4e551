package daemon_test

import (
	"context"
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

// alert is one alert as it is measured now.
func (s *system) alert(name, smsc string) control.Alert {
	s.t.Helper()
	all, err := s.api.Alerts(s.ctx)
	require.NoError(s.t, err)
	n := slices.IndexFunc(all, func(a control.Alert) bool { return a.Alert == name && a.SMSC == smsc })
	require.GreaterOrEqual(s.t, n, 0, "%s of %q is not measured", name, smsc)
	return all[n]
}

// awaitRecord follows the log until it has a record of that type, and gives it.
func (s *system) awaitRecord(recordType string) control.Event {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	for e, err := range s.api.Events(ctx, control.EventsQuery{Follow: true}) {
		require.NoError(s.t, err, recordType)
		if e.Type == recordType {
			return e
		}
	}
	require.FailNow(s.t, "never recorded", recordType)
	return control.Event{}
}

func TestAlerts_areToldOnceAndWhenTheyAreOver(t *testing.T) {
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusInvPaswd}}, func(c *config.Config) {
		c.SMSCs[0].Reconnect.Max = c.SMSCs[0].Reconnect.Min
	})
	s.awaitRecord("session")
	first := s.alert("credentials", "alpha")
	require.True(t, first.Active)
	require.Equal(t, control.Critical, first.Severity)
	again := s.alert("credentials", "alpha")
	require.Equal(t, first.Since, again.Since)
	require.Equal(t, 1, strings.Count(s.log.String(), `"msg":"alert","alert":"credentials"`))
	require.Contains(t, s.metrics(), `esmed_alert_active{alert="credentials"} 1`)

	s.smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = 0 })
	s.awaitState(s.submit(number(1)), "DELIVERED")
	over := s.alert("credentials", "alpha")
	require.False(t, over.Active)
	require.Nil(t, over.Since)
	require.Equal(t, 1, strings.Count(s.log.String(), `"msg":"alert over","alert":"credentials"`))
	require.Contains(t, s.metrics(), `esmed_alert_active{alert="credentials"} 0`)
}

func TestAlerts_coverage(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		if sub.N > 1 {
			a.Receipts = nil
		}
		return a
	}}, func(c *config.Config) {
		c.Alerts.CoverageSettle, c.Alerts.CoverageMin, c.Alerts.CoverageBelow = 0, 2, 0.6
	})
	s.awaitState(s.submit(number(1)), "DELIVERED")
	require.False(t, s.alert("coverage", "alpha").Active)
	s.awaitState(s.submit(number(2)), "SUBMITTED")
	a := s.alert("coverage", "alpha")
	require.True(t, a.Active)
	require.InDelta(t, 0.5, *a.Value, 1e-9)
	metrics := s.metrics()
	require.Contains(t, metrics, `esmed_coverage_ratio{smsc="alpha"} 0.5`)
	require.Contains(t, metrics, `esmed_delivered_ratio{smsc="alpha"} 0.5`)
}

func TestAlerts_inDoubt(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: firstTry(func(a *smpptest.Action) { a.Drop = smpptest.DropBefore; a.Receipts = nil })}, nil)
	s.awaitState(s.submit(number(1)), "IN_DOUBT")
	require.True(t, s.alert("in_doubt", "alpha").Active)
	require.False(t, s.alert("exceptions", "").Active)
}

func TestAlerts_inboxAge_dismissedReceiptsDoNotCount(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.Receipts = []smpptest.Planned{{Kind: smpptest.UnknownID, Word: "DELIVRD"}}
		return a
	}}, func(c *config.Config) { c.Alerts.InboxOlderThan = time.Millisecond })
	s.submit(number(1))
	s.awaitRecord("reception")
	s.drained()
	require.True(t, s.alert("inbox_age", "alpha").Active)
	require.Contains(t, s.metrics(), `esmed_inbox_size{smsc="alpha"} 1`)
	require.EqualValues(t, 1, s.total().Inbox)

	rows := s.inbox()
	require.Len(t, rows, 1)
	summary, err := s.api.Resolve(s.ctx, control.Resolve{IDs: []string{rows[0].ID}, Action: "dismiss", Reason: "another system's"},
		func(control.Resolved) error { return nil })
	require.NoError(t, err)
	require.EqualValues(t, 1, summary.Resolved)
	require.False(t, s.alert("inbox_age", "alpha").Active)
	require.Contains(t, s.metrics(), `esmed_inbox_size{smsc="alpha"} 0`)
	require.Zero(t, s.total().Inbox)
	require.Len(t, s.inbox(), 1)
}
