package daemon

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
	"esmed/store"
)

// agingInbox has one row, which is always found.
type agingInbox struct {
	receivedAt time.Time
	retries    int

	rows, stats int64
	changed     chan struct{}
}

func (a *agingInbox) Overlooked(_ context.Context, _ string, from, to time.Time) ([]statemachine.InboxKey, error) {
	if a.receivedAt.Before(from) || !a.receivedAt.Before(to) {
		return nil, nil
	}
	return []statemachine.InboxKey{"row"}, nil
}

func (a *agingInbox) InboxStats(context.Context) ([]store.InboxStat, error) {
	a.stats++
	return []store.InboxStat{{SMSC: "alpha", Rows: a.rows}}, nil
}

func (a *agingInbox) Changed() <-chan struct{} { return a.changed }

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

func TestLooks_sleepWhileNoInboxHasARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inbox := &agingInbox{changed: make(chan struct{})}
		l := &looks{store: inbox, smscs: func() []string { return []string{"alpha"} }, log: zap.NewNop()}
		ctx, cancel := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return l.run(ctx) })

		time.Sleep(time.Hour)
		synctest.Wait()
		require.EqualValues(t, 1, inbox.stats, "it looked once, and found no row")
		inbox.receivedAt, inbox.rows = time.Now(), 1
		close(inbox.changed)
		time.Sleep(7 * time.Hour)
		synctest.Wait()
		require.Equal(t, len(lookAges), inbox.retries, "a row that came is looked at, at each of its ages")
		cancel()
		require.NoError(t, g.Wait())
	})
}
