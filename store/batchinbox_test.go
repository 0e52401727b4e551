package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestInbox_ofARowThatBecameOlder: a reception that a person had given to a message comes back to the row of a
// later one. The row is listed by its new age, and no more once it is gone.
func TestInbox_ofARowThatBecameOlder(t *testing.T) {
	ctx := context.Background()
	now := began
	cfg := testConfig(t.TempDir())
	cfg.Now = func() time.Time { now = now.Add(time.Second); return now }
	s := startIn(t, cfg)
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	reception := &statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("77", "DELIVRD", someDest, "text", 4)}
	records := s.append(
		message("M1", "", "text"), &statemachine.Sent{Message: "M1", Part: 1, Attempt: 1, SMSC: "alpha"}, reception,
	)
	first := records[2]
	rows, _, err := s.Inbox(ctx, "", "", 0)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	s.append(
		&statemachine.Operator{Action: statemachine.ActionAssign, By: "uid:0", Row: rows[0].Key, Target: statemachine.AttemptRef{Message: "M1"}},
		reception,
	)
	decided, _, err := s.Exceptions(ctx, ExceptionFilter{})
	require.NoError(t, err)
	require.Len(t, decided, 1)
	s.append(&statemachine.Operator{Action: statemachine.ActionUndo, By: "uid:0", Exception: decided[0].ID})

	rows, _, err = s.Inbox(ctx, "", "", 0)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, first.Seq, rows[0].Receptions[0])
	require.Len(t, rows[0].Receptions, 2)
	require.True(t, first.At.Equal(rows[0].ReceivedAt))

	s.append(&statemachine.Retention{Inbox: []statemachine.InboxKey{rows[0].Key}})
	rows, _, err = s.Inbox(ctx, "", "", 0)
	require.NoError(t, err)
	require.Empty(t, rows)
}
