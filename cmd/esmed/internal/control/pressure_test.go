package control_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
)

// crowded has no room for a message until room is closed.
type crowded struct {
	*fake
	room chan struct{}
}

func (c *crowded) AcceptNow(context.Context, *statemachine.MessageAccepted) (control.Accepted, error) {
	return control.Accepted{}, control.ErrNoRoom
}

func (c *crowded) Accept(ctx context.Context, m *statemachine.MessageAccepted) (control.Accepted, error) {
	select {
	case <-c.room:
		return c.fake.Accept(ctx, m)
	case <-ctx.Done():
		return control.Accepted{}, ctx.Err()
	}
}

// crowd is an API without room, and how many submissions it has answered 429.
func crowd(t *testing.T) (c *control.Client, backend *crowded, pressed *atomic.Int64) {
	backend, pressed = &crowded{newFake(t), make(chan struct{})}, new(atomic.Int64)
	cfg := backend.config()
	cfg.Submit = backend
	cfg.Pressed = func() { pressed.Add(1) }
	return newClient(t, newAPI(t, cfg)), backend, pressed
}

func requireNoRoom(t *testing.T, err error) {
	t.Helper()
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusTooManyRequests, p.Status)
	require.Equal(t, time.Second, p.RetryAfter)
	require.NotEmpty(t, p.Hint)
}

func TestSubmit_waitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, backend, pressed := crowd(t)
		time.AfterFunc(2900*time.Millisecond, func() { close(backend.room) })
		m, existing, err := c.Submit(t.Context(), code, "")
		require.NoError(t, err)
		require.False(t, existing)
		require.Contains(t, backend.mem.Messages, statemachine.ID(m.ID))
		require.Zero(t, pressed.Load())
	})
}

func TestSubmit_isRefusedWhenNoRoomComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, backend, pressed := crowd(t)
		began := time.Now()
		_, _, err := c.Submit(t.Context(), code, "")
		requireNoRoom(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
		require.EqualValues(t, 1, pressed.Load())
		close(backend.room)
		synctest.Wait()
		require.Empty(t, backend.mem.Messages, "what was refused was not accepted")
	})
}

func TestSubmit_isRefusedAtOnceWhenManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, backend, pressed := crowd(t)
		const most = 128
		var waiting errgroup.Group
		for range most {
			waiting.Go(func() error {
				_, _, err := c.Submit(t.Context(), code, "")
				return err
			})
		}
		synctest.Wait()
		began := time.Now()
		_, _, err := c.Submit(t.Context(), code, "")
		requireNoRoom(t, err)
		require.Zero(t, time.Since(began))
		require.EqualValues(t, 1, pressed.Load())
		close(backend.room)
		require.NoError(t, waiting.Wait())
		require.Len(t, backend.mem.Messages, most)
	})
}

func TestSubmit_whoIsGoneWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, backend, pressed := crowd(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, _, err := c.Submit(ctx, code, "")
		require.True(t, errors.Is(err, context.Canceled), err)
		require.Zero(t, pressed.Load())
		require.Empty(t, backend.mem.Messages)
	})
}
