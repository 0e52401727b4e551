package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

func TestJudge(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)

	came, err := s.Judge(ctx, &statemachine.Retry{Row: "none"}, &statemachine.Retry{Row: "nothing"})
	require.NoError(t, err)
	require.Len(t, came, 2)
	for i, j := range came {
		require.Equal(t, uint64(2+i), j.Record.Seq)
		require.NotEmpty(t, j.NoEffect)
	}
	require.Nil(t, s.judged.bySeq, "nothing is kept once nobody waits")
}

func TestTry(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	s.append(life("M1", "A", "text")...)
	before := s.Head()

	again := &statemachine.Reception{SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: receiptPDU("A", "EXPIRED", someDest, "text", 4)}
	tried, err := s.Try(ctx, again, &statemachine.Retry{Row: "none"}, again)
	require.NoError(t, err)
	require.Equal(t, statemachine.VerdictConflict, tried[0].Decisions[0].Verdict)
	require.NotEmpty(t, tried[1].NoEffect)
	require.Equal(t, tried[0].Decisions, tried[2].Decisions, "each is tried alone")
	require.Equal(t, before, s.Head(), "nothing is recorded")
}

func TestExceptions_since(t *testing.T) {
	ctx := context.Background()
	now := began
	cfg := testConfig(t.TempDir())
	cfg.Now = func() time.Time { return now }
	s := startIn(t, cfg)
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	for _, id := range []string{"M1", "M2", "M3"} {
		now = now.Add(time.Hour)
		s.append(life(id, "", "text")[:3]...) // accepted without an id
	}
	all, _, err := s.Exceptions(ctx, ExceptionFilter{Kind: statemachine.KindNoMessageID})
	require.NoError(t, err)
	require.Len(t, all, 3)
	since, next, err := s.Exceptions(ctx, ExceptionFilter{Since: began.Add(2 * time.Hour)})
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, all[:2], since, "those that were opened then or later, newest first")
}
