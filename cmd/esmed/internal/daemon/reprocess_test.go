package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

// passStore has some rows and messages, and remembers which pages were recorded.
type passStore struct {
	rules    uint64
	progress statemachine.ReprocessProgress
	rows     int
	messages int
	pages    []*statemachine.Operator
	judging  func(page int) error // before each is recorded; nil = nothing
	finished chan struct{}        // closed with the last page; nil = nobody waits
}

func (s *passStore) Rules(context.Context) (uint64, *statemachine.Rules, error) {
	return s.rules, nil, nil
}

func (s *passStore) Reprocessing(context.Context) (statemachine.ReprocessProgress, error) {
	return s.progress, nil
}

func (s *passStore) RowsAfter(_ context.Context, after statemachine.InboxKey, limit int) (rows []*statemachine.InboxRow, _ error) {
	for n := range s.rows {
		if key := statemachine.InboxKey(fmt.Sprintf("row%05d", n)); key > after && len(rows) < limit {
			rows = append(rows, &statemachine.InboxRow{Key: key})
		}
	}
	return rows, nil
}

func (s *passStore) MessagesBefore(_ context.Context, before statemachine.ID, limit int) (all []*statemachine.Message, _ error) {
	for n := s.messages - 1; n >= 0; n-- {
		if id := statemachine.ID(fmt.Sprintf("M%05d", n)); (before == "" || id < before) && len(all) < limit {
			all = append(all, &statemachine.Message{ID: id})
		}
	}
	return all, nil
}

func (s *passStore) Judge(_ context.Context, facts ...statemachine.Fact) ([]store.Judgement, error) {
	if s.judging != nil {
		if err := s.judging(len(s.pages)); err != nil {
			return nil, err
		}
	}
	page := facts[0].(*statemachine.Operator)
	s.pages = append(s.pages, page)
	s.progress = page.Reprocess.Progress
	if s.progress.Finished && s.finished != nil {
		close(s.finished)
	}
	return []store.Judgement{{Record: statemachine.Record{Seq: uint64(100 + len(s.pages)), Fact: page}}}, nil
}

func (s *passStore) Head() store.Head { return store.Head{Seq: uint64(100 + len(s.pages))} }

func (s *passStore) Applied() uint64 { return uint64(100 + len(s.pages)) }

// judged are the rows and messages of all pages, in their order.
func (s *passStore) judged() (rows []statemachine.InboxKey, messages []statemachine.ID) {
	for _, p := range s.pages {
		rows = append(rows, p.Reprocess.Rows...)
		messages = append(messages, p.Reprocess.Messages...)
	}
	return rows, messages
}

// requireWhole expects that the pages from n on are a whole pass.
func (s *passStore) requireWhole(t *testing.T, n int) {
	t.Helper()
	s.pages = s.pages[n:]
	rows, messages := s.judged()
	require.Len(t, rows, s.rows)
	require.True(t, slices.IsSorted(rows), "rows come in the inbox's order")
	require.Len(t, messages, s.messages)
	slices.Reverse(messages)
	require.True(t, slices.IsSorted(messages), "messages come newest first")
	require.Equal(t, s.rules, s.progress.Rules)
	require.True(t, s.progress.Rows && s.progress.Finished)
}

func seeAll(control.ReprocessPage) error { return nil }

func TestReprocessor_judgesAllThereIsOnce(t *testing.T) {
	for _, size := range []struct{ rows, messages int }{{0, 0}, {1, 0}, {0, 1}, {reprocessPage, 2 * reprocessPage}, {1000, 777}} {
		t.Run(fmt.Sprintf("%d rows and %d messages", size.rows, size.messages), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &passStore{rules: 7, rows: size.rows, messages: size.messages}
				r := newReprocessor(s, zap.NewNop())
				require.NoError(t, r.ours(t.Context()))
				s.requireWhole(t, 0)
				require.Equal(t, byDaemon, s.pages[0].By)

				before := len(s.pages)
				require.NoError(t, r.ours(t.Context()))
				require.Len(t, s.pages, before, "what was judged under the rules in force is not judged again")
			})
		})
	}
}

func TestReprocessor_needsNoPassUnderTheFirstRulesOfAll(t *testing.T) {
	s := &passStore{rules: 1, rows: 3, messages: 3}
	require.NoError(t, newReprocessor(s, zap.NewNop()).ours(t.Context()))
	require.Empty(t, s.pages)
}

func TestReprocessor_goesOnWhereItWasInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &passStore{rules: 7, rows: 600, messages: 600}
		ctx, cancel := context.WithCancel(t.Context())
		s.judging = func(page int) error {
			if page == 4 {
				cancel()
				return ctx.Err()
			}
			return nil
		}
		require.ErrorIs(t, newReprocessor(s, zap.NewNop()).ours(ctx), context.Canceled)
		require.Len(t, s.pages, 4)
		s.judging = nil
		require.NoError(t, newReprocessor(s, zap.NewNop()).ours(t.Context()))
		s.requireWhole(t, 0)
	})
}

func TestReprocessor_beginsAnewUnderNewRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &passStore{rules: 7, rows: 600, messages: 600}
		s.judging = func(page int) error {
			if page == 3 {
				s.rules = 9
			}
			return nil
		}
		require.NoError(t, newReprocessor(s, zap.NewNop()).ours(t.Context()))
		s.requireWhole(t, 4)
		require.EqualValues(t, 9, s.progress.Rules)
	})
}

func TestReprocessor_makesWayForWhoAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &passStore{rules: 7, rows: 600, messages: 600}
		r := newReprocessor(s, zap.NewNop())
		asked := make(chan error, 1)
		s.judging = func(page int) error {
			if page == 1 {
				go func() { asked <- r.Reprocess(t.Context(), "uid:7", seeAll) }()
				synctest.Wait()
				require.ErrorIs(t, r.Reprocess(t.Context(), "uid:8", seeAll), control.ErrBusy, "one at a time")
			}
			return nil
		}
		require.NoError(t, r.ours(t.Context()))
		require.NoError(t, <-asked)
		require.Equal(t, byDaemon, s.pages[1].By)
		s.requireWhole(t, 2)
		require.Equal(t, "uid:7", s.pages[0].By)
	})
}

func TestReprocessor_finishesWhatACallerLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &passStore{rules: 7, rows: 600, messages: 600}
		r := newReprocessor(s, zap.NewNop())
		gone := errors.New("the caller is gone")
		require.ErrorIs(t, r.Reprocess(t.Context(), "uid:7", func(control.ReprocessPage) error { return gone }), gone)
		require.Len(t, s.pages, 1)
		s.finished = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.run(ctx) }()
		<-s.finished
		cancel()
		require.NoError(t, <-ended)
		s.requireWhole(t, 0)
		require.Equal(t, byDaemon, s.pages[1].By)
	})
}
