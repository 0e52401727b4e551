package smpp

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSession_submitsAndIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := r.bound()
		got := newOutcomes()
		slots := r.submit(2, got.done)
		first, second := p.next(CommandSubmitSM), p.next(CommandSubmitSM)
		require.Equal(t, slots[0].SequenceNumber, first.SequenceNumber)
		elapse(time.Second)
		p.write(submitResp(second.SequenceNumber, "b2"), submitResp(first.SequenceNumber, "a1"))

		b, a := <-got.ch, <-got.ch
		require.Equal(t, Answer{
			Outcome: Answered, Session: "alpha/1", SequenceNumber: first.SequenceNumber, CommandID: CommandSubmitSMResp,
			MessageID: "a1", PDU: submitResp(first.SequenceNumber, "a1"), RoundTrip: time.Second,
		}, a)
		require.Equal(t, "b2", b.MessageID)
		require.NoError(t, a.Err())
		r.stopBound(p)
	})
}

func TestSession_answersMatchByNumberAndKind(t *testing.T) {
	tests := []struct {
		name   string
		answer func(seq uint32) []byte
		status Status
		stray  bool // then the submit goes unanswered
	}{
		{"a refusal without a body", func(seq uint32) []byte {
			return AppendHeader(nil, Header{CommandLength: 16, CommandID: CommandSubmitSMResp, CommandStatus: StatusThrottled, SequenceNumber: seq})
		}, StatusThrottled, false},
		{"a generic_nack", func(seq uint32) []byte { return AppendResponse(nil, CommandGenericNack, StatusInvCmdID, seq) }, StatusInvCmdID, false},
		{"a response of another kind is a stray", func(seq uint32) []byte { return AppendResponse(nil, CommandDataSM, StatusOK, seq) }, 0, true},
		{"a response of a kind that nobody knows is a stray", func(seq uint32) []byte {
			return AppendHeader(nil, Header{CommandLength: 16, CommandID: 0x80001234, SequenceNumber: seq})
		}, 0, true},
		{"a response to another number is a stray", func(seq uint32) []byte { return submitResp(seq+1000, "x") }, 0, true},
		{"a generic_nack to another number is a stray", func(seq uint32) []byte { return AppendResponse(nil, CommandGenericNack, StatusSysErr, 0) }, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				p := r.bound()
				got := newOutcomes()
				slot := r.submit(1, got.done)[0]
				pdu := tt.answer(p.next(CommandSubmitSM).SequenceNumber)
				p.write(pdu)
				if tt.stray {
					q := <-r.handler.requests
					require.True(t, q.Stray())
					require.Equal(t, pdu, q.PDU)
					require.Empty(t, got.of(slot.SequenceNumber))
					p.write(submitResp(slot.SequenceNumber, "a1"))
				}
				a := <-got.ch
				require.Equal(t, Answered, a.Outcome)
				require.Equal(t, tt.status.String(), a.CommandStatus.String())
				r.stopBound(p)
			})
		})
	}
}

func TestSession_theSMSCsNumbersMayEqualOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := r.bound()
		got := newOutcomes()
		for range 3 {
			slot := r.submit(1, got.done)[0]
			seq := p.next(CommandSubmitSM).SequenceNumber
			p.send(deliverSM(seq, "id:1"))
			require.Equal(t, seq, p.next(CommandDeliverSMResp).SequenceNumber)
			p.write(submitResp(seq, "a"))
			require.Equal(t, slot.SequenceNumber, (<-got.ch).SequenceNumber)
		}
		p.send(deliverSM(0, "id:1"))
		require.Zero(t, p.next(CommandDeliverSMResp).SequenceNumber)
		r.stopBound(p)
	})
}

func TestSession_windowWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Window = 2 })
		p := r.bound()
		got := newOutcomes()
		slots, err := r.client.Reserve(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, slots, 2, "no more than the window")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.client.Reserve(ctx, 1)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		r.client.Release(slots[1], slots[1])
		require.NoError(t, r.client.Send(submits(t, slots[:1], got.done)))
		again, err := r.client.Reserve(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, again, 1, "a slot given back twice is one slot")
		require.NotEqual(t, slots[0].SequenceNumber, again[0].SequenceNumber)
		r.client.Release(again...)

		p.write(submitResp(p.next(CommandSubmitSM).SequenceNumber, "a"))
		<-got.ch
		synctest.Wait()
		require.Zero(t, r.status().InUse)
		r.stopBound(p)
	})
}

func TestSession_sendRefusesWhatIsNoSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		p := r.bound()
		slots, err := r.client.Reserve(t.Context(), 1)
		require.NoError(t, err)
		done := func(Answer) { t.Error("nothing was sent") }
		good := submits(t, slots, done)[0]

		other := good
		other.PDU = encode(t, &SubmitSM{Header: Header{SequenceNumber: slots[0].SequenceNumber + 1}})
		short := good
		short.PDU = good.PDU[:20]
		silent := good
		silent.Done = nil
		unreserved := good
		unreserved.Slot = Slot{SequenceNumber: good.Slot.SequenceNumber}
		for _, bad := range []Submit{other, short, silent, unreserved, {}} {
			require.Error(t, r.client.Send([]Submit{good, bad}))
		}
		r.client.Release(slots...)
		r.stopBound(p)
	})
}

func TestSession_timeoutFreesTheSlotAndALateAnswerStillCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Window, c.ResponseTimeout, c.EnquireLink = 2, 5*time.Second, 0 })
		p := r.bound()
		got := newOutcomes()
		r.submit(1, got.done)
		seq := p.next(CommandSubmitSM).SequenceNumber

		began := time.Now()
		a := <-got.ch
		require.Equal(t, TimedOut, a.Outcome)
		require.ErrorIs(t, a.Err(), ErrTimeout)
		require.Equal(t, 5*time.Second, time.Since(began))

		synctest.Wait()
		both, err := r.client.Reserve(t.Context(), 2)
		require.NoError(t, err)
		require.Len(t, both, 2, "the slot is free")
		r.client.Release(both...)

		p.write(submitResp(seq, "late"))
		a = <-got.ch
		require.True(t, a.Late)
		require.Equal(t, "late", a.MessageID)
		require.Equal(t, 5*time.Second, a.RoundTrip)

		p.write(submitResp(seq, "again"))
		require.True(t, (<-r.handler.requests).Stray(), "a second answer is a stray")
		r.stopBound(p)
		require.Len(t, got.of(seq), 2)
	})
}

func TestSession_aWindowOfTimeoutsInARowCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Window, c.ResponseTimeout, c.EnquireLink = 3, 5*time.Second, 0 })
		p := r.bound()
		got := newOutcomes()
		r.submit(2, got.done)
		p.next(CommandSubmitSM)
		p.next(CommandSubmitSM)
		<-got.ch
		<-got.ch
		r.submit(1, got.done) // an answer begins the row anew
		p.write(submitResp(p.next(CommandSubmitSM).SequenceNumber, "a"))
		<-got.ch
		r.submit(3, got.done)
		for range 3 {
			p.next(CommandSubmitSM)
		}
		for range 3 {
			require.Equal(t, TimedOut, (<-got.ch).Outcome)
		}
		p.gone()
		require.Equal(t, "3 submit_sm in a row unanswered", r.handler.event(t, EventUnbound).Reason)
		r.stop()
	})
}

func TestSession_enquireLinkBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.EnquireLink, c.ResponseTimeout = 30*time.Second, 10*time.Second })
		p := r.bound()

		p.write(AppendHeader(nil, Header{CommandLength: 16, CommandID: CommandEnquireLink, SequenceNumber: 9}))
		require.Equal(t, uint32(9), p.next(CommandEnquireLinkResp).SequenceNumber)

		elapse(20 * time.Second)
		p.send(deliverSM(1, "id:1")) // traffic puts it off
		p.next(CommandDeliverSMResp)
		began := time.Now()
		f := p.next(CommandEnquireLink)
		require.Equal(t, 30*time.Second, time.Since(began))
		elapse(2 * time.Second)
		p.write(AppendResponse(nil, CommandEnquireLink, StatusOK, f.SequenceNumber))
		synctest.Wait()
		require.Equal(t, 2*time.Second, r.status().EnquireLinkRTT)

		f = p.next(CommandEnquireLink)
		p.write(AppendResponse(nil, CommandGenericNack, StatusInvCmdID, f.SequenceNumber)) // a sign of life too

		p.next(CommandEnquireLink)
		began = time.Now()
		p.gone()
		require.Equal(t, 10*time.Second, time.Since(began))
		require.ErrorIs(t, r.handler.event(t, EventUnbound).Err, ErrTimeout)
		r.stop()
	})
}

func TestSession_answersRequestsInAnyOrder(t *testing.T) {
	unknown := func(seq uint32) []byte { return AppendHeader(nil, Header{16, 0x00000777, 0, seq}) }
	tests := []struct {
		name   string
		pdu    []byte
		status Status
		want   Header // zero: nothing is written
	}{
		{"deliver_sm", mustEncode(deliverSM(5, "id:1")), StatusOK, Header{17, CommandDeliverSMResp, StatusOK, 5}},
		{"deliver_sm that could not be stored", mustEncode(deliverSM(5, "id:1")), StatusXTAppn, Header{17, CommandDeliverSMResp, StatusXTAppn, 5}},
		{"data_sm", mustEncode(&DataSM{Header: Header{SequenceNumber: 6}}), StatusOK, Header{17, CommandDataSMResp, StatusOK, 6}},
		{"a body of one octet", append(AppendHeader(nil, Header{17, CommandDeliverSM, 0, 7}), 'x'), StatusOK, Header{17, CommandDeliverSMResp, StatusOK, 7}},
		{"an unknown command", unknown(8), StatusOK, Header{16, CommandGenericNack, StatusInvCmdID, 8}},
		{"an unknown command that could not be stored", unknown(8), StatusXTAppn, Header{16, CommandGenericNack, StatusXTAppn, 8}},
		{"a request that is an ESME's to make", mustEncode(&SubmitSM{Header: Header{SequenceNumber: 9}}), StatusOK, Header{16, CommandGenericNack, StatusInvCmdID, 9}},
		{"alert_notification", mustEncode(&AlertNotification{Header: Header{SequenceNumber: 10}}), StatusOK, Header{}},
		{"outbind", mustEncode(&Outbind{Header: Header{SequenceNumber: 11}}), StatusOK, Header{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(c *Config) { c.ShutdownTimeout = time.Second })
				r.handler.hold = true
				p := r.bound()
				p.write(tt.pdu)
				p.send(deliverSM(99, "id:2"))
				first, second := <-r.handler.requests, <-r.handler.requests
				require.Equal(t, tt.pdu, first.PDU)
				require.False(t, first.Oversize())

				second.Respond(StatusOK)
				require.Equal(t, uint32(99), p.next(CommandDeliverSMResp).SequenceNumber)
				first.Respond(tt.status)
				first.Respond(StatusSysErr) // too late
				synctest.Wait()
				if tt.want != (Header{}) {
					require.Equal(t, tt.want, p.next(tt.want.CommandID).Header)
				}
				require.Zero(t, r.status().Unanswered)
				r.stopBound(p)
				first.Respond(StatusOK)
			})
		})
	}
}

func mustEncode(p PDU) []byte {
	b, err := Append(nil, p)
	if err != nil {
		panic(err)
	}
	return b
}

func TestSession_oversizeIsReadPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MaxPDU = 100 })
		p := r.bound()
		d := deliverSM(3, "id:1")
		d.TLVs = TLVs{{Tag: TagMessagePayload, Value: make([]byte, 5000)}}
		whole := encode(t, d)
		p.write(whole)
		q := <-r.handler.requests
		require.True(t, q.Oversize())
		require.Equal(t, whole[:100], q.PDU)
		require.EqualValues(t, len(whole), q.CommandLength)
		require.Equal(t, StatusOK, p.next(CommandDeliverSMResp).CommandStatus)
		r.stopBound(p)
	})
}

func TestSession_brokenFramingIsNackedAndBoundAgain(t *testing.T) {
	for name, length := range map[string]uint32{"under 16": 15, "zero": 0, "over 16 MiB": 16<<20 + 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				p := r.bound()
				p.write(AppendHeader(nil, Header{length, CommandDeliverSM, 0, 42}))
				require.Equal(t, Header{16, CommandGenericNack, StatusInvCmdLen, 42}, p.next(CommandGenericNack).Header)
				p.gone()
				require.ErrorIs(t, r.handler.event(t, EventUnbound).Err, ErrFraming)
				r.stopBound(r.bound())
			})
		})
	}
}

func TestSession_handlerThatHangsHoldsBackTheReaderAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.EnquireLink, c.ResponseTimeout = 30*time.Second, 10*time.Second })
		r.handler.hold = true
		p := r.bound()
		got := newOutcomes()
		slot := r.submit(1, got.done)[0]
		p.next(CommandSubmitSM)
		r.group.Go(func() error {
			for i := range maxUnanswered + 3*maxBatch {
				p.write(encode(t, deliverSM(uint32(i), "id:1")))
			}
			p.write(submitResp(slot.SequenceNumber, "a"))
			return nil
		})
		elapse(time.Hour) // neither enquire_link nor the response timer goes off: what they wait for is not read
		require.GreaterOrEqual(t, r.status().Unanswered, maxUnanswered)
		require.Less(t, r.status().Unanswered, maxUnanswered+maxBatch)
		require.Empty(t, got.ch)

		r.group.Go(func() error {
			for range maxUnanswered + 3*maxBatch {
				(<-r.handler.requests).Respond(StatusOK)
			}
			return nil
		})
		for range maxUnanswered + 3*maxBatch {
			p.next(CommandDeliverSMResp)
		}
		a := <-got.ch
		require.Equal(t, Answered, a.Outcome)
		require.Less(t, a.RoundTrip, time.Second)
		r.stopBound(p)
	})
}

func TestSession_queryAndCancelAreOutsideTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Window, c.ResponseTimeout, c.EnquireLink = 1, 5*time.Second, 0 })
		p := r.bound()
		slots, err := r.client.Reserve(t.Context(), 1)
		require.NoError(t, err)
		answers := make(chan Answer)
		ask := func(pdu PDU) {
			r.group.Go(func() error {
				a, err := r.client.Request(t.Context(), pdu)
				answers <- a
				return err
			})
		}
		ask(&QuerySM{MessageID: "a1", Source: Address{5, 0, "ACME"}})
		f := p.next(CommandQuerySM)
		resp := encode(t, &QuerySMResp{Header: respHeader(f.Header, StatusOK), MessageID: "a1", MessageState: 2})
		p.write(resp)
		require.Equal(t, resp, (<-answers).PDU)

		ask(&CancelSM{MessageID: "a1"})
		f = p.next(CommandCancelSM)
		p.send(&Empty{Header: respHeader(f.Header, StatusCancelFail)})
		require.EqualError(t, (<-answers).Err(), "smpp: cancel_sm_resp: ESME_RCANCELFAIL")

		ask(&QuerySM{MessageID: "a1"})
		f = p.next(CommandQuerySM)
		require.Equal(t, TimedOut, (<-answers).Outcome)
		p.send(&QuerySMResp{Header: respHeader(f.Header, StatusOK), MessageID: "a1", MessageState: 2})
		require.True(t, (<-r.handler.requests).Stray(), "nobody waits for it, but it is evidence")

		_, err = r.client.Request(t.Context(), &SubmitSM{})
		require.EqualError(t, err, "smpp: submit_sm is not sent as a request")
		r.client.Release(slots...)
		r.stopBound(p)
	})
}

func TestSession_handsBackWhatIsOutstanding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.Window = 10 })
		p := r.bound()
		got := newOutcomes()
		sent := r.submit(2, got.done)
		p.next(CommandSubmitSM)
		p.next(CommandSubmitSM)
		unused, err := r.client.Reserve(t.Context(), 2)
		require.NoError(t, err)

		// A write that the peer takes only in part, and one that is never begun.
		half := r.submit(1, got.done)
		_, err = p.conn.Read(make([]byte, 10))
		require.NoError(t, err)
		never := r.submit(1, got.done)
		synctest.Wait()
		require.NoError(t, p.conn.Close())

		for _, s := range append(sent, half...) {
			require.Equal(t, s.SequenceNumber, (<-got.ch).SequenceNumber)
			require.Equal(t, Lost, got.of(s.SequenceNumber)[0].Outcome)
			require.ErrorIs(t, got.of(s.SequenceNumber)[0].Err(), ErrLost)
		}
		require.Equal(t, NotWritten, (<-got.ch).Outcome)
		require.ErrorIs(t, got.of(never[0].SequenceNumber)[0].Err(), ErrNotBound)
		require.Error(t, r.handler.event(t, EventUnbound).Err)

		require.NoError(t, r.client.Send(submits(t, unused[:1], got.done)))
		require.Equal(t, NotWritten, (<-got.ch).Outcome, "told before Send returns")
		r.client.Release(unused...)

		next := r.bound()
		slots := r.submit(1, got.done)
		require.Equal(t, uint32(2), slots[0].SequenceNumber, "a new session counts anew; the bind was 1")
		next.write(submitResp(next.next(CommandSubmitSM).SequenceNumber, "a"))
		<-got.ch
		r.stopBound(next)
	})
}
