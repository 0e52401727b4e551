package smpp

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClient_bindsAsConfigured(t *testing.T) {
	tests := []struct {
		mode    BindMode
		command CommandID
		state   State
	}{
		{Transceiver, CommandBindTransceiver, BoundTRX},
		{Transmitter, CommandBindTransmitter, BoundTX},
		{Receiver, CommandBindReceiver, BoundRX},
	}
	for _, tt := range tests {
		t.Run(tt.mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(c *Config) {
					c.Bind = BindConfig{Mode: tt.mode, SystemID: "esme", Password: "secret", SystemType: "vma", AddrTON: 1, AddrNPI: 2, AddressRange: "^39"}
				})
				p := r.accept()
				f := p.next(tt.command)
				synctest.Wait()
				require.Equal(t, Open, r.status().State)
				got, err := Decode(f.PDU)
				require.NoError(t, err)
				require.Equal(t, &Bind{Header: f.Header, SystemID: "esme", Password: "secret", SystemType: "vma", InterfaceVersion: 0x34, AddrTON: 1, AddrNPI: 2, AddressRange: "^39", TLVs: nil}, got)

				p.send(deliverSM(1, "id:0")) // before the answer to the bind
				p.next(CommandDeliverSMResp)
				p.send(&BindResp{Header: respHeader(f.Header, StatusOK), SystemID: "smsc", TLVs: TLVs{{Tag: TagSCInterfaceVersion, Value: []byte{0x50}}}})
				e := r.handler.event(t, EventBound)
				require.Equal(t, "smsc", e.SystemID)
				require.EqualValues(t, 0x50, e.SCInterfaceVersion)
				require.Equal(t, tt.state, r.status().State)

				p.send(&DataSM{Header: Header{SequenceNumber: 2}}) // whatever the bind
				p.next(CommandDataSMResp)
				p.send(deliverSM(3, "id:1"))
				require.EqualValues(t, 3, p.next(CommandDeliverSMResp).SequenceNumber)
				for _, want := range []struct {
					seq     uint32
					command CommandID
				}{{1, CommandDeliverSM}, {2, CommandDataSM}, {3, CommandDeliverSM}} {
					q := <-r.handler.requests
					require.Equal(t, want.seq, q.SequenceNumber)
					require.Equal(t, want.command.String(), q.CommandID.String())
				}

				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				slots, err := r.client.Reserve(ctx, 1)
				if tt.mode == Receiver {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.NoError(t, err)
				}
				r.client.Release(slots...)
				r.stopBound(p)
				require.Equal(t, Closed, r.status().State)
			})
		})
	}
}

func TestClient_refusedBind(t *testing.T) {
	tests := []struct {
		name     string
		answer   func(h Header) PDU
		status   Status
		min, max time.Duration // of the pause after it
	}{
		{"a wrong password waits the longest", func(h Header) PDU { return &BindResp{Header: respHeader(h, StatusInvPaswd)} }, StatusInvPaswd, time.Minute, time.Minute},
		{"an unknown system_id waits the longest", func(h Header) PDU { return &BindResp{Header: respHeader(h, StatusInvSysID)} }, StatusInvSysID, time.Minute, time.Minute},
		{"a wrong system_type waits the longest", func(h Header) PDU { return &BindResp{Header: respHeader(h, StatusInvSysTyp)} }, StatusInvSysTyp, time.Minute, time.Minute},
		{"a failed bind waits the longest", func(h Header) PDU { return &BindResp{Header: respHeader(h, StatusBindFail)} }, StatusBindFail, time.Minute, time.Minute},
		{"already bound is tried again soon", func(h Header) PDU { return &BindResp{Header: respHeader(h, StatusAlyBnd)} }, StatusAlyBnd, time.Second / 2, time.Second},
		{"a generic_nack is a refusal", func(h Header) PDU {
			return &Empty{Header: Header{CommandID: CommandGenericNack, CommandStatus: StatusInvCmdID, SequenceNumber: h.SequenceNumber}}
		}, StatusInvCmdID, time.Second / 2, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				p := r.accept()
				p.send(tt.answer(p.next(CommandBindTransceiver).Header))
				p.gone()
				began := time.Now()
				e := r.handler.event(t, EventBindRefused)
				require.Equal(t, tt.status, e.Status)
				require.Contains(t, r.status().LastError, tt.status.String())
				p = r.bound()
				require.GreaterOrEqual(t, time.Since(began), tt.min)
				require.LessOrEqual(t, time.Since(began), tt.max)
				r.stopBound(p)
			})
		})
	}
}

func TestClient_bindThatIsNotAnswered(t *testing.T) {
	tests := []struct {
		name string
		smsc func(p *peer, bind Header)
		err  error
	}{
		{"silence", func(*peer, Header) {}, ErrTimeout},
		{"something else first, then silence", func(p *peer, h Header) {
			p.write(AppendHeader(nil, Header{16, CommandEnquireLink, 0, 1}))
			p.next(CommandEnquireLinkResp)
			p.send(&BindResp{Header: Header{CommandID: CommandBindReceiverResp, SequenceNumber: h.SequenceNumber}})
		}, ErrTimeout},
		{"a web server", func(p *peer, _ Header) {
			p.write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			p.next(CommandGenericNack)
		}, ErrFraming},
		{"a server that speaks TLS", func(p *peer, _ Header) {
			p.write([]byte{21, 3, 3, 0, 2, 2, 70}) // fatal alert: protocol version
			require.NoError(p.t, p.conn.Close())
		}, ErrFraming},
		{"closed", func(p *peer, _ Header) { require.NoError(p.t, p.conn.Close()) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				p := r.accept()
				tt.smsc(p, p.next(CommandBindTransceiver).Header)
				e := r.handler.event(t, EventFailed)
				require.Error(t, e.Err)
				if tt.err != nil {
					require.ErrorIs(t, e.Err, tt.err)
				}
				r.stopBound(r.bound())
			})
		})
	}
}

func TestClient_reconnectsWithGrowingDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var pauses []time.Duration
		ended := time.Now()
		for range 8 {
			p := r.accept()
			pauses = append(pauses, time.Since(ended))
			require.NoError(t, p.conn.Close())
			r.handler.event(t, EventFailed)
			ended = time.Now()
		}
		for i, longest := range []time.Duration{0, 1, 2, 4, 8, 16, 32, 60} {
			require.LessOrEqual(t, pauses[i], longest*time.Second)
			require.GreaterOrEqual(t, pauses[i], longest*time.Second/2)
		}
		p := r.bound() // one that works
		p.send(deliverSM(1, "id:1"))
		p.next(CommandDeliverSMResp)
		require.NoError(t, p.conn.Close())
		r.handler.event(t, EventUnbound)
		ended = time.Now()
		p = r.bound()
		require.LessOrEqual(t, time.Since(ended), time.Second, "the delays begin anew")
		r.stopBound(p)
	})
}

func TestClient_triesItsAddressesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialled []string
		r := newRig(t, func(c *Config) {
			c.Addrs = []string{"a:1", "b:1", "c:1"}
			dial := c.Dial
			c.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
				dialled = append(dialled, addr)
				if addr == "a:1" {
					return nil, errors.New("no route")
				}
				return dial(ctx, addr)
			}
		})
		p := r.accept()
		require.NoError(t, p.conn.Close())
		require.Equal(t, "b:1", r.handler.event(t, EventFailed).Addr)
		p = r.bound()
		require.Equal(t, []string{"a:1", "b:1", "c:1"}, dialled)
		require.NoError(t, p.conn.Close())
		require.Equal(t, "c:1", r.handler.event(t, EventUnbound).Addr)
		p = r.bound()
		require.Equal(t, "c:1", dialled[3], "one that was bound is tried first")
		r.stopBound(p)
	})
}

func TestClient_dialDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		began := time.Now()
		e := r.handler.event(t, EventFailed) // nobody accepts
		require.ErrorIs(t, e.Err, context.DeadlineExceeded)
		require.Equal(t, 10*time.Second, time.Since(began))
		elapse(2 * time.Second) // it is dialling again
		r.stop()
		require.Equal(t, "stopped while connecting", r.handler.event(t, EventFailed).Reason)
	})
}

func TestClient_writeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.EnquireLink = 0 })
		r.bound() // and reads nothing more
		got := newOutcomes()
		began := time.Now()
		r.submit(1, got.done)
		require.Equal(t, NotWritten, (<-got.ch).Outcome, "not an octet was taken")
		require.Equal(t, 10*time.Second+lastWords, time.Since(began))
		r.handler.event(t, EventUnbound)
		r.stop()
	})
}

func TestClient_answersThatAreHereWhenWritingFailsStillCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.EnquireLink = 0 })
		p := r.bound()
		got := newOutcomes()
		first := r.submit(1, got.done)[0]
		p.next(CommandSubmitSM)
		r.submit(1, got.done)                   // is not read, so that the write fails
		elapse(10*time.Second + time.Second/10) // the write deadline, and a little of the last words
		p.write(submitResp(first.SequenceNumber, "a1"))
		require.Equal(t, "a1", (<-got.ch).MessageID)
		require.Equal(t, NotWritten, (<-got.ch).Outcome)
		r.handler.event(t, EventUnbound)
		r.stop()
	})
}

func TestClient_shutdownDrainsTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.ShutdownTimeout, c.EnquireLink = 20*time.Second, 0 })
		p := r.bound()
		got := newOutcomes()
		reserved, err := r.client.Reserve(t.Context(), 1)
		require.NoError(t, err)
		r.submit(1, got.done)
		first := p.next(CommandSubmitSM)
		r.cancel()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.client.Reserve(ctx, 1)
		require.ErrorIs(t, err, context.DeadlineExceeded, "no new submits")

		require.NoError(t, r.client.Send(submits(t, reserved, got.done)))
		second := p.next(CommandSubmitSM) // what had its slot still goes out
		p.write(submitResp(first.SequenceNumber, "a"), submitResp(second.SequenceNumber, "b"))
		require.Equal(t, Answered, (<-got.ch).Outcome)
		require.Equal(t, Answered, (<-got.ch).Outcome)
		p.unbind()
		p.gone()
		require.NoError(t, r.group.Wait())
		e := r.handler.event(t, EventUnbound)
		require.NoError(t, e.Err)
		require.Equal(t, "shutdown", e.Reason)

		_, err = r.client.Reserve(t.Context(), 1)
		require.ErrorIs(t, err, ErrClosed)
		_, err = r.client.Request(t.Context(), &QuerySM{})
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestClient_shutdownHasItsDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.ShutdownTimeout = 5 * time.Second })
		p := r.bound()
		got := newOutcomes()
		r.submit(1, got.done)
		p.next(CommandSubmitSM)
		began := time.Now()
		r.cancel()
		p.next(CommandUnbind) // neither is answered
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Equal(t, Lost, (<-got.ch).Outcome)
		p.gone()
		require.Equal(t, 10*time.Second, time.Since(began), "no whole response timeout more")
		require.NoError(t, r.group.Wait())
		require.Equal(t, "unbind unanswered", r.handler.event(t, EventUnbound).Reason)
	})
}

func TestClient_shutdownWithoutATimeoutLeavesTheWindowInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := r.bound()
		got := newOutcomes()
		r.submit(1, got.done)
		p.next(CommandSubmitSM)
		r.stopBound(p)
		require.Equal(t, Lost, (<-got.ch).Outcome)
	})
}

func TestClient_unbindWaitsForTheHandler(t *testing.T) {
	tests := []struct {
		name  string
		begin func(r *rig, p *peer)
		check func(r *rig, p *peer)
	}{
		{"ours", func(r *rig, p *peer) { r.cancel(); p.unbind() }, func(*rig, *peer) {}},
		{"the SMSC's", func(_ *rig, p *peer) { p.write(AppendHeader(nil, Header{16, CommandUnbind, 0, 77})) }, func(r *rig, p *peer) {
			require.Equal(r.t, uint32(77), p.next(CommandUnbindResp).SequenceNumber)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.handler.hold = true
				p := r.bound()
				p.send(deliverSM(1, "id:1"))
				q := <-r.handler.requests
				tt.begin(r, p)
				synctest.Wait()
				require.Equal(t, Unbinding, r.status().State)
				elapse(5 * time.Second)
				q.Respond(StatusOK)
				p.next(CommandDeliverSMResp)
				tt.check(r, p)
				p.gone()
				require.NoError(t, r.handler.event(t, EventUnbound).Err)
				r.stop()
			})
		})
	}
}

func TestClient_unbindDoesNotWaitForeverForTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.handler.hold = true
		p := r.bound()
		p.send(deliverSM(1, "id:1"))
		began := time.Now()
		p.write(AppendHeader(nil, Header{16, CommandUnbind, 0, 77}))
		p.next(CommandUnbindResp)
		require.Equal(t, 30*time.Second, time.Since(began))
		p.gone()
		r.handler.event(t, EventUnbound)
		r.stop()
	})
}

func TestClient_rebindStopAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := r.bound()
		got := newOutcomes()
		slot := r.submit(1, func(a Answer) {
			r.client.Rebind("alpha/1", "the SMSC says that we are not bound")
			r.client.Rebind("alpha/1", "and says it again")
			got.done(a)
		})[0]
		p.next(CommandSubmitSM)
		p.send(&SubmitSMResp{Header: Header{CommandStatus: StatusInvBndSts, SequenceNumber: slot.SequenceNumber}})
		require.True(t, (<-got.ch).CommandStatus.AboutSession())
		p.unbind()
		p.gone()
		require.Equal(t, "the SMSC says that we are not bound", r.handler.event(t, EventUnbound).Reason)

		p = r.bound()
		r.client.Stop()
		p.unbind()
		p.gone()
		require.Equal(t, "stopped by the operator", r.handler.event(t, EventUnbound).Reason)
		elapse(time.Hour)
		require.Empty(t, r.handler.events)
		require.True(t, r.status().Stopped)

		r.client.Start()
		began := time.Now()
		p = r.bound()
		require.Zero(t, time.Since(began))

		require.NoError(t, p.conn.Close())
		r.handler.event(t, EventUnbound)
		r.client.Stop() // in the pause before the next attempt
		elapse(time.Hour)
		require.Empty(t, r.handler.events)
		r.client.Start()
		synctest.Wait() // it is dialling now
		r.client.Stop()
		require.Equal(t, "stopped while connecting", r.handler.event(t, EventFailed).Reason)
		r.stop()
	})
}

func TestClient_abortCutsTheSessionThatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.ShutdownTimeout = time.Minute })
		r.client.Abort("there is none yet")
		r.client.Rebind("alpha/1", "there is none yet")
		p := r.bound()
		got := newOutcomes()
		r.submit(1, got.done)
		p.next(CommandSubmitSM)
		r.cancel()
		synctest.Wait()
		began := time.Now()
		r.client.Abort("immediate stop")
		require.Equal(t, Lost, (<-got.ch).Outcome)
		require.NoError(t, r.group.Wait())
		require.Zero(t, time.Since(began))
		require.Equal(t, "immediate stop", r.handler.event(t, EventUnbound).Reason)
	})
}

func TestClient_stopsWhileTheHandlerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.handler.hold = true
		p := r.bound()
		r.group.Go(func() error {
			for i := 0; ; i++ { // never ends by itself
				if _, err := p.conn.Write(mustEncode(deliverSM(uint32(i), "id:1"))); err != nil {
					return nil
				}
			}
		})
		elapse(time.Minute)
		began := time.Now()
		r.cancel()
		p.next(CommandUnbind) // its answer would not be read
		require.NoError(t, r.group.Wait())
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Equal(t, "unbind unanswered", r.handler.event(t, EventUnbound).Reason)
	})
}

func TestClient_unboundIsToldLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowHandler{recorder: newRecorder(), gate: make(chan struct{})}
		r := newRig(t, func(c *Config) { c.Handler = slow })
		p := r.accept()
		p.bind()
		slow.event(t, EventBound)
		got := newOutcomes()
		p.send(deliverSM(1, "id:1"))
		p.send(deliverSM(2, "id:2"))
		r.submit(1, got.done) // a handler that is stuck keeps nothing else back
		p.write(submitResp(p.next(CommandSubmitSM).SequenceNumber, "a"))
		require.Equal(t, Answered, (<-got.ch).Outcome)
		elapse(time.Second)
		require.NoError(t, p.conn.Close())
		synctest.Wait()
		require.Empty(t, slow.events)
		close(slow.gate)
		slow.event(t, EventUnbound)
		require.Len(t, slow.requests, 2, "what was received came before")
		r.stop()
	})
}

// slowHandler does not return from Received before gate is closed.
type slowHandler struct {
	*recorder
	gate chan struct{}
}

func (h *slowHandler) Received(r *Request) {
	<-h.gate
	h.recorder.Received(r)
}

func TestClient_refusesAConfigurationThatCannotWork(t *testing.T) {
	require.EqualError(t, New(Config{}).Run(t.Context()), "smpp: no address to connect to")
	require.ErrorContains(t, New(Config{Addrs: []string{"a:1"}}).Run(t.Context()), "no handler")
	c := New(Config{Addrs: []string{"a:1"}, Handler: newRecorder(), Bind: BindConfig{Password: "a\x00b"}})
	require.ErrorContains(t, c.Run(t.Context()), "contains a NUL")
	_, err := c.Reserve(t.Context(), 1)
	require.ErrorIs(t, err, ErrClosed)
}
