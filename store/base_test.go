package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

// madeAnew requires that a store verifies, also from what is left when state.db is lost.
func madeAnew(t *testing.T, s *running) {
	t.Helper()
	verifies(t, s.Store)
	want := dump(t, s.Store)
	cfg := s.cfg
	require.NoError(t, s.stop())
	sameAgain(t, cfg, want, filepath.Join(t.TempDir(), "again"))
}

// TestBase_asksForRecordsThatAreDropped takes back a decision whose record is dropped later: a fold that begins
// with base.db asks for that record too, and must not find it gone.
func TestBase_asksForRecordsThatAreDropped(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords = 1000
	now := began
	cfg.Now = func() time.Time { return now }
	s := start(t, cfg)
	ctx := context.Background()
	_, err := s.SetRules(ctx, rulesToday())
	require.NoError(t, err)
	garbage := s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: []byte{1}, Length: 1})
	x := fmt.Sprint("x", garbage[0].Seq)
	s.append(&statemachine.Operator{Action: statemachine.ActionDismiss, By: "uid:0", Exception: x})
	for s.end.Load() < applyBatch+1000 { // base.db takes the first batch at once
		facts := make([]statemachine.Fact, 1000)
		for i := range facts {
			facts[i] = &statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"}
		}
		s.append(facts...)
		now = now.Add(time.Hour)
	}
	s.append(&statemachine.Operator{Action: statemachine.ActionUndo, By: "uid:0", Exception: x})
	require.NoError(t, s.Sync(ctx))
	opened, err := s.Exception(ctx, x)
	require.NoError(t, err)
	require.Equal(t, statemachine.StatusOpen, opened.Status)
	require.Equal(t, 1, s.retire(Retention{Log: began.Add(time.Minute)}).Segments)
	madeAnew(t, s)
}

// TestRetire_keepsTheRules takes back a decision that was made under rules whose record is dropped.
func TestRetire_keepsTheRules(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords = 5
	now := began
	cfg.Now = func() time.Time { return now }
	s := start(t, cfg)
	ctx := context.Background()
	_, err := s.SetRules(ctx, rulesToday())
	require.NoError(t, err)
	for range 10 {
		s.append(&statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"})
	}
	now = now.Add(time.Hour)
	s.append(life("M1", "5A", "a text")...)
	second := s.append(report("5A", "EXPIRED", someDest))
	x := fmt.Sprint("x", second[0].Seq)
	decide := func(action statemachine.Action, want statemachine.State) {
		s.append(&statemachine.Operator{Action: action, By: "uid:0", Exception: x})
		m, err := s.Message(ctx, "M1")
		require.NoError(t, err)
		require.Equal(t, want, m.State)
	}
	decide(statemachine.ActionTake, statemachine.Expired)
	require.Equal(t, 2, s.retire(Retention{Log: now}).Segments)
	decide(statemachine.ActionUndo, statemachine.Delivered)
	madeAnew(t, s)
}

// TestBase_textsGoBeforeRecords destroys texts long before the records that they are in: what was decided by
// them stays so.
func TestBase_textsGoBeforeRecords(t *testing.T) {
	for _, tt := range []struct {
		name    string
		destroy func(s *running, before time.Time)
	}{
		{"by retention", func(s *running, before time.Time) {
			require.Positive(s.t, s.retire(Retention{Texts: before}).Keys)
		}},
		{"by hand", func(s *running, before time.Time) {
			n, err := s.keys.destroyBefore(before, 1000)
			require.NoError(s.t, err)
			require.Positive(s.t, n)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := testConfig(t.TempDir())
			cfg.SegmentRecords, cfg.PartitionMessages = 20, 3
			now := began
			cfg.Now = func() time.Time { return now }
			s := start(t, cfg)
			_, err := s.SetRules(context.Background(), rulesToday())
			require.NoError(t, err)
			for i := range 20 {
				now = now.Add(2 * time.Hour)
				s.append(lifeTo(fmt.Sprintf("3933312345%02d", i), fmt.Sprintf("M%02d", i), fmt.Sprintf("5A%02d", i), "a text")...)
				s.append(report("", "DELIVRD", someDest)) // its text makes its fingerprint
			}
			tt.destroy(s, now.Add(-5*time.Hour))
			verifies(t, s.Store)
			old := now.Add(-10 * time.Hour)
			require.Positive(t, s.retire(Retention{Messages: old, Inbox: old, Log: old}).Segments)
			madeAnew(t, s)
		})
	}
}

// TestBase_olderParser drops records that an older parser decided about: what it decided stays so.
func TestBase_olderParser(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords, cfg.PartitionMessages = 20, 3
	now := began
	cfg.Now = func() time.Time { return now }
	s := start(t, cfg)
	ctx := context.Background()
	_, err := s.SetRules(ctx, rulesToday())
	require.NoError(t, err)
	lives := func(from, to int, stat string) {
		for i := from; i < to; i++ {
			now = now.Add(time.Hour)
			dest := fmt.Sprintf("3933312345%02d", i)
			s.append(lifeTo(dest, fmt.Sprintf("M%02d", i), fmt.Sprintf("5A%02d", i), "a text")[:3]...)
			s.append(report(fmt.Sprintf("5A%02d", i), stat, dest))
		}
	}
	old := func() time.Time { return now.Add(-5 * time.Hour) }
	lives(0, 20, "EXPIRED")
	require.Positive(t, s.retire(Retention{Messages: old(), Log: old()}).Segments)
	lives(20, 30, "NONSENSE") // the next parser takes it for no receipt
	require.NoError(t, s.stop())

	cfg, rules := upgraded(cfg)
	s = start(t, cfg)
	_, err = s.SetRules(ctx, rules)
	require.NoError(t, err)
	lives(30, 35, "DELIVRD")
	verifies(t, s.Store)
	require.Positive(t, s.retire(Retention{Messages: old(), Log: old()}).Segments)
	m, err := s.Message(ctx, "M30")
	require.NoError(t, err)
	require.Equal(t, statemachine.Delivered, m.State)
	madeAnew(t, s)
	_, err = os.Stat(filepath.Join(cfg.Dir, baseFile+tmpSuffix))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotEqual(t, cfg.Parser, receipt.ParserVersion)
}

// TestOpen_segmentLostThatWasNotDropped takes away what retention had left.
func TestOpen_segmentLostThatWasNotDropped(t *testing.T) {
	s := livingStore(t)
	cfg := s.cfg
	first := s.log.from(0)[0]
	require.Greater(t, first.first, uint64(1))
	require.NoError(t, s.stop())
	require.NoError(t, os.Remove(first.path))
	for name, open := range map[string]func() error{
		"to run":  func() error { _, err := Open(cfg); return err },
		"to read": func() error { _, err := OpenReadOnly(cfg); return err },
		"to make state.db anew": func() error {
			_, err := Rebuild(context.Background(), cfg, nil)
			return err
		},
	} {
		var damaged *DamagedError
		require.ErrorAs(t, open(), &damaged, name)
		require.ErrorContains(t, damaged, "are missing before it")
		require.Equal(t, first.first, damaged.Seq)
	}
}
