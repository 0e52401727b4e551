package smpp

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A link that is dead is found within enquire_link and response_timeout, whatever it looks like from here.
func TestSession_halfOpenLinksAreFound(t *testing.T) {
	tests := []struct {
		name    string
		submits int
		smsc    func(p *peer) // until its end is closed; nil: it reads nothing
		found   time.Duration // after the bind
		reason  string
	}{
		{"it reads and says nothing", 0, drain, 30 * time.Second, "enquire_link unanswered"},
		{"while a submit is outstanding", 1, drain, 30 * time.Second, "enquire_link unanswered"},
		{"while the window is outstanding", 3, drain, 10 * time.Second, "3 submit_sm in a row unanswered"},
		{"it does not read, and there is nothing to say", 0, nil, 30 * time.Second, "enquire_link unanswered"},
		{"it does not read a submit", 1, nil, 4*time.Second + lastWords, "connection lost"},
		{
			"it says nothing but its own enquire_link, once", 0, func(p *peer) {
				elapse(15 * time.Second)
				p.write(AppendHeader(nil, Header{16, CommandEnquireLink, 0, 1}))
				drain(p)
			}, 45 * time.Second, "enquire_link unanswered",
		},
		{
			"it begins to say plenty when it is asked, but does not answer", 0, func(p *peer) {
				for p.next(CommandEnquireLink); ; elapse(time.Second) {
					if _, err := p.conn.Write(mustEncode(deliverSM(1, "id:1"))); err != nil {
						return
					}
					if _, err := p.fr.Next(); err != nil {
						return
					}
				}
			}, 30 * time.Second, "enquire_link unanswered",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(c *Config) {
					c.EnquireLink, c.ResponseTimeout, c.WriteTimeout, c.Window = 20*time.Second, 10*time.Second, 4*time.Second, 3
					if tt.submits == 0 {
						c.WriteTimeout = time.Hour
					}
				})
				p := r.bound()
				began, got := time.Now(), newOutcomes()
				if tt.submits > 0 {
					r.submit(tt.submits, got.done)
				}
				if tt.smsc != nil {
					r.group.Go(func() error { tt.smsc(p); return nil })
				}
				e := r.handler.event(t, EventUnbound)
				require.Equal(t, tt.found, time.Since(began))
				require.Equal(t, tt.reason, e.Reason)
				require.Error(t, e.Err)
				require.Len(t, got.ch, tt.submits, "each is told once")
				r.stop()
			})
		})
	}
}

// drain reads until the other end has closed.
func drain(p *peer) { _, _ = io.Copy(io.Discard, p.fr.r) }

func TestSession_withoutEnquireLinkOnlySubmitsFindOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.EnquireLink, c.ResponseTimeout, c.Window = 0, 10*time.Second, 2 })
		p := r.bound()
		r.group.Go(func() error { drain(p); return nil })
		elapse(24 * time.Hour)
		require.Empty(t, r.handler.events)
		got := newOutcomes()
		r.submit(2, got.done)
		began := time.Now()
		require.ErrorIs(t, r.handler.event(t, EventUnbound).Err, ErrTimeout)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Equal(t, TimedOut, (<-got.ch).Outcome)
		require.Equal(t, TimedOut, (<-got.ch).Outcome)
		r.stop()
	})
}

func TestSession_anSMSCThatSaysPlentyIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := r.bound()
		for i := range 100 {
			elapse(29 * time.Second)
			p.send(deliverSM(uint32(i), "id:1"))
			p.next(CommandDeliverSMResp) // nothing else comes
		}
		r.stopBound(p)
	})
}

func TestSession_whoUnbindsMayStillAnswer(t *testing.T) {
	tests := []struct {
		name    string
		smsc    func(p *peer, submits []Frame) // after its unbind is answered
		answers int
		took    time.Duration // from there to the end of the session
	}{
		{"it answers all, and the session ends with the last", func(p *peer, submits []Frame) {
			for _, f := range submits {
				elapse(time.Second)
				p.write(submitResp(f.SequenceNumber, "a"))
			}
			drain(p)
		}, 3, 3 * time.Second},
		{"it answers some and closes", func(p *peer, submits []Frame) {
			p.write(submitResp(submits[1].SequenceNumber, "a"))
			_ = p.conn.Close()
		}, 1, 0},
		{"it answers nothing", func(p *peer, _ []Frame) { drain(p) }, 0, lastAnswers},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				p := r.bound()
				got := newOutcomes()
				r.submit(3, got.done)
				submits := []Frame{p.next(CommandSubmitSM), p.next(CommandSubmitSM), p.next(CommandSubmitSM)}
				p.write(AppendHeader(nil, Header{16, CommandUnbind, 0, 77}))
				require.Equal(t, Header{16, CommandUnbindResp, StatusOK, 77}, p.next(CommandUnbindResp).Header)
				began := time.Now()
				r.group.Go(func() error { tt.smsc(p, submits); return nil })
				e := r.handler.event(t, EventUnbound)
				require.Equal(t, tt.took, time.Since(began))
				require.Equal(t, unboundBySMSC, e.Reason)
				require.NoError(t, e.Err)
				var outcomes [4]int
				for range 3 {
					outcomes[(<-got.ch).Outcome]++
				}
				require.Equal(t, [4]int{Answered: tt.answers, Lost: 3 - tt.answers}, outcomes)
				ended := time.Now()
				r.stopBound(r.bound())
				require.LessOrEqual(t, time.Since(ended), time.Second, "bound again after the shortest pause")
			})
		})
	}
}
