package smpp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	require.Equal(t, "deliver_sm", CommandDeliverSM.String())
	require.Equal(t, "deliver_sm_resp", CommandDeliverSMResp.String())
	require.Equal(t, "generic_nack", CommandGenericNack.String())
	require.Equal(t, "0x80000777", CommandID(0x80000777).String())
	require.Equal(t, "ESME_RTHROTTLED", StatusThrottled.String())
	require.Equal(t, "0x00000400", Status(0x400).String())
	require.Equal(t, "receipted_message_id", TagReceiptedMessageID.String())
	require.Equal(t, "0x1401", Tag(0x1401).String())
	require.Equal(t, CommandSubmitSMResp, CommandSubmitSM.Response())
	require.Equal(t, CommandGenericNack, CommandOutbind.Response())
	require.Equal(t, CommandGenericNack, CommandID(0x777).Response())
}

func TestParseStatus(t *testing.T) {
	tests := []struct {
		name, text string
		want       Status
		bad        bool
	}{
		{"its name", "ESME_RMSGQFUL", StatusMsgQFul, false},
		{"in any case", "esme_rx_t_appn", StatusXTAppn, false},
		{"the name that v5.0 gave it", "ESME_RINVTLVVAL", StatusInvOptParamVal, false},
		{"a hexadecimal number", "0x58", StatusThrottled, false},
		{"a decimal number", "1034", Status(0x40A), false},
		{"another word", "THROTTLED", 0, true},
		{"nothing", "", 0, true},
		{"too large", "0x100000000", 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseStatus(tt.text)
			require.Equal(t, tt.bad, err != nil)
			require.Equal(t, tt.want, got)
		})
	}
	for s, name := range statusNames {
		got, err := ParseStatus(name)
		require.NoError(t, err)
		require.Equal(t, s, got)
	}
}

func TestStatus_whatSMPPDecides(t *testing.T) {
	for _, s := range []Status{StatusThrottled, StatusMsgQFul, StatusSysErr, StatusXTAppn} {
		require.True(t, s.Temporary(), s.String())
		require.False(t, s.AboutSession(), s.String())
	}
	for _, s := range []Status{StatusInvBndSts, StatusAlyBnd, StatusBindFail, StatusInvPaswd, StatusInvSysID} {
		require.True(t, s.AboutSession(), s.String())
		require.False(t, s.Temporary(), s.String())
	}
	require.False(t, StatusAlyBnd.Credentials())
	require.True(t, StatusInvSysTyp.Credentials())
	require.False(t, StatusInvSysTyp.AboutSession(), "no submit_sm has one")
	require.False(t, StatusOK.Temporary() || StatusOK.AboutSession() || StatusInvDstAdr.Temporary())
}
