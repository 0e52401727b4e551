package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// blind sees nothing.
type blind struct{}

func (blind) Folded(statemachine.Record, *statemachine.Effects) {}
func (blind) Committed()                                        {}

// TestOverload holds the applier up until it is as far behind as it may be, while more submissions come than may
// wait: receptions are taken all the same, and what is stored in the end is what was accepted.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held chan struct{} // nil before the applier is to be held up
		s, err := store.Open(store.Config{
			Dir: t.TempDir(), Decode: DecodePDU, TextSpans: TextSpans,
			Witness: func() store.Witness {
				if held != nil {
					<-held
				}
				return blind{}
			},
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		var running errgroup.Group
		running.Go(func() error { return s.Run(ctx) })
		_, err = s.SetRules(ctx, statemachine.Rules{Parser: receipt.ParserVersion, SMSCs: []statemachine.SMSCRules{{
			SMSC: "alpha", Account: "alpha", Receipt: receipt.DefaultRules(), DeliveryWindow: 72 * time.Hour,
		}}})
		require.NoError(t, err)
		require.NoError(t, s.Sync(ctx))
		c := control.NewInProcess(overloadedAPI(t, s))

		held = make(chan struct{})
		const lag = 64 << 10
		events := make([]statemachine.Fact, lag)
		for i := range events {
			events[i] = &statemachine.SessionEvent{SMSC: "alpha", Event: "bound"}
		}
		_, err = s.Append(ctx, events...)
		require.NoError(t, err)

		const posts = 200
		accepted, refused := make(chan string, posts), make(chan time.Duration, posts)
		post := func(g *errgroup.Group, from, to int) {
			for n := from; n < to; n++ {
				g.Go(func() error {
					began := time.Now()
					m, _, err := c.Submit(ctx, control.Submission{To: fmt.Sprintf("+39333%07d", n), Text: "hello", Ref: fmt.Sprint(n)}, "")
					var p *control.ProblemError
					switch {
					case err == nil:
						accepted <- m.ID
					case errors.As(err, &p) && p.Status == http.StatusTooManyRequests && p.RetryAfter > 0:
						refused <- time.Since(began)
					default:
						return err
					}
					return nil
				})
			}
		}
		var first, second errgroup.Group
		post(&first, 0, posts)
		receive(ctx, t, s)
		require.NoError(t, first.Wait())
		require.Empty(t, accepted, "there is room for none")
		atOnce := 0
		for range posts {
			if <-refused == 0 {
				atOnce++
			}
		}
		require.Equal(t, posts-128, atOnce)

		post(&second, 0, posts) // the same again
		receive(ctx, t, s)
		close(held)
		require.NoError(t, second.Wait())
		require.NotEmpty(t, accepted)
		require.Equal(t, posts, len(accepted)+len(refused))
		stored, _, err := s.Messages(ctx, store.Filter{Limit: 2 * posts})
		require.NoError(t, err)
		require.Len(t, stored, len(accepted), "what was accepted is stored, and nothing else")
		for range stored {
			_, err := s.Message(ctx, statemachine.ID(<-accepted))
			require.NoError(t, err)
		}
		stop()
		require.NoError(t, running.Wait())
		require.NoError(t, s.Close())
	})
}

func overloadedAPI(t *testing.T, s *store.Store) *control.API {
	b := &backend{store: s}
	smsc := config.DefaultSMSC()
	smsc.Name, smsc.Account, smsc.Source.Addr = "alpha", "alpha", "ACME"
	cfg := control.Config{
		Backend: b.readers(), SMSCs: apiSMSCs(&config.Config{SMSCs: []config.SMSC{smsc}}),
		Reception: b.reception, StatusName: statusName,
	}
	cfg.Submit = b
	api, err := control.New(cfg)
	require.NoError(t, err)
	return api
}

// receive has a delivery recorded, as it is before it is answered.
func receive(ctx context.Context, t *testing.T, s *store.Store) {
	pdu := encode(t, &smpp.DeliverSM{ESMClass: 4, Source: smpp.Address{Addr: "1"}, ShortMessage: []byte("id:1 stat:DELIVRD")})
	began := time.Now()
	_, err := s.Append(ctx, &statemachine.Reception{SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: pdu, Length: uint32(len(pdu))})
	require.NoError(t, err)
	require.Zero(t, time.Since(began), "it waits for nobody")
}
