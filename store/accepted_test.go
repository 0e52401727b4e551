package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestStore_accepted: a message reads the same from memory and from the log, wherever in it its record stands.
func TestStore_accepted(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords = 150
	s := startIn(t, cfg)
	other := &statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"}
	const messages = 60
	for i := range messages {
		id := fmt.Sprintf("M%02d", i)
		a := message(id, "", "text of "+id)
		for len(a.Parts) < 1+i%3 {
			a.Parts = append(a.Parts, a.Parts[0])
		}
		a.Priority = byte(i % priorities)
		s.append(a)
		for range i * 7 % (acceptedApart + 5) {
			s.append(other)
		}
	}
	require.NoError(t, s.Sync(ctx))
	read := func() []Queued {
		parts, err := s.NextQueued(ctx, "alpha", began, nil, nil, 1000)
		require.NoError(t, err)
		return parts
	}
	want := read()
	require.Len(t, want, 2*messages)
	for _, q := range want {
		require.Equal(t, q.Entry.Message, q.Accepted.Message)
		require.Equal(t, "text of "+string(q.Entry.Message), string(q.Accepted.Parts[q.Entry.Part-1].ShortMessage))
	}
	s.recent.forget()
	require.Equal(t, want, read(), "all from the log")
	s.append(message("M60", "", "text 60"))
	require.NoError(t, s.Sync(ctx))
	require.Len(t, read(), len(want)+1, "one from memory")

	_, err := s.accepted([]uint64{s.end.Load() + 1})
	require.ErrorIs(t, err, ErrNotFound)
}

// TestNextQueued_attempts: each part's own attempts are counted.
func TestNextQueued_attempts(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	a := message("M1", "", "a text")
	a.Parts = append(a.Parts, a.Parts[0], a.Parts[0])
	s.append(a)
	for attempt := 1; attempt <= 2; attempt++ {
		s.append(
			&statemachine.Sent{Message: "M1", Part: 2, Attempt: attempt, SMSC: "alpha"},
			&statemachine.SubmitResp{Message: "M1", Part: 2, Attempt: attempt, SMSC: "alpha", CommandStatus: 0x14, Temporary: true, RetryAt: began},
		)
	}
	require.NoError(t, s.Sync(ctx))
	parts, err := s.NextQueued(ctx, "alpha", began, nil, nil, 0)
	require.NoError(t, err)
	attempts := make(map[int]int)
	for _, q := range parts {
		attempts[q.Entry.Part] = q.Attempts
	}
	require.Equal(t, map[int]int{1: 0, 2: 2, 3: 0}, attempts)
}

// TestRecent: it holds the newest facts within its bound, and none whose key was destroyed.
func TestRecent(t *testing.T) {
	var r recent
	const group, groups = 100, 300
	seq := uint64(0)
	for range groups {
		var records []statemachine.Record
		var ends []int
		for i := range group {
			seq++
			var fact statemachine.Fact = &statemachine.MessageAccepted{Message: statemachine.ID(fmt.Sprint(seq))}
			if seq%2 == 0 {
				fact = &statemachine.Retry{}
			}
			records = append(records, statemachine.Record{Seq: seq, Fact: fact})
			ends = append(ends, 500*(i+1))
		}
		r.add(records, ends)
		require.LessOrEqual(t, r.bytes, recentBytes)
		require.LessOrEqual(t, len(r.facts.all), 2*recentBytes/(acceptedSize+500)+group)
	}
	seqs := []uint64{seq - 1, 1, seq, seq + 1, seq - 2*recentBytes/(acceptedSize+500) + 100}
	found := make([]acceptedRecord, len(seqs))
	r.fill(found, seqs)
	require.EqualValues(t, fmt.Sprint(seq-1), found[0].fact.Message)
	require.Nil(t, found[1].fact, "the oldest was dropped")
	require.Nil(t, found[2].fact, "it accepted nothing")
	require.Nil(t, found[3].fact, "there is none")
	require.EqualValues(t, fmt.Sprint(seqs[4]), found[4].fact.Message)
	r.forget()
	found = make([]acceptedRecord, len(seqs))
	r.fill(found, seqs)
	require.Equal(t, make([]acceptedRecord, len(seqs)), found)
}

// TestNextQueued_textsDestroyedWhileTheyWait: what is destroyed is not handed out of memory either.
func TestNextQueued_textsDestroyedWhileTheyWait(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	now := began
	cfg.Now = func() time.Time { return now }
	s := startIn(t, cfg)
	s.append(message("M1", "", "a text"))
	now = now.Add(2 * time.Hour)
	s.append(message("M2", "", "another text"))
	require.Positive(t, s.retire(Retention{Texts: began.Add(time.Hour)}).Keys)
	parts, err := s.NextQueued(ctx, "alpha", now, nil, nil, 0)
	require.NoError(t, err)
	require.Len(t, parts, 2)
	require.True(t, parts[0].TextGone)
	require.False(t, parts[1].TextGone)
}
