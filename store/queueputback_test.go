package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// A decision that is taken back may put a part where it stood in the queue before, which a reader is past by then.
func TestNextQueued_whatIsPutBackIsNotPassedOver(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	again := message("M1", "", "text")
	again.InDoubt = "resend"
	s.append(
		again,
		&statemachine.Sent{Message: "M1", Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1"},
		&statemachine.AttemptInDoubt{Message: "M1", Part: 1, Attempt: 1, SMSC: "alpha", Cause: "timeout"},
		life("M1", "unheard-of", "text")[3],
	)
	rows, _, err := s.Inbox(ctx, "", "", 0)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	assigned := s.append(&statemachine.Operator{
		Action: statemachine.ActionAssign, By: "uid:0", Row: rows[0].Key, Target: statemachine.AttemptRef{Message: "M1", Part: 1},
	})
	s.append(messageTo("393331111111", "M2", "", "text"))
	require.NoError(t, s.Sync(ctx))
	var cur QueueCursor
	var ends EndsCursor
	read := func() (ids []statemachine.ID) {
		parts, err := s.NextQueued(ctx, "alpha", began, &cur, nil, 0)
		require.NoError(t, err)
		for _, q := range parts {
			ids = append(ids, q.Entry.Message)
		}
		return ids
	}
	end := func() (ids []statemachine.ID) {
		all, _, err := s.QueueEnds(ctx, "alpha", began, &ends, 0)
		require.NoError(t, err)
		for _, e := range all {
			ids = append(ids, e.Message)
		}
		return ids
	}
	require.Equal(t, []statemachine.ID{"M2"}, read())
	require.Equal(t, []statemachine.ID{"M2"}, end())
	resolved, _, err := s.Exceptions(ctx, ExceptionFilter{Limit: 10})
	require.NoError(t, err)
	var id string
	for _, x := range resolved {
		if x.Resolution != nil && x.Resolution.Seq == assigned[0].Seq && x.Kind == statemachine.KindUnmatched {
			id = x.ID
		}
	}
	s.append(&statemachine.Operator{Action: statemachine.ActionUndo, By: "uid:0", Exception: id})
	m, err := s.Message(ctx, "M1")
	require.NoError(t, err)
	require.True(t, m.Parts[0].Queued())
	require.Contains(t, read(), statemachine.ID("M1"))
	require.Contains(t, end(), statemachine.ID("M1"))
}
