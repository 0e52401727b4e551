package smpptest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutlv"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// cancel writes a cancel_sm and gives its sequence_number. go-smpp has no such PDU.
func (e *esme) cancel(messageID string) uint32 {
	e.t.Helper()
	e.seq++
	b := append([]byte{0}, messageID...)
	b = append(append(append(b, 0, 0, 0), "15550100\x00\x01\x01"...), "393331234567\x00"...)
	e.write(pdu.ID(smpp.CommandCancelSM), 0, e.seq, b)
	return e.seq
}

func TestCancel_is_answered_as_the_script_says(t *testing.T) {
	tests := []struct {
		name     string
		onCancel func(smpptest.Cancel) smpptest.Cancelled
		want     pdu.ID
		status   smpp.Status
		receipt  string // of the message
	}{
		{"no script", nil, pdu.ID(smpp.CommandCancelSMResp), smpp.StatusCancelFail, "DELIVRD"},
		{"taken and deleted", func(smpptest.Cancel) smpptest.Cancelled { return smpptest.Cancelled{Deleted: true} },
			pdu.ID(smpp.CommandCancelSMResp), smpp.StatusOK, "DELETED"},
		{"taken and delivered all the same", func(smpptest.Cancel) smpptest.Cancelled { return smpptest.Cancelled{} },
			pdu.ID(smpp.CommandCancelSMResp), smpp.StatusOK, "DELIVRD"},
		{"refused", func(smpptest.Cancel) smpptest.Cancelled { return smpptest.Cancelled{Status: smpp.StatusInvMsgID} },
			pdu.ID(smpp.CommandCancelSMResp), smpp.StatusInvMsgID, "DELIVRD"},
		{"not understood", func(smpptest.Cancel) smpptest.Cancelled {
			return smpptest.Cancelled{Nack: true, Status: smpp.StatusInvCmdID}
		}, pdu.GenericNACKID, smpp.StatusInvCmdID, "DELIVRD"},
		{"deleted without a word", func(smpptest.Cancel) smpptest.Cancelled { return smpptest.Cancelled{Never: true, Deleted: true} },
			0, 0, "DELETED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen smpptest.Cancel
				cfg := smpptest.Config{Addr: smpptest.NoListener, Receipts: smpptest.Receipts{Delay: time.Second}}
				if tt.onCancel != nil {
					cfg.OnCancel = func(c smpptest.Cancel) smpptest.Cancelled { seen = c; return tt.onCancel(c) }
				}
				s := start(t, cfg)
				e := piped(t, s)
				e.submit("393331234567")
				id := e.want(pdu.SubmitSMRespID).messageID()
				seq := e.cancel(id)
				if tt.want != 0 {
					f := e.want(tt.want)
					require.Equal(t, uint32(tt.status), f.status)
					require.Equal(t, seq, f.seq)
				}
				require.Contains(t, e.acked(pdu.DeliverSMID).text(t), "stat:"+tt.receipt)
				drained(t, s)
				require.True(t, e.silent(time.Minute), "one receipt")
				require.Equal(t, uint64(1), s.Stats().Cancels)
				line := lines(s, smpptest.LineCancel)[0]
				require.Equal(t, id, line.MessageID)
				require.Equal(t, "393331234567", line.Dest)
				if tt.onCancel != nil {
					require.True(t, seen.Known)
					require.Equal(t, smpptest.Address{Addr: "393331234567", TON: 1, NPI: 1}, seen.Dest)
				}
				require.NoError(t, s.Close())
			})
		})
	}
}

func TestServer_Outbind_and_AlertNotification(t *testing.T) {
	s := start(t, smpptest.Config{})
	require.Error(t, s.Outbind("smsc", "secret"), "no connection")
	e := bound(t, s)
	require.NoError(t, s.Outbind("smsc", "secret"))
	f := e.want(pdu.ID(smpp.CommandOutbind)).decoded(t).Fields()
	require.Equal(t, []string{"smsc", "secret"}, []string{f[pdufield.SystemID].String(), f[pdufield.Password].String()})

	require.NoError(t, s.AlertNotification(smpptest.Address{Addr: "393331234567", TON: 1, NPI: 1}, smpptest.Address{Addr: "esme"}))
	a := e.want(pdu.AlertNotificationID)
	require.Equal(t, "\x01\x01393331234567\x00\x00\x00esme\x00\x04\x22\x00\x01\x00", string(a.body))
	require.Equal(t, pdutlv.Tag(0x0422), pdutlv.Tag(smpp.TagMSAvailabilityStatus))
	require.Equal(t, []smpptest.Kind{smpptest.Raw, smpptest.Raw}, kinds(s))
}
