package smpp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func multi() *SubmitMulti {
	return &SubmitMulti{
		SM: SM[string]{
			Source: Address{TON: 5, Addr: "ACME"}, RegisteredDelivery: 1, ShortMessage: []byte("hello"),
			TLVs: TLVs{{Tag: TagUserMessageReference, Value: []byte{0, 7}}},
		},
		Dests: []Destination{
			{Flag: DestinationAddress, Address: Address{TON: 1, NPI: 1, Addr: "393331230001"}},
			{Flag: DestinationList, List: "customers"},
		},
	}
}

func TestAppend_whatIsForManyComesBackAsItWas(t *testing.T) {
	for _, p := range []PDU{
		multi(), &SubmitMulti{}, &SubmitMultiResp{MessageID: "4711"},
		&SubmitMultiResp{MessageID: "4711", Unsuccess: []Unsuccess{
			{Address{TON: 1, NPI: 1, Addr: "393331230001"}, StatusThrottled}, {Address{Addr: "1"}, 0x00000400},
		}},
		&BroadcastSM{ServiceType: "CBS", Source: Address{Addr: "1"}, MessageID: "9", ValidityPeriod: "000000010000000R", DataCoding: 8},
		&BroadcastSMResp{MessageID: "9"}, &QueryBroadcastSM{MessageID: "9", Source: Address{Addr: "1"}},
		&QueryBroadcastSMResp{MessageID: "9", TLVs: TLVs{{Tag: TagMessageState, Value: []byte{2}}}},
		&CancelBroadcastSM{ServiceType: "CBS", MessageID: "9", Source: Address{Addr: "1"}},
	} {
		pdu := encode(t, p)
		got, err := Decode(pdu)
		require.NoError(t, err, "%x", pdu)
		require.IsType(t, p, got)
		require.Equal(t, pdu, encode(t, got))
		for _, f := range Fields(pdu) {
			require.NotContains(t, []string{"error", "note", "undecoded", "body"}, f.Name, "%T", p)
		}
	}
}

func TestFields_ofManyDestinations(t *testing.T) {
	var got []string
	for _, f := range Fields(encode(t, multi())) {
		if strings.HasPrefix(f.Name, "dest") || strings.HasSuffix(f.Name, "dests") || f.Name == "dl_name" {
			got = append(got, f.Name+" "+f.Value)
		}
	}
	require.Equal(t, []string{
		"number_of_dests 2", "dest_flag 1 (SME address)", "dest_addr_ton 1 (international)", "dest_addr_npi 1 (ISDN)", "destination_addr 393331230001",
		"dest_flag 2 (distribution list)", "dl_name customers",
	}, got)
	resp := Fields(encode(t, &SubmitMultiResp{MessageID: "1", Unsuccess: []Unsuccess{{Address{Addr: "2"}, StatusThrottled}}}))
	require.Equal(t, "ESME_RTHROTTLED (0x00000058)", resp[len(resp)-1].Value)
}

func TestDecode_brokenDestinations(t *testing.T) {
	whole := encode(t, multi())
	at := 16 + 1 + 2 + len("ACME") + 1 // of number_of_dests
	for _, tt := range []struct {
		name  string
		spoil func([]byte)
		want  string
	}{
		{"neither address nor list", func(pdu []byte) { pdu[at+1] = 3 }, "smpp: submit_multi: dest_flag at octet 25: 3 is neither an address (1) nor a distribution list (2)"},
		{"more are claimed than there are", func(pdu []byte) { pdu[at] = 200 }, "smpp: submit_multi: dest_flag at octet 52: 0 is neither an address (1) nor a distribution list (2)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pdu := append([]byte(nil), whole...)
			tt.spoil(pdu)
			_, err := Decode(pdu)
			require.EqualError(t, err, tt.want)
			rows := Fields(pdu)
			require.Equal(t, "undecoded", rows[len(rows)-1].Name, "nothing is left out")
		})
	}
	_, err := Append(nil, &SubmitMulti{Dests: make([]Destination, 255)})
	require.EqualError(t, err, "smpp: submit_multi: number_of_dests at octet 20: 255, at most 254 are allowed")
}
