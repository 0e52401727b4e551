package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"esmed/statemachine"
)

// agingInbox has one row, which is always found.
type agingInbox struct {
	receivedAt time.Time
	retries    int
}

func (a *agingInbox) Overlooked(_ context.Context, _ string, from, to time.Time) ([]statemachine.InboxKey, error) {
	if a.receivedAt.Before(from) || !a.receivedAt.Before(to) {
		return nil, nil
	}
	return []statemachine.InboxKey{"row"}, nil
}

func (a *agingInbox) Post(_ context.Context, fact statemachine.Fact, done func(statemachine.Record, error)) error {
	a.retries++
	done(statemachine.Record{Fact: fact}, nil)
	return nil
}

func TestLooks_lookAtARowOnceAtEachAge(t *testing.T) {
	inbox := &agingInbox{receivedAt: paceStart}
	l := &looks{store: inbox, smscs: func() []string { return []string{"alpha"} }, log: zap.NewNop(), last: paceStart}
	for now := paceStart; now.Before(paceStart.Add(7 * time.Hour)); now = now.Add(1100 * time.Millisecond) {
		require.NoError(t, l.look(t.Context(), now))
		times, next := looked(paceStart, now)
		require.GreaterOrEqual(t, times, inbox.retries)
		require.LessOrEqual(t, times-inbox.retries, 1, "a look at the very end of a tick is made with the next")
		require.True(t, next.IsZero() || next.After(now))
	}
	require.Equal(t, len(lookAges), inbox.retries)
}
