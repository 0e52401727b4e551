package store

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

// rulesToday are as a daemon of this version puts them.
func rulesToday() statemachine.Rules { return rulesOf(receipt.ParserVersion) }

// disputed is a store in which one message has a whole life among others, and the bundle about it.
func disputed(t *testing.T) (*running, *Evidence) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords = 20
	s := startIn(t, cfg)
	_, err := s.SetRules(context.Background(), rulesToday())
	require.NoError(t, err)
	for i := range 10 {
		for _, fact := range lifeTo(fmt.Sprintf("3933312345%02d", i), fmt.Sprint("M", i), fmt.Sprintf("5A%02d", i), "a text") {
			s.append(fact)
		}
		s.append(message(fmt.Sprint("N", i), "", "beside it"), message(fmt.Sprint("O", i), "", "beside it"))
	}
	s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("5A04", "EXPIRED", "393331234504", "x", 4)})
	e, err := s.Evidence(context.Background(), "M4")
	require.NoError(t, err)
	return s, e
}

func TestVerifyEvidence(t *testing.T) {
	s, e := disputed(t)
	require.Equal(t, statemachine.Delivered, e.State)
	require.Equal(t, s.Head(), e.Head)
	r, err := VerifyEvidence(e, nil, decodePDU)
	require.NoError(t, err)
	require.Equal(t, EvidenceResult{Head: e.Head, Records: 6, Sealed: 4, Decisions: 3}, r)

	t.Run("the head that was kept is the bundle's", func(t *testing.T) {
		r, err := VerifyEvidence(e, &Head{Seq: e.Head.Seq, Hash: e.Head.Hash}, decodePDU)
		require.NoError(t, err)
		require.True(t, r.Anchored)
	})
	t.Run("the head that was kept is an earlier one", func(t *testing.T) {
		kept := s.Head()
		for range 9 {
			s.append(&statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"})
		}
		e, err := s.Evidence(context.Background(), "M4", kept.Seq)
		require.NoError(t, err)
		r, err := VerifyEvidence(e, &kept, decodePDU)
		require.NoError(t, err)
		require.True(t, r.Anchored)
		require.Greater(t, r.Head.Seq, kept.Seq)
	})
	t.Run("the head that was kept is of another chain", func(t *testing.T) {
		_, err := VerifyEvidence(e, &Head{Seq: e.Head.Seq, Hash: hash{1}}, decodePDU)
		var failed *EvidenceError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, e.Head.Seq, failed.Seq)
	})
	t.Run("no commit ends there", func(t *testing.T) {
		_, err := s.Evidence(context.Background(), "M4", 1<<40)
		require.ErrorIs(t, err, ErrNoCommit)
		for _, fact := range []statemachine.Fact{message("P1", "", "x"), message("P2", "", "x")} {
			s.append(fact)
		}
		records := s.append(&statemachine.QueueExpired{Message: "P1"}, &statemachine.QueueExpired{Message: "P2"})
		_, err = s.Evidence(context.Background(), "M4", records[0].Seq)
		require.ErrorIs(t, err, ErrNoCommit)
	})
	t.Run("there is no such message", func(t *testing.T) {
		_, err := s.Evidence(context.Background(), "none")
		require.ErrorIs(t, err, ErrNotFound)
	})
	t.Run("it discloses nothing of what happened beside", func(t *testing.T) {
		events, err := e.Opened()
		require.NoError(t, err)
		history, err := s.History(context.Background(), "M4")
		require.NoError(t, err)
		require.Len(t, events, len(history)+1)
		require.Equal(t, statemachine.TypeRules, events[0].Record.Fact.Type())
		require.Equal(t, history, events[1:])
	})
}

// TestVerifyEvidence_changed changes every octet of every record and hash, and all else that is checked.
func TestVerifyEvidence_changed(t *testing.T) {
	_, e := disputed(t)
	refused := func(t *testing.T, seq uint64, what string) {
		t.Helper()
		_, err := VerifyEvidence(e, nil, decodePDU)
		var failed *EvidenceError
		require.ErrorAs(t, err, &failed, what)
		if seq != 0 {
			require.Equal(t, seq, failed.Seq, "%s: %v", what, err)
		}
	}
	flip := func(t *testing.T, seq uint64, octets []byte, what string) {
		t.Helper()
		for i := range octets {
			octets[i] ^= 1 << (i % 8)
			refused(t, seq, fmt.Sprintf("%s, octet %d", what, i))
			octets[i] ^= 1 << (i % 8)
		}
	}
	for i := range e.Records {
		flip(t, e.Records[i].Seq, e.Records[i].Octets, "record")
	}
	for i := range e.Links {
		l := &e.Links[i]
		flip(t, l.Seq, l.Previous[:], "previous")
		flip(t, l.Seq, l.Skip[:], "skip")
		for n := range l.Records {
			flip(t, l.Seq, l.Records[n][:], "hash of a record")
		}
		if l.Records == nil {
			flip(t, l.Seq, l.RecordsHash[:], "hash of the records")
		}
	}
	flip(t, e.Head.Seq, e.Head.Hash[:], "head")
	tests := []struct {
		name   string
		change func(*Evidence)
	}{
		{"another number", func(e *Evidence) { e.Links[1].Number++ }},
		{"another seq of the commit that is skipped to", func(e *Evidence) { e.Links[0].SkipSeq++ }},
		{"another seq of a commit", func(e *Evidence) { e.Links[1].Seq++ }},
		{"another seq of the head", func(e *Evidence) { e.Head.Seq++ }},
		{"a link is left out", func(e *Evidence) { e.Links = slices.Delete(e.Links, 1, 2) }},
		{"a record is left out", func(e *Evidence) { e.Records = slices.Delete(e.Records, 2, 3) }},
		{"a record comes twice", func(e *Evidence) { e.Records = slices.Insert(e.Records, 2, e.Records[2]) }},
		{"a record is said to be out of the log", func(e *Evidence) { e.Records[1].Unproven = true; e.Records[1].Octets[8] ^= 1 }},
		{"a decision is left out", func(e *Evidence) { e.Decisions = e.Decisions[:2] }},
		{"the first decision is left out", func(e *Evidence) { e.Decisions = e.Decisions[1:] }},
		{"another outcome was decided", func(e *Evidence) { e.Decisions[1].To = statemachine.Expired }},
		{"another verdict", func(e *Evidence) { e.Decisions[2].Verdict = statemachine.VerdictApplied }},
		{"another state", func(e *Evidence) { e.State = statemachine.Expired }},
		{"a text is longer", func(e *Evidence) { e.Records[1].Texts[0] = append(e.Records[1].Texts[0], 'x') }},
		{"a text too many", func(e *Evidence) { e.Records[0].Texts = [][]byte{{1}} }},
		{"a text is gone that never was", func(e *Evidence) { e.Records[0].TextGone = true }},
		{"nothing is left", func(e *Evidence) { *e = Evidence{Message: "M4", State: statemachine.Delivered} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, fresh := disputed(t)
			e = fresh
			tt.change(e)
			refused(t, 0, tt.name)
		})
	}
}

// TestEvidence_short shows that the way to the head grows with the logarithm of what lies between.
func TestEvidence_short(t *testing.T) {
	cfg := testConfig(t.TempDir())
	s := startIn(t, cfg)
	for _, fact := range life("M1", "1", "x") {
		s.append(fact)
	}
	for range 1000 {
		s.append(&statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"})
	}
	e, err := s.Evidence(context.Background(), "M1")
	require.NoError(t, err)
	n := bits.Len64(s.end.Load())
	require.Less(t, len(e.Links), n*n)
	_, err = VerifyEvidence(e, nil, decodePDU)
	require.NoError(t, err)
}

// TestEvidence_random makes and checks the bundle about every message of random histories.
func TestEvidence_random(t *testing.T) {
	n, base := 0, t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n++
		cfg := testConfig(filepath.Join(base, fmt.Sprint(n)))
		cfg.SegmentRecords = rapid.SampledFrom([]int{3, 1000}).Draw(t, "segment")
		cfg.Now = clock(t)
		s := start(t, cfg)
		_, err := s.SetRules(context.Background(), rulesToday())
		require.NoError(t, err)
		var w world
		for range rapid.IntRange(1, 25).Draw(t, "facts") {
			s.bring(w.next(t))
		}
		kept := s.Head()
		for _, m := range w.messages {
			e, err := s.Evidence(context.Background(), m.id)
			require.NoError(t, err)
			r, err := VerifyEvidence(e, &kept, decodePDU)
			require.NoError(t, err)
			require.Equal(t, len(e.Records), r.Records)
			require.Equal(t, len(e.Decisions), r.Decisions+r.TakenStored)
		}
		s.check()
	})
}

func TestEvidence_textGone(t *testing.T) {
	s, _ := disputed(t)
	require.NoError(t, s.stop())
	keys, err := filepath.Glob(filepath.Join(s.cfg.Dir, keysDir, "*"+keySuffix))
	require.NoError(t, err)
	for _, key := range keys {
		require.NoError(t, os.Remove(key))
	}
	r, err := OpenReadOnly(s.cfg)
	require.NoError(t, err)
	e, err := r.Evidence(context.Background(), "M4")
	require.NoError(t, err)
	got, err := VerifyEvidence(e, nil, decodePDU)
	require.NoError(t, err)
	require.Equal(t, 6, got.Records)
	for _, rec := range e.Records[1:] {
		require.Nil(t, rec.Texts)
	}
	require.NoError(t, r.Close())
	*s = *start(t, s.cfg)
}

func TestEvidence_formatOne(t *testing.T) {
	cfg := filledDir(t)
	makeOld(t, cfg)
	s := start(t, cfg)
	for _, fact := range life("N1", "77", "a text") {
		s.append(fact)
	}
	for _, id := range []statemachine.ID{"M1", "N1"} {
		e, err := s.Evidence(context.Background(), id)
		require.NoError(t, err)
		_, err = VerifyEvidence(e, nil, decodePDU)
		require.NoError(t, err)
		i := slices.IndexFunc(e.Links, func(l Link) bool { return l.Number == 0 })
		require.Positive(t, i, "the rules are of then")
		e.Links[i].Records[0][3] ^= 1
		_, err = VerifyEvidence(e, nil, decodePDU)
		require.Error(t, err)
	}
	s.check()
}

func TestEvidence_rulesDropped(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords = 3
	s := start(t, cfg)
	_, err := s.SetRules(context.Background(), rulesToday())
	require.NoError(t, err)
	for range 6 {
		s.append(&statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"})
	}
	for _, fact := range life("M1", "1", "x") {
		s.append(fact)
	}
	dropAll(t, s.log, 7)
	e, err := s.Evidence(context.Background(), "M1")
	require.NoError(t, err)
	r, err := VerifyEvidence(e, nil, decodePDU)
	require.NoError(t, err)
	require.Equal(t, []uint64{1}, r.Unproven)
	require.Equal(t, 2, r.Decisions)
	require.NoError(t, s.stop())
}
