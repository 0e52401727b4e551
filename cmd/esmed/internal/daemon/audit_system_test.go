package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"
)

// audit compares what the daemon says about one of its SMSCs with what that knows, which must agree.
func (s *system) audit(name string, smsc *smpptest.Server, opt smpptest.AuditOptions) smpptest.AuditReport {
	s.t.Helper()
	opt.RulesFit = true
	var messages, events bytes.Buffer
	for m, err := range control.All(s.ctx, 0, func(ctx context.Context, cursor string, limit int) (control.List[control.Message], error) {
		return s.api.Messages(ctx, control.MessageQuery{SMSC: name, Cursor: cursor, Limit: limit})
	}) {
		require.NoError(s.t, err)
		require.NoError(s.t, json.NewEncoder(&messages).Encode(m))
	}
	for _, e := range s.events() {
		if e.SMSC == name {
			require.NoError(s.t, json.NewEncoder(&events).Encode(e))
		}
	}
	said, err := smpptest.ReadMessages(&messages)
	require.NoError(s.t, err)
	recorded, err := smpptest.ReadEvents(&events)
	require.NoError(s.t, err)
	r := smpptest.Audit(smsc.Truth(), said, recorded, opt)
	require.Empty(s.t, r.Differences, r.Figures())
	return r
}

// submitTo submits a message by way of an SMSC and gives its id.
func (s *system) submitTo(smsc, to, text string) string {
	s.t.Helper()
	m, _, err := s.api.Submit(s.ctx, control.Submission{To: to, From: "ACME", Text: text, SMSC: smsc}, "")
	require.NoError(s.t, err)
	return m.ID
}

// startSMSC is one more simulated SMSC.
func startSMSC(t *testing.T, cfg smpptest.Config) *smpptest.Server {
	t.Helper()
	smsc, err := smpptest.Start(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, smsc.Close()) })
	return smsc
}

// settled returns when every message has come to where it stays: its receipts are in and acknowledged.
func (s *system) settled() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	moving := func() bool {
		l, err := s.api.Messages(ctx, control.MessageQuery{States: []string{"QUEUED", "SUBMITTING", "SUBMITTED"}, Limit: 1})
		require.NoError(s.t, err)
		return len(l.Items) > 0
	}
	if moving() {
		for _, err := range s.api.Events(ctx, control.EventsQuery{Follow: true, OnlyChanges: true}) {
			require.NoError(s.t, err)
			if !moving() {
				break
			}
		}
	}
	s.drained()
}
