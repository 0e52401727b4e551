package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

func TestNextQueued(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	accept := func(id, smsc string, priority byte, parts int) {
		a := message(id, "", "text of "+id)
		a.SMSC, a.Account, a.Priority = smsc, smsc, priority
		for len(a.Parts) < parts {
			a.Parts = append(a.Parts, a.Parts[0])
		}
		s.append(a)
	}
	accept("M1", "alpha", 0, 2)
	accept("M2", "alpha", 3, 1)
	accept("M3", "beta", 3, 1)
	accept("M4", "alpha", 0, 1)
	accept("M5", "alpha", 1, 1)
	s.append(
		&statemachine.Sent{Message: "M5", Part: 1, Attempt: 1, SMSC: "alpha"},
		&statemachine.SubmitResp{Message: "M5", Part: 1, Attempt: 1, SMSC: "alpha", CommandStatus: 0x58, Temporary: true, RetryAt: began.Add(time.Hour)},
	)
	require.NoError(t, s.Sync(ctx))
	read := func(now time.Time, cur *QueueCursor, skip func(statemachine.QueueEntry) bool, limit int) (ids []string) {
		parts, err := s.NextQueued(ctx, "alpha", now, cur, skip, limit)
		require.NoError(t, err)
		for _, q := range parts {
			require.Equal(t, q.Entry.Message, q.Message.ID)
			require.Equal(t, "text of "+string(q.Message.ID), string(q.Accepted.Parts[0].ShortMessage))
			ids = append(ids, fmt.Sprint(q.Entry.Message, "/", q.Entry.Part))
		}
		return ids
	}
	t.Run("by priority, then first in first out", func(t *testing.T) {
		require.Equal(t, []string{"M2/1", "M1/1", "M1/2", "M4/1"}, read(began, nil, nil, 0))
	})
	t.Run("what waits for its time comes when it is due, by its priority", func(t *testing.T) {
		due, ok := s.NextDue("alpha")
		require.True(t, ok)
		require.Equal(t, began.Add(time.Hour), due)
		require.Equal(t, []string{"M2/1", "M5/1", "M1/1", "M1/2", "M4/1"}, read(due, nil, nil, 0))
		_, ok = s.NextDue("beta")
		require.False(t, ok)
	})
	t.Run("a cursor hands out each entry once", func(t *testing.T) {
		var cur QueueCursor
		require.Equal(t, []string{"M2/1", "M1/1"}, read(began, &cur, nil, 2))
		require.Equal(t, []string{"M1/2"}, read(began, &cur, nil, 1))
		require.Equal(t, []string{"M4/1"}, read(began, &cur, nil, 5))
		require.Empty(t, read(began, &cur, nil, 5))
		accept("M6", "alpha", 2, 1)
		require.NoError(t, s.Sync(ctx))
		require.Equal(t, []string{"M6/1"}, read(began, &cur, nil, 5))
		cur = QueueCursor{}
		require.Equal(t, []string{"M2/1", "M6/1"}, read(began, &cur, nil, 2), "from the head again")
	})
	t.Run("a cursor goes on behind what is skipped, not behind what did not fit", func(t *testing.T) {
		var cur QueueCursor
		taken := func(e statemachine.QueueEntry) bool { return e.Message == "M1" || e.Message == "M2" }
		require.Equal(t, []string{"M5/1"}, read(began.Add(time.Hour), &cur, func(e statemachine.QueueEntry) bool { return taken(e) || e.Message == "M6" }, 1))
		require.Equal(t, []string{"M4/1"}, read(began, &cur, taken, 1))
		require.Empty(t, read(began, &cur, nil, 1))
	})
}

func TestUnanswered(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	s := start(t, cfg)
	s.append(life("M1", "1", "a")[:2]...)
	s.append(life("M2", "2", "a")...)
	require.NoError(t, s.stop())
	s = start(t, cfg)
	defer s.check()
	for smsc, n := range map[string]int{"": 1, "alpha": 1, "beta": 0} {
		left, err := s.Unanswered(ctx, smsc)
		require.NoError(t, err)
		require.Len(t, left, n)
		if n > 0 {
			require.Equal(t, statemachine.AttemptRef{Message: "M1", Part: 1, Attempt: 1}, left[0].Ref)
			require.Equal(t, "alpha/1", left[0].Session)
		}
	}
}
