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
			require.Equal(t, q.Entry.Message, q.Accepted.Message)
			require.Equal(t, "text of "+string(q.Entry.Message), string(q.Accepted.Parts[0].ShortMessage))
			ids = append(ids, fmt.Sprint(q.Entry.Message, "/", q.Entry.Part))
		}
		return ids
	}
	t.Run("by priority, then first in first out", func(t *testing.T) {
		require.Equal(t, []string{"M2/1", "M1/1", "M1/2", "M4/1"}, read(began, nil, nil, 0))
	})
	t.Run("what waits for its time comes when it is due, by its priority", func(t *testing.T) {
		due, ok := s.NextDue("alpha", began)
		require.True(t, ok)
		require.Equal(t, began.Add(time.Hour), due)
		require.Equal(t, []string{"M2/1", "M5/1", "M1/1", "M1/2", "M4/1"}, read(due, nil, nil, 0))
		_, ok = s.NextDue("alpha", due)
		require.False(t, ok, "it is due")
		_, ok = s.NextDue("beta", began)
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

func TestQueueEnds(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	accept := func(id, smsc string, priority byte, parts int, validUntil time.Time) {
		a := message(id, "", "text of "+id)
		a.SMSC, a.Account, a.Priority, a.ValidUntil = smsc, smsc, priority, validUntil
		for len(a.Parts) < parts {
			a.Parts = append(a.Parts, a.Parts[0])
		}
		s.append(a)
	}
	hour := began.Add(time.Hour)
	accept("M1", "alpha", 0, 2, hour)
	accept("M2", "alpha", 3, 1, time.Time{})
	accept("M3", "beta", 3, 1, hour)
	accept("M4", "alpha", 0, 1, began)
	accept("M5", "alpha", 0, 1, hour)
	s.append(
		&statemachine.Sent{Message: "M5", Part: 1, Attempt: 1, SMSC: "alpha"},
		&statemachine.SubmitResp{Message: "M5", Part: 1, Attempt: 1, SMSC: "alpha", CommandStatus: 0x14, Temporary: true, RetryAt: hour},
	)
	require.NoError(t, s.Sync(ctx))
	var cur EndsCursor
	read := func(due time.Time, limit int) (all []string, more bool) {
		ends, more, err := s.QueueEnds(ctx, "alpha", due, &cur, limit)
		require.NoError(t, err)
		for _, e := range ends {
			text := string(e.Message)
			if !e.ValidUntil.IsZero() {
				text += " " + e.ValidUntil.Sub(began).String()
			}
			all = append(all, text)
		}
		return all, more
	}
	all, more := read(hour, 3)
	require.True(t, more)
	require.Equal(t, []string{"M1 1h0m0s", "M4 0s"}, all, "of both parts of M1 once")
	all, more = read(hour, 3)
	require.False(t, more)
	require.Equal(t, []string{"M2"}, all)
	accept("M6", "alpha", 2, 1, began)
	require.NoError(t, s.Sync(ctx))
	all, _ = read(hour, 0)
	require.Equal(t, []string{"M6 0s"}, all, "what is new comes behind the cursor")
	all, _ = read(hour.Add(1), 0)
	require.Equal(t, []string{"M5 1h0m0s"}, all, "what waits for its time comes once that is over")
	all, _ = read(hour.Add(1), 0)
	require.Empty(t, all)
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

// TestNextQueued_retriesAndOthers: parts that waited for a retry and the others of their priority take turns,
// however few are asked for, and a higher priority comes first, retried or not.
func TestNextQueued_retriesAndOthers(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	accept := func(id string, priority byte) {
		a := message(id, "", "text of "+id)
		a.Priority = priority
		s.append(a)
	}
	refuse := func(id statemachine.ID, retry time.Duration) {
		s.append(
			&statemachine.Sent{Message: id, Part: 1, Attempt: 1, SMSC: "alpha"},
			&statemachine.SubmitResp{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", CommandStatus: 0x14, Temporary: true, RetryAt: began.Add(retry)},
		)
	}
	for i := range 4 {
		accept(fmt.Sprint("R", i), 1)
	}
	accept("H", 2)
	for i := range 4 {
		refuse(statemachine.ID(fmt.Sprint("R", i)), time.Duration(10-i)*time.Second)
	}
	refuse("H", 11*time.Second)
	for i := range 3 {
		accept(fmt.Sprint("W", i), 1)
	}
	accept("L", 0)
	require.NoError(t, s.Sync(ctx))

	due, ok := s.NextDue("alpha", began)
	require.True(t, ok)
	require.Equal(t, began.Add(7*time.Second), due, "the earliest, whatever its priority")
	due, ok = s.NextDue("alpha", due)
	require.True(t, ok)
	require.Equal(t, began.Add(8*time.Second), due)

	for _, limit := range []int{1, 2, 100} {
		var cur QueueCursor
		taken := make(map[statemachine.ID]bool)
		var order []statemachine.ID
		for {
			parts, err := s.NextQueued(ctx, "alpha", began.Add(time.Minute), &cur, func(e statemachine.QueueEntry) bool { return taken[e.Message] }, limit)
			require.NoError(t, err)
			if len(parts) == 0 {
				break
			}
			require.LessOrEqual(t, len(parts), limit)
			for _, q := range parts {
				taken[q.Entry.Message] = true
				order = append(order, q.Entry.Message)
			}
		}
		require.Equal(t, []statemachine.ID{"H", "R3", "W0", "R2", "W1", "R1", "W2", "R0", "L"}, order, limit)
	}
}

func TestQueueStats(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	now := began
	cfg.Now = func() time.Time { return now }
	s := start(t, cfg)
	for i := range 5 {
		a := message(fmt.Sprint("M", i), "", "a text")
		a.Priority = byte(i % 4)
		s.append(a)
		now = now.Add(time.Second)
	}
	stats := func() []QueueStat {
		all, err := s.QueueStats(ctx)
		require.NoError(t, err)
		return all
	}
	require.Equal(t, []QueueStat{{SMSC: "alpha", Waiting: 5, ByPriority: [4]int64{2, 1, 1, 1}, Oldest: began}}, stats())

	by := statemachine.Operator{By: "uid:0", Reason: "their maintenance"}
	decide := func(action statemachine.Action, smsc string, ids ...statemachine.ID) Judgement {
		op := by
		op.Action, op.SMSC, op.Messages = action, smsc, ids
		came, err := s.Judge(ctx, &op)
		require.NoError(t, err)
		return came[0]
	}
	held := decide(statemachine.ActionHold, "beta")
	require.Empty(t, held.NoEffect)
	hold := statemachine.Hold{Seq: held.Record.Seq, At: now, By: "uid:0", Reason: "their maintenance"}
	require.Contains(t, decide(statemachine.ActionHold, "beta").NoEffect, "is held already, by uid:0")
	decide(statemachine.ActionCancel, "", "M0")
	require.Contains(t, decide(statemachine.ActionDrop, "beta", "M1").NoEffect, "the queue of beta")
	decide(statemachine.ActionDrop, "alpha", "M1", "M4", "none")
	s.append(
		&statemachine.Sent{Message: "M2", Part: 1, Attempt: 1, SMSC: "alpha"},
		&statemachine.SubmitResp{Message: "M2", Part: 1, Attempt: 1, SMSC: "alpha", CommandStatus: 0x58, Temporary: true, RetryAt: now.Add(time.Hour)},
	)
	want := []QueueStat{
		{SMSC: "alpha", Waiting: 1, Delayed: 1, ByPriority: [4]int64{2: 1, 3: 1}, Oldest: began.Add(2 * time.Second)},
		{SMSC: "beta", Hold: hold},
	}
	require.Equal(t, want, stats())
	require.NoError(t, s.stop())
	s = start(t, cfg)
	require.Equal(t, want, stats(), "after a restart")
	got, err := s.Hold(ctx, "beta")
	require.NoError(t, err)
	require.Equal(t, hold, got)
	require.Empty(t, decide(statemachine.ActionRelease, "beta").NoEffect)
	require.Contains(t, decide(statemachine.ActionRelease, "beta").NoEffect, "is not held")
	require.Equal(t, want[:1], stats())
	s.check()
}

func TestQueuedMessages(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	for i := range 6 {
		a := message(fmt.Sprint("M", i), "", "a text")
		if a.Parts = append(a.Parts, a.Parts[0], a.Parts[0]); i == 5 {
			a.SMSC, a.Account = "alpha2", "alpha2"
		}
		s.append(a)
	}
	for _, part := range []int{1, 2} {
		s.append(
			&statemachine.Sent{Message: "M3", Part: part, Attempt: 1, SMSC: "alpha"},
			&statemachine.SubmitResp{Message: "M3", Part: part, Attempt: 1, SMSC: "alpha", CommandStatus: 0x58, Temporary: true, RetryAt: began.Add(time.Hour)},
		)
	}
	for limit := 1; limit < 8; limit++ {
		var all []statemachine.ID
		for after, more := "", true; more; more = after != "" {
			ids, next, err := s.QueuedMessages(ctx, "alpha", after, limit)
			require.NoError(t, err)
			require.LessOrEqual(t, len(ids), limit)
			all, after = append(all, ids...), next
		}
		require.Equal(t, []statemachine.ID{"M0", "M1", "M2", "M3", "M4", "M3"}, all, "in the order of the queue, then those that wait for a retry")
	}
	_, _, err := s.QueuedMessages(ctx, "alpha", "no cursor", 1)
	require.ErrorIs(t, err, ErrNotFound)
}

// TestNextQueued_goesOnAfterRestart: a queue that is read a few at a time, while more comes and the store is closed
// and opened between, gives each part once: by priority, first in first out, for each SMSC apart.
func TestNextQueued_goesOnAfterRestart(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords, cfg.PartitionMessages = 500, 200
	s := start(t, cfg)
	want := make(map[string][priorities][]statemachine.ID)
	n := 0
	accept := func(count int) {
		facts := make([]statemachine.Fact, count)
		for i := range facts {
			a := message(fmt.Sprintf("M%05d", n), "", "a text")
			if a.Priority = byte(n * 7 % 5 % priorities); n%3 == 0 {
				a.SMSC, a.Account = "beta", "beta"
			}
			of := want[a.SMSC]
			of[a.Priority] = append(of[a.Priority], a.Message)
			want[a.SMSC] = of
			facts[i] = a
			n++
		}
		s.append(facts...)
		require.NoError(t, s.Sync(ctx))
	}
	got := make(map[string][priorities][]statemachine.ID)
	cursors := map[string]*QueueCursor{"alpha": {}, "beta": {}}
	send := func(smsc string, limit int) int {
		parts, err := s.NextQueued(ctx, smsc, began, cursors[smsc], nil, limit)
		require.NoError(t, err)
		facts := make([]statemachine.Fact, len(parts))
		of := got[smsc]
		for i, q := range parts {
			if i > 0 {
				require.GreaterOrEqual(t, parts[i-1].Entry.Priority, q.Entry.Priority)
			}
			of[q.Entry.Priority] = append(of[q.Entry.Priority], q.Entry.Message)
			facts[i] = &statemachine.Sent{Message: q.Entry.Message, Part: 1, Attempt: 1, SMSC: smsc, Session: smsc + "/1"}
		}
		got[smsc] = of
		s.append(facts...) // what is in the log is not handed out again, applied or not
		return len(parts)
	}
	for round := range 8 {
		accept(150)
		send("alpha", 70)
		send("beta", 40)
		send("alpha", 17)
		if round%3 == 2 {
			require.NoError(t, s.stop())
			s = start(t, cfg)
			cursors = map[string]*QueueCursor{"alpha": {}, "beta": {}}
		}
	}
	for smsc := range cursors {
		for send(smsc, 100) > 0 {
		}
	}
	require.Equal(t, want, got)
	s.check()
}
