package store

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

func requestOf(n int) request {
	return request{fact: &statemachine.Retry{Row: statemachine.InboxKey(fmt.Sprint(n))}}
}

func full(t *testing.T) *intake {
	i := newIntake()
	for n := range intakeRequests {
		require.NoError(t, i.send(context.Background(), requestOf(n)))
	}
	return i
}

// TestIntake_full: a sender that finds no room waits until the writer takes what there is, its context ends or
// the intake is closed, and is told whether its request was taken.
func TestIntake_full(t *testing.T) {
	tests := []struct {
		name    string
		end     func(i *intake, cancel func())
		wantErr error
	}{
		{"the writer takes what waits", func(i *intake, _ func()) { i.take(nil) }, nil},
		{"the context ends", func(_ *intake, cancel func()) { cancel() }, context.Canceled},
		{"the intake is closed", func(i *intake, _ func()) { i.close() }, ErrClosed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := full(t)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				ended := false
				var g errgroup.Group
				g.Go(func() error {
					defer func() { ended = true }()
					return i.send(ctx, requestOf(-1))
				})
				synctest.Wait()
				require.False(t, ended)
				tt.end(i, cancel)
				require.ErrorIs(t, g.Wait(), tt.wantErr)
				left := intakeRequests
				if tt.wantErr == nil {
					left = 1
				}
				require.Len(t, i.take(nil), left)
			})
		})
	}
}

// TestIntake_wait: whoever takes gets each request once, those of a sender in its order, and none when it is
// closed and empty.
func TestIntake_wait(t *testing.T) {
	const senders, each = 4, 5000
	i := newIntake()
	var sending, taking errgroup.Group
	for sender := range senders {
		sending.Go(func() error {
			for n := range each {
				if err := i.send(context.Background(), requestOf(sender*each+n)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var got [senders]int
	taking.Go(func() error {
		for all := i.wait(nil); len(all) > 0; all = i.wait(all[:0]) {
			for _, r := range all {
				var n int
				if _, err := fmt.Sscan(string(r.fact.(*statemachine.Retry).Row), &n); err != nil {
					return err
				}
				if n%each != got[n/each] {
					return fmt.Errorf("request %d comes after %d of its sender", n, got[n/each])
				}
				got[n/each]++
			}
		}
		return nil
	})
	require.NoError(t, sending.Wait())
	i.close()
	require.NoError(t, taking.Wait())
	require.Equal(t, [senders]int{each, each, each, each}, got)
	require.ErrorIs(t, i.send(context.Background(), requestOf(0)), ErrClosed)
}
