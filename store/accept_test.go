package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestAccept_hasItsShareOfTheIntake holds the writer up while more accepts are brought than it takes at once.
func TestAccept_hasItsShareOfTheIntake(t *testing.T) {
	ctx := context.Background()
	s := startIn(t, testConfig(t.TempDir()))
	held, release := make(chan struct{}), make(chan struct{})
	require.NoError(t, s.Post(ctx, &statemachine.SessionEvent{SMSC: "alpha", Event: "bound"}, func(statemachine.Record, error) {
		close(held)
		<-release
	}))
	<-held
	var accepted []statemachine.ID
	answers := make(chan Acceptance, 2*intakeAccepts)
	accept := func(ctx context.Context, id string) error {
		err := s.AcceptPost(ctx, message(id, "", "a"), func(a Acceptance, err error) {
			if err == nil {
				answers <- a
			}
		})
		if err == nil {
			accepted = append(accepted, statemachine.ID(id))
		}
		return err
	}
	for i := range intakeAccepts {
		require.NoError(t, accept(ctx, fmt.Sprint("M", i)))
	}
	_, err := s.AcceptNow(ctx, message("N1", "", "a"))
	require.ErrorIs(t, err, ErrNoRoom)
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err = s.Accept(short, message("N2", "", "a"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, accept(short, "N3"), context.DeadlineExceeded)

	received := make(chan uint64, 1)
	require.NoError(t, s.Post(ctx, &statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("9", "DELIVRD", someDest, "x", 4)},
		func(rec statemachine.Record, _ error) { received <- rec.Seq }), "a reception is taken all the same")
	late := make(chan Acceptance, 1)
	go func() {
		a, _ := s.Accept(ctx, message("L1", "", "a"))
		late <- a
	}()
	close(release)
	require.LessOrEqual(t, <-received, uint64(1+1+intakeAccepts), "behind those that were there, and no more")
	require.NotZero(t, (<-late).Seq)

	for range accepted {
		require.NotZero(t, (<-answers).Seq)
	}
	now, err := s.AcceptNow(ctx, message("L2", "", "a"))
	require.NoError(t, err, "there is room again")
	require.EqualValues(t, "L2", now.Message)
	stored, _, err := s.Messages(ctx, Filter{Limit: 10 * intakeAccepts})
	require.NoError(t, err)
	require.Len(t, stored, len(accepted)+2, "what was accepted is stored, and nothing that was refused")
}

func TestAccept_whoWaitsForRoomIsToldOfTheEnd(t *testing.T) {
	ctx := context.Background()
	s, err := Open(testConfig(t.TempDir())) // nobody runs it
	require.NoError(t, err)
	answers := make(chan error, intakeAccepts)
	for i := range intakeAccepts {
		require.NoError(t, s.AcceptPost(ctx, message(fmt.Sprint("M", i), "", "a"), func(_ Acceptance, err error) { answers <- err }))
	}
	waiting := make(chan error, 2)
	for i := range cap(waiting) {
		go func() {
			_, err := s.Accept(ctx, message(fmt.Sprint("N", i), "", "a"))
			waiting <- err
		}()
	}
	require.NoError(t, s.Close())
	for range cap(answers) {
		require.ErrorIs(t, <-answers, ErrClosed)
	}
	for range cap(waiting) {
		require.ErrorIs(t, <-waiting, ErrClosed)
	}
}

// TestAccept_applierAheadOfTheEnd: the end is read before what is applied, and is said after the feed has it.
func TestAccept_applierAheadOfTheEnd(t *testing.T) {
	s, err := Open(testConfig(t.TempDir())) // nobody runs it
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	s.applied.Store(s.end.Load() + 1)
	require.True(t, s.keepsUp())
	require.True(t, (&applying{s: s, folded: s.applied.Load()}).atEnd())
	s.end.Store(s.applied.Load() + maxLag)
	require.False(t, s.keepsUp())
}
