package daemon_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// firstOf does something else about the first n submits.
func firstOf(n uint64, do func(*smpptest.Action)) func(smpptest.Submit, smpptest.Action) smpptest.Action {
	return func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		if sub.N <= n {
			do(&a)
		}
		return a
	}
}

// triesByDest counts the submits to each destination.
func (s *system) triesByDest() map[string]int {
	tries := map[string]int{}
	for _, sub := range s.smsc.Submits() {
		tries["+"+sub.Dest.Addr]++
	}
	return tries
}

func TestStatuses_eachSaysWhatBecomesOfTheMessage(t *testing.T) {
	temporary := []smpp.Status{smpp.StatusThrottled, smpp.StatusMsgQFul, smpp.StatusSysErr, smpp.StatusXTAppn, 0x408, smpp.StatusSubmitFail}
	session := []smpp.Status{smpp.StatusInvBndSts, smpp.StatusAlyBnd, smpp.StatusBindFail, smpp.StatusInvPaswd, smpp.StatusInvSysID}
	var statuses []smpp.Status
	for status := smpp.Status(1); status <= smpp.StatusInvBcastChanInd; status++ {
		if strings.HasPrefix(status.String(), "ESME_R") {
			statuses = append(statuses, status)
		}
	}
	statuses = append(statuses, 0x408, 0x409, 0xFFFFFFFF)
	byDest := map[string]smpp.Status{}
	for n, status := range statuses {
		byDest[number(n)[1:]] = status
	}
	tried := map[string]bool{}
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		if !tried[sub.Dest.Addr] {
			tried[sub.Dest.Addr] = true
			a.Status = byDest[sub.Dest.Addr]
		}
		return a
	}}, func(c *config.Config) {
		c.SMSCs[0].Retry.Statuses = []smpp.Status{0x408, smpp.StatusSubmitFail}
	})
	var ids []string
	for n := range statuses {
		ids = append(ids, s.submit(number(n)))
	}
	for n, status := range statuses {
		m := s.await(ids[n], "closed", func(m control.Message) bool { return m.Closed })
		attempts := m.Parts[0].Attempts
		require.Equal(t, status.String(), attempts[0].CommandStatus)
		require.False(t, m.MaybeDoubled)
		if slices.Contains(temporary, status) || slices.Contains(session, status) {
			require.Equal(t, "DELIVERED", m.State, "%s", status)
			require.Len(t, attempts, 2, "%s", status)
			continue
		}
		require.Equal(t, "FAILED", m.State, "%s", status)
		require.Equal(t, "submit_sm_resp", m.Basis)
		require.Contains(t, m.Reason, "refused attempt 1 with "+status.String())
		require.Len(t, attempts, 1, "%s", status)
	}
	for to, n := range s.triesByDest() {
		require.LessOrEqual(t, n, 2, "submits of %s", byDest[to[1:]])
	}
	require.GreaterOrEqual(t, s.smsc.Stats().Binds, 2, "the session's statuses bind again")
	require.Empty(t, s.exceptions())
}

func TestStatuses_howeverTheAnswerIsWritten(t *testing.T) {
	const text = 0x001D // additional_status_info_text
	resp := func(status smpp.Status, body string) func(uint32) []byte {
		return func(seq uint32) []byte {
			return withLength(append(smpp.AppendHeader(nil, smpp.Header{
				CommandID: smpp.CommandSubmitSMResp, CommandStatus: status, SequenceNumber: seq,
			}), body...))
		}
	}
	nack := func(status smpp.Status) func(uint32) []byte {
		return func(seq uint32) []byte { return smpp.AppendResponse(nil, smpp.CommandGenericNack, status, seq) }
	}
	tlv := string([]byte{0, text, 0, 4, 'b', 'u', 's', 'y'})
	network := string([]byte{0x04, 0x23, 0, 3, 3, 0, 11}) // network_error_code
	tests := []struct {
		name       string
		answer     func(seq uint32) []byte
		state      string
		status     smpp.Status
		id         string
		exceptions []string
	}{
		{"a refusal without a body", resp(smpp.StatusInvDstAdr, ""), "FAILED", smpp.StatusInvDstAdr, "", nil},
		{"a refusal with an empty id and TLVs", resp(smpp.StatusInvDstAdr, "\x00"+tlv+network), "FAILED", smpp.StatusInvDstAdr, "", nil},
		{"a refusal with TLVs and no id", resp(smpp.StatusDeliveryFailure, tlv), "FAILED", smpp.StatusDeliveryFailure, "", nil},
		{"a refusal for now without a body", resp(smpp.StatusMsgQFul, ""), "DELIVERED", smpp.StatusMsgQFul, "", nil},
		{"a refusal for now with an id", resp(smpp.StatusSysErr, "77\x00"), "DELIVERED", smpp.StatusSysErr, "77", nil},
		{"ESME_ROK with TLVs behind the id", resp(smpp.StatusOK, "4A\x00"+tlv+network), "SUBMITTED", smpp.StatusOK, "4A", nil},
		{"ESME_ROK with an id that lacks its end", resp(smpp.StatusOK, "4A"), "SUBMITTED", smpp.StatusOK, "4A", nil},
		{"ESME_ROK without a body", resp(smpp.StatusOK, ""), "SUBMITTED", smpp.StatusOK, "", []string{"no_message_id"}},
		{"ESME_ROK with an empty id", resp(smpp.StatusOK, "\x00"), "SUBMITTED", smpp.StatusOK, "", []string{"no_message_id"}},
		{"ESME_ROK with an id that says that it is none", resp(smpp.StatusOK, "null\x00"), "SUBMITTED", smpp.StatusOK, "null", []string{"no_message_id"}},
		{"a generic_nack for a command that is not known", nack(smpp.StatusInvCmdID), "FAILED", smpp.StatusInvCmdID, "", nil},
		{"a generic_nack for a length", nack(smpp.StatusInvMsgLen), "FAILED", smpp.StatusInvMsgLen, "", nil},
		{"a generic_nack for now", nack(smpp.StatusThrottled), "DELIVERED", smpp.StatusThrottled, "", nil},
		{"a generic_nack about the session", nack(smpp.StatusInvBndSts), "DELIVERED", smpp.StatusInvBndSts, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSystem(t, smpptest.Config{OnSubmit: firstTry(func(a *smpptest.Action) { a.Never, a.Receipts = true, nil })}, nil)
			id := s.submit(number(1))
			s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 1 })
			require.NoError(t, s.smsc.WriteRaw(tt.answer(s.smsc.Submits()[0].SequenceNumber)))
			m := s.awaitState(id, tt.state)
			first := m.Parts[0].Attempts[0]
			require.Equal(t, tt.status.String(), first.CommandStatus)
			require.Equal(t, tt.id, first.MessageID)
			require.Equal(t, tt.exceptions, s.exceptionKinds())
			require.False(t, m.MaybeDoubled)
		})
	}
}

func TestStatuses_anIDThatALiveMessageHasIsAnException(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
		a.MessageID, a.Receipts = "4711", nil
		return a
	}}, nil)
	s.awaitState(s.submit(number(1)), "SUBMITTED")
	second := s.submit(number(2))
	s.awaitState(second, "SUBMITTED")
	require.Equal(t, second, s.only("duplicate_message_id").Message)
}

// A session begins with sequence number 1 again, so that what was lost with the one before has the number of
// what this one sends.
func TestDoubt_aNumberOfAnEarlierSessionIsAnothers(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: firstOf(1, func(a *smpptest.Action) {
		a.Drop, a.Receipts = smpptest.DropBefore, nil
	})}, nil)
	lost := s.submit(number(1))
	s.awaitState(lost, "IN_DOUBT")
	next := s.submit(number(2))
	s.awaitState(next, "DELIVERED")
	submits := s.smsc.Submits()
	require.Equal(t, submits[0].SequenceNumber, submits[1].SequenceNumber)
	require.Equal(t, "IN_DOUBT", s.message(lost).State)
	require.Empty(t, s.message(lost).Parts[0].Attempts[0].MessageID)
}

func TestQueue_leavesByPriorityThenInOrder(t *testing.T) {
	for _, window := range []int{1, 7} {
		s := newSystem(t, smpptest.Config{
			Bind: smpptest.Bind{Refuse: smpp.StatusBindFail}, Answers: smpptest.Answers{Jitter: 5 * time.Millisecond},
		}, func(c *config.Config) { c.SMSCs[0].Window = window })
		dice := rand.New(rand.NewPCG(1, uint64(window)))
		var want [4][]string
		for n := range 40 {
			priority := dice.IntN(4)
			m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(n), From: "ACME", Text: "hello", PriorityFlag: priority}, "")
			require.NoError(t, err)
			want[priority] = append(want[priority], m.To[1:])
		}
		s.smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = smpp.StatusOK })
		s.awaitSMSC(func(st smpptest.Stats) bool { return st.Submits == 40 })
		var got []string
		for _, sub := range s.smsc.Submits() {
			got = append(got, sub.Dest.Addr)
		}
		slices.Reverse(want[:])
		require.Equal(t, slices.Concat(want[:]...), got, "window %d", window)
	}
}
