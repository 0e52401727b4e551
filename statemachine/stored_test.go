package statemachine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
	"esmed/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf keeps the records of a lab in a real store, at the times that they have in the lab.
type shelf struct {
	t    require.TestingT
	cfg  store.Config
	now  *atomic.Pointer[time.Time]
	open *store.Store
	stop func() error
}

func newShelf(t require.TestingT, dir string) *shelf {
	s := &shelf{t: t, now: new(atomic.Pointer[time.Time])}
	s.now.Store(&began)
	s.cfg = store.Config{
		Dir: dir, Decode: delivery, Now: func() time.Time { return *s.now.Load() }, PartitionMessages: 1,
		TextSpans: func([]byte, *receipt.Rules) []store.Span { return nil },
	}
	return s
}

// start opens the store and lets it run.
func (s *shelf) start() {
	open, err := store.Open(s.cfg)
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return open.Run(ctx) })
	s.open = open
	s.stop = func() error {
		cancel()
		return errors.Join(g.Wait(), open.Close())
	}
}

// restart ends the store as it stands and opens it again.
func (s *shelf) restart() {
	require.NoError(s.t, s.stop())
	s.start()
}

// put appends a record of a lab.
func (s *shelf) put(rec statemachine.Record) {
	s.now.Store(&rec.At)
	if a, ok := rec.Fact.(*statemachine.MessageAccepted); ok {
		_, err := s.open.Accept(context.Background(), a)
		require.NoError(s.t, err)
		return
	}
	got, err := s.open.Append(context.Background(), rec.Fact)
	require.NoError(s.t, err)
	require.Equal(s.t, rec.Seq, got[0].Seq)
	require.True(s.t, rec.At.Equal(got[0].At))
}

// check reads the whole store as a lab prints itself, and verifies it.
func (s *shelf) check(want *lab) {
	got := lab{mem: statemachine.NewMemory(statemachine.Fold{})}
	ctx := context.Background()
	messages, _, err := s.open.Messages(ctx, store.Filter{Limit: 1000})
	require.NoError(s.t, err)
	for _, m := range messages {
		got.mem.Messages[m.ID] = m
	}
	rows, _, err := s.open.Inbox(ctx, "", "", 1000)
	require.NoError(s.t, err)
	for _, row := range rows {
		got.mem.Inbox[row.Key] = row
	}
	exceptions, _, err := s.open.Exceptions(ctx, store.ExceptionFilter{Limit: 1000})
	require.NoError(s.t, err)
	for _, x := range exceptions {
		got.mem.Exceptions[x.ID] = x
	}
	queues, err := s.open.QueueStats(ctx)
	require.NoError(s.t, err)
	for _, q := range queues {
		if q.Hold != (statemachine.Hold{}) {
			got.mem.Holds[q.SMSC] = q.Hold
		}
		waiting, err := s.open.NextQueued(ctx, q.SMSC, began.AddDate(100, 0, 0), nil, nil, 1000)
		require.NoError(s.t, err)
		for _, next := range waiting {
			got.mem.Queue[next.Entry] = true
		}
	}
	events, err := s.open.Events(ctx, 0, 1000)
	require.NoError(s.t, err)
	begins := want.begins()
	for _, e := range events {
		if e.Record.Seq >= begins { // a store drops whole segments and partitions, and may still have more
			got.mem.Decisions = append(got.mem.Decisions, e.Decisions...)
		}
	}
	require.Equal(s.t, want.text(), got.text())
	v, err := s.open.Verify(ctx, nil)
	require.NoError(s.t, err)
	require.Nil(s.t, v.Difference)
}

// begins is the record before which retention dropped all; 0 = none.
func (l *lab) begins() uint64 {
	begins := uint64(0)
	for _, eff := range l.effects {
		if eff.Drop != nil {
			begins = max(begins, eff.Drop.Log)
		}
	}
	return begins
}

// text is all that a lab holds, as people read it.
func (l *lab) text() string {
	var b []byte
	for _, d := range l.mem.Decisions {
		b = append(b, decision(d)...)
		b = append(b, '\n')
	}
	return string(b) + string(l.messages()) + string(l.inbox()) + string(l.openAndEnded()) + string(l.queues())
}

// anew has the projection made from the log in one go.
func (s *shelf) anew() {
	require.NoError(s.t, s.stop())
	require.NoError(s.t, os.Remove(filepath.Join(s.cfg.Dir, "state.db")))
	s.start()
}

// TestScenarios_restarted: a store that is closed and opened again between any two records of a scenario
// comes to the same, and so does one that takes them all at once.
func TestScenarios_restarted(t *testing.T) {
	files, err := filepath.Glob("../testdata/scenarios/*.txtar")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			l := play(t, string(archive.Files[0].Data))
			s := newShelf(t, t.TempDir())
			s.start()
			for _, rec := range l.records {
				s.put(rec)
				s.restart()
			}
			s.check(l)
			s.anew()
			s.check(l)
			require.NoError(t, s.stop())
		})
	}
}

// TestStore_againstModel: the histories of the model through a real store, with restarts at random, and the
// projection made anew: the store is what the lab is, which is what the model is.
func TestStore_againstModel(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		require.NoError(rt, err)
		n := newNetwork(t, rt)
		for range rapid.IntRange(5, 40).Draw(rt, "records") {
			n.next()
		}
		require.Equal(rt, n.model.String(), n.told())
		s := newShelf(rt, dir)
		s.start()
		for _, rec := range n.records {
			s.put(rec)
			if chance(rt, "restart", 8) {
				s.restart()
			}
		}
		s.check(n.lab)
		s.anew()
		s.check(n.lab)
		require.NoError(rt, s.stop())
	})
}
