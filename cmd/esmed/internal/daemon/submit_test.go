package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/cmd/esmed/internal/config"
	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
)

func accepted(parts ...statemachine.PartContent) *statemachine.MessageAccepted {
	return &statemachine.MessageAccepted{
		Message: "01JDXW5Q0C8Z4Y3K7M2N9P6R5T", SMSC: "alpha", Account: "alpha",
		Source: receipt.Address{Addr: "ACME", TON: 5}, Dest: receipt.Address{Addr: "393331234567", TON: 1, NPI: 1},
		RegisteredDelivery: 0x11, Priority: 2, ValidUntil: paceStart.Add(time.Hour),
		TLVs:  []receipt.TLV{{Tag: 0x1500, Value: []byte{7}}},
		Parts: parts,
	}
}

func TestSubmitSM_writesWhatWasAccepted(t *testing.T) {
	cfg := config.DefaultSMSC()
	m := accepted(statemachine.PartContent{ESMClass: 0x40, DataCoding: 8, ShortMessage: []byte("text")})
	pdu, until := submitSM(&cfg, m, 1, 9, paceStart)
	require.Equal(t, smpp.SubmitSM{
		Header: smpp.Header{SequenceNumber: 9}, Source: smpp.Address{Addr: "ACME", TON: 5},
		Dest: smpp.Address{Addr: "393331234567", TON: 1, NPI: 1}, ESMClass: 0x40, PriorityFlag: 2,
		RegisteredDelivery: 0x11, DataCoding: 8, ShortMessage: []byte("text"),
		TLVs: smpp.TLVs{{Tag: 0x1500, Value: []byte{7}}},
	}, pdu)
	require.Zero(t, until, "no validity was asked for, so none is sent")
}

func TestSubmitSM_perPartAndPerSMSC(t *testing.T) {
	two := []statemachine.PartContent{{ShortMessage: []byte("one"), NoReceipt: true}, {ShortMessage: []byte("two")}}
	tests := []struct {
		name   string
		adjust func(*config.SMSC, *statemachine.MessageAccepted)
		part   int
		check  func(t *testing.T, pdu *smpp.SubmitSM)
	}{
		{"a part that asks for no receipt", func(*config.SMSC, *statemachine.MessageAccepted) {}, 1, func(t *testing.T, pdu *smpp.SubmitSM) {
			require.Zero(t, pdu.RegisteredDelivery)
		}},
		{"the part that asks for one", func(*config.SMSC, *statemachine.MessageAccepted) {}, 2, func(t *testing.T, pdu *smpp.SubmitSM) {
			require.EqualValues(t, 0x11, pdu.RegisteredDelivery)
			require.Equal(t, "two", string(pdu.ShortMessage))
		}},
		{"the reference that is echoed names the part", func(c *config.SMSC, _ *statemachine.MessageAccepted) { c.ClientRefTLV = 0x1401 }, 2, func(t *testing.T, pdu *smpp.SubmitSM) {
			ref, _ := pdu.TLVs.Find(0x1401)
			require.Equal(t, "01JDXW5Q0C8Z4Y3K7M2N9P6R5T/2", string(ref.Value))
		}},
		{"user_message_reference is never 0", func(c *config.SMSC, _ *statemachine.MessageAccepted) { c.UserMessageReference = true }, 1, func(t *testing.T, pdu *smpp.SubmitSM) {
			ref, _ := pdu.TLVs.Find(smpp.TagUserMessageReference)
			require.Equal(t, []byte{0, 1}, ref.Value)
		}},
		{"below version 0x34 no TLV is sent", func(c *config.SMSC, _ *statemachine.MessageAccepted) {
			c.InterfaceVersion, c.ClientRefTLV, c.UserMessageReference = 0x33, 0x1401, true
		}, 1, func(t *testing.T, pdu *smpp.SubmitSM) { require.Empty(t, pdu.TLVs) }},
		{"a payload, however short it is", func(_ *config.SMSC, m *statemachine.MessageAccepted) {
			m.Parts = []statemachine.PartContent{{ShortMessage: []byte("short"), Payload: true}}
		}, 1, func(t *testing.T, pdu *smpp.SubmitSM) {
			payload, _ := pdu.TLVs.Find(smpp.TagMessagePayload)
			require.Equal(t, "short", string(payload.Value))
			require.Empty(t, pdu.ShortMessage)
		}},
		{"a part's own TLVs beside the message's", func(_ *config.SMSC, m *statemachine.MessageAccepted) {
			m.Parts[1].TLVs = []receipt.TLV{{Tag: 0x020F, Value: []byte{2}}}
		}, 2, func(t *testing.T, pdu *smpp.SubmitSM) {
			require.Equal(t, smpp.TLVs{{Tag: smpp.TagSARSegmentSeqNum, Value: []byte{2}}, {Tag: 0x1500, Value: []byte{7}}}, pdu.TLVs)
		}},
		{"a part that was accepted with its place is sent with it, whatever the version is by now", func(c *config.SMSC, m *statemachine.MessageAccepted) {
			c.InterfaceVersion = 0x33
			m.Parts[1].TLVs = []receipt.TLV{{Tag: 0x020F, Value: []byte{2}}}
		}, 2, func(t *testing.T, pdu *smpp.SubmitSM) {
			require.Equal(t, smpp.TLVs{{Tag: smpp.TagSARSegmentSeqNum, Value: []byte{2}}}, pdu.TLVs)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, m := config.DefaultSMSC(), accepted(two...)
			tt.adjust(&cfg, m)
			pdu, _ := submitSM(&cfg, m, tt.part, 0xFFFF, paceStart)
			tt.check(t, &pdu)
		})
	}
}

func TestTimeLeft(t *testing.T) {
	tests := []struct {
		name string
		left time.Duration
		want string
	}{
		{"an hour", time.Hour, "000000010000000R"},
		{"a day and a bit", 26*time.Hour + 3*time.Minute + 4*time.Second, "000001020304000R"},
		{"31 days are the longest relative time", 31 * 24 * time.Hour, "000031000000000R"},
		{"beyond that it is absolute", 32 * 24 * time.Hour, "270101120000000+"},
		{"less than a second is a second", time.Millisecond, "000000000001000R"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, timeLeft(paceStart.Add(tt.left), paceStart))
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		left := time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "left"))
		require.Len(t, timeLeft(paceStart.Add(left), paceStart), 16)
	})
}

func TestSubmitSM_schedule(t *testing.T) {
	tests := []struct {
		name, raw string
		in        time.Duration // of its time from now
		want      string
	}{
		{"none", "", 0, ""},
		{"an instant is sent as given", "261130180000008+", 4 * time.Hour, "261130180000008+"},
		{"what counts from now is what is left of it", "000001000000000R", 23*time.Hour + 30*time.Minute, "000000233000000R"},
		{"nothing has gone of it yet", "000001000000000R", 24*time.Hour - 3*time.Millisecond, "000001000000000R"},
		{"its time has come while it waited here", "261130080000000+", -time.Minute, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, m := config.DefaultSMSC(), accepted(statemachine.PartContent{})
			if m.ScheduleRaw = tt.raw; tt.raw != "" {
				m.ScheduledAt = paceStart.Add(tt.in)
			}
			pdu, _ := submitSM(&cfg, m, 1, 1, paceStart)
			require.Equal(t, tt.want, pdu.ScheduleDeliveryTime)
		})
	}
}
