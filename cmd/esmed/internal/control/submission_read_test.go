package control

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/smpp/text"
	"esmed/statemachine"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// testReader reads for alpha, in Italy, beta, which knows no TLVs and no country, and for gamma and delta,
// which take long texts in other ways.
func testReader() *reader {
	return newReader(Config{
		SMSCs: []SMSC{
			{
				Name: "alpha", Account: "shared", InterfaceVersion: 0x34, OwnTLVs: []uint16{0x1501},
				Source: receipt.Address{Addr: "ESMED", TON: 5}, DestTON: 1, DestNPI: 1, Country: "IT",
				RegisteredDelivery: 0x11, DefaultAlphabet: "gsm7", DeliveryWindow: 72 * time.Hour,
			},
			{
				Name: "gamma", Account: "gamma", InterfaceVersion: 0x34, DestTON: 1, DestNPI: 1, DefaultAlphabet: "ascii",
				LongMessages: "payload", LongReceipts: "last", RegisteredDelivery: 1, DeliveryWindow: time.Hour,
			},
			{
				Name: "delta", Account: "delta", InterfaceVersion: 0x34, DestTON: 1, DestNPI: 1, DefaultAlphabet: "latin1",
				LongMessages: "sar", LongReceipts: "first", RegisteredDelivery: 1, DeliveryWindow: time.Hour,
			},
			{Name: "beta", Account: "beta", InterfaceVersion: 0x33, DestTON: 2, DestNPI: 9, DefaultAlphabet: "latin1", DeliveryWindow: time.Hour},
		},
		DefaultSMSC: "alpha", CallbackPrefixes: []string{"https://crm.example/hooks", "https://a.example"},
		Now: func() time.Time { return noon },
	}, newIDs(""))
}

func read(body string) (*statemachine.MessageAccepted, *Problem) {
	return testReader().read([]byte(body), Caller{Owner: "uid:7"}, "")
}

func mustRead(t testing.TB, body string) *statemachine.MessageAccepted {
	m, p := read(body)
	if p != nil {
		t.Fatalf("%s: %v", body, p)
	}
	return m
}

func TestReader_destination(t *testing.T) {
	tests := []struct {
		name, fields string
		want         receipt.Address
		to, e164     string
	}{
		{"plus is international", `"to":"+393331234567"`, receipt.Address{Addr: "393331234567", TON: 1, NPI: 1}, "+393331234567", "+393331234567"},
		{"00 is international", `"to":"00393331234567"`, receipt.Address{Addr: "393331234567", TON: 1, NPI: 1}, "00393331234567", "+393331234567"},
		{"blanks and hyphens are for people", `"to":"+39 333-123.4567"`, receipt.Address{Addr: "393331234567", TON: 1, NPI: 1}, "+39 333-123.4567", "+393331234567"},
		{"national digits are read in the SMSC's country", `"to":"3331234567"`, receipt.Address{Addr: "393331234567", TON: 1, NPI: 1}, "3331234567", "+393331234567"},
		{"an object is sent as given", `"to":"3331234567","dest":{"ton":2,"npi":8}`, receipt.Address{Addr: "3331234567", TON: 2, NPI: 8}, "3331234567", ""},
		{"an object without addr has no + in it", `"to":"+393331234567","dest":{"ton":1,"npi":1}`, receipt.Address{Addr: "393331234567", TON: 1, NPI: 1}, "+393331234567", "+393331234567"},
		{"an object's own addr", `"to":"12345","dest":{"addr":"12345","ton":3,"npi":0}`, receipt.Address{Addr: "12345", TON: 3}, "12345", ""},
		{"an object's addr with its to", `"to":"+39 333 1234567","dest":{"addr":"00393331234567","ton":2,"npi":1}`, receipt.Address{Addr: "00393331234567", TON: 2, NPI: 1}, "+39 333 1234567", ""},
		{"an object's addr with its to in national form", `"to":"333 1234567","dest":{"addr":"393331234567","ton":1,"npi":1}`, receipt.Address{Addr: "393331234567", TON: 1, NPI: 1}, "333 1234567", "+393331234567"},
		{"letters as given", `"to":"me","dest":{"addr":"me","ton":5,"npi":0}`, receipt.Address{Addr: "me", TON: 5}, "me", ""},
		{"an object alone", `"dest":{"addr":"393331234567","ton":1,"npi":1}`, receipt.Address{Addr: "393331234567", TON: 1, NPI: 1}, "393331234567", "+393331234567"},
		{"the SMSC's ton and npi", `"smsc":"beta","to":"+4917012345678"`, receipt.Address{Addr: "4917012345678", TON: 2, NPI: 9}, "+4917012345678", "+4917012345678"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustRead(t, `{"text":"x",`+tt.fields+`}`)
			require.Equal(t, tt.want, m.Dest)
			require.Equal(t, tt.to, m.To)
			require.Equal(t, tt.e164, m.E164)
		})
	}
}

func TestReader_sender(t *testing.T) {
	tests := []struct {
		name, fields string
		want         receipt.Address
	}{
		{"none: the configured one", `"ref":"r"`, receipt.Address{Addr: "ESMED", TON: 5}},
		{"none, and none is configured", `"smsc":"beta"`, receipt.Address{}},
		{"letters", `"from":"ACME"`, receipt.Address{Addr: "ACME", TON: 5}},
		{"letters and digits", `"from":"Shop 24"`, receipt.Address{Addr: "Shop 24", TON: 5}},
		{"plus", `"from":"+39333"`, receipt.Address{Addr: "39333", TON: 1, NPI: 1}},
		{"00", `"from":"0039333"`, receipt.Address{Addr: "39333", TON: 1, NPI: 1}},
		{"seven digits", `"from":"3933312"`, receipt.Address{Addr: "3933312", TON: 1, NPI: 1}},
		{"digits that no international number begins with", `"from":"0612345678"`, receipt.Address{Addr: "0612345678", NPI: 1}},
		{"more digits than E.164 has", `"from":"1234567890123456"`, receipt.Address{Addr: "1234567890123456", NPI: 1}},
		{"a short code", `"from":"48485"`, receipt.Address{Addr: "48485", NPI: 1}},
		{"an object overrides", `"from":"48485","source":{"ton":3,"npi":9}`, receipt.Address{Addr: "48485", TON: 3, NPI: 9}},
		{"an object with its own addr", `"from":"x","source":{"addr":"99","ton":0,"npi":0}`, receipt.Address{Addr: "99"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, mustRead(t, `{"to":"+393331234567","text":"x",`+tt.fields+`}`).Source)
		})
	}
}

func TestReader_body(t *testing.T) {
	tests := []struct {
		name, fields string
		want         statemachine.PartContent
	}{
		{"the default alphabet", `"text":"a€"`, statemachine.PartContent{ShortMessage: []byte{'a', 0x1B, 'e'}}},
		{"the smallest that fits", `"text":"ж"`, statemachine.PartContent{DataCoding: 8, ShortMessage: []byte{0x04, 0x36}}},
		{"one by its name", `"text":"a","alphabet":"ucs2"`, statemachine.PartContent{DataCoding: 8, ShortMessage: []byte{0, 'a'}}},
		{"one by a flash's data_coding", `"text":"a@","data_coding":16`, statemachine.PartContent{DataCoding: 16, ShortMessage: []byte{'a', 0}}},
		{"a flash in UCS-2", `"text":"a","data_coding":24`, statemachine.PartContent{DataCoding: 24, ShortMessage: []byte{0, 'a'}}},
		{"a name where data_coding says nothing", `"text":"é","alphabet":"latin1","data_coding":5`, statemachine.PartContent{DataCoding: 5, ShortMessage: []byte{0xE9}}},
		{"one by its data_coding", `"text":"é","data_coding":3`, statemachine.PartContent{DataCoding: 3, ShortMessage: []byte{0xE9}}},
		{"a name and another data_coding", `"text":"a","alphabet":"ucs2","data_coding":24`, statemachine.PartContent{DataCoding: 24, ShortMessage: []byte{0, 'a'}}},
		{"octets", `"data_hex":"00FFab","data_coding":4`, statemachine.PartContent{DataCoding: 4, ShortMessage: []byte{0, 0xFF, 0xAB}}},
		{"a header", `"data_hex":"01","udh_hex":"0401020304"`, statemachine.PartContent{ESMClass: 0x40, ShortMessage: []byte{4, 1, 2, 3, 4, 1}}},
		{"an empty text that is meant", `"text":""`, statemachine.PartContent{ShortMessage: []byte{}}},
		{"an escaped pair", `"text":"\ud83d\ude00"`, statemachine.PartContent{DataCoding: 8, ShortMessage: []byte{0xD8, 0x3D, 0xDE, 0x00}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustRead(t, `{"to":"+393331234567",`+tt.fields+`}`)
			require.Len(t, m.Parts, 1)
			require.Equal(t, fmt.Sprintf("%x", tt.want.ShortMessage), fmt.Sprintf("%x", m.Parts[0].ShortMessage))
			require.Equal(t, tt.want.ESMClass, m.Parts[0].ESMClass)
			require.Equal(t, tt.want.DataCoding, m.Parts[0].DataCoding)
		})
	}
}

func TestReader_times(t *testing.T) {
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	tests := []struct {
		name, fields string
		until        time.Time
		asked        bool
		schedule     string
		scheduled    time.Time
	}{
		{"none: the delivery window", `"ref":"r"`, at(72 * time.Hour), false, "", time.Time{}},
		{"a duration", `"validity":"24h"`, at(24 * time.Hour), true, "", time.Time{}},
		{"days", `"validity":"2d12h"`, at(60 * time.Hour), true, "", time.Time{}},
		{"RFC 3339 with a zone", `"validity":"2026-11-30T15:00:00+02:00"`, at(time.Hour), true, "", time.Time{}},
		{"SMPP, relative", `"validity":"000001020000000R"`, at(26 * time.Hour), true, "", time.Time{}},
		{"SMPP, absolute, an hour ahead of UTC", `"validity":"261130160000004+"`, at(3 * time.Hour), true, "", time.Time{}},
		{"SMPP, behind UTC by three hours and a half", `"validity":"261130093000014-"`, at(time.Hour), true, "", time.Time{}},
		{"SMPP, to the tenth of a second", `"validity":"261130120000500+"`, at(500 * time.Millisecond), true, "", time.Time{}},
		{"SMPP, a year and a month from now", `"validity":"010100000000000R"`, noon.AddDate(1, 1, 0), true, "", time.Time{}},
		{"a schedule from now is kept as given", `"schedule_delivery_time":"000000010000000R"`, at(73 * time.Hour), false, "000000010000000R", at(time.Hour)},
		{"a schedule in another zone is sent in UTC", `"schedule_delivery_time":"2026-11-30T14:00:00.25+01:00"`, at(73*time.Hour + 250*time.Millisecond), false, "261130130000200+", at(time.Hour + 250*time.Millisecond)},
		{"a schedule as a duration", `"schedule_delivery_time":"90m"`, at(73*time.Hour + 30*time.Minute), false, "261130133000000+", at(90 * time.Minute)},
		{"a schedule in SMPP time is sent as given", `"schedule_delivery_time":"261130180000008+","validity":"1d"`, at(24 * time.Hour), true, "261130180000008+", at(4 * time.Hour)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustRead(t, `{"to":"+393331234567","text":"x",`+tt.fields+`}`)
			require.Equal(t, tt.until, m.ValidUntil)
			require.Equal(t, tt.asked, m.ValidityAsked)
			require.Equal(t, tt.schedule, m.ScheduleRaw)
			require.Equal(t, tt.scheduled, m.ScheduledAt)
		})
	}
}

func TestReader_registeredDelivery(t *testing.T) {
	for fields, want := range map[string]byte{
		`"ref":"r"`:                                   0x11,
		`"registered_delivery":"final"`:               0x11,
		`"registered_delivery":"failure"`:             0x12,
		`"registered_delivery":"none"`:                0,
		`"registered_delivery":1`:                     1,
		`"registered_delivery":null`:                  0x11,
		`"registered_delivery":255`:                   255,
		`"smsc":"beta","registered_delivery":"final"`: 1,
	} {
		require.Equal(t, want, mustRead(t, `{"to":"+393331234567","text":"x",`+fields+`}`).RegisteredDelivery, fields)
	}
}

func TestReader_everythingElse(t *testing.T) {
	m := mustRead(t, `{"to":"+393331234567","text":"x","ref":"order-42","service_type":"CMT","protocol_id":64,"priority_flag":3,
		"replace_if_present_flag":1,"tlvs":[{"tag":5120,"hex":"0aFF"},{"tag":5120,"hex":""}],"in_doubt":"resend",
		"callback_url":"https://crm.example/hooks/7?x=1"}`)
	require.Len(t, m.Message, 26)
	require.Len(t, m.RequestHash, 32)
	m.Message, m.RequestHash, m.Parts = "", nil, nil
	require.Equal(t, &statemachine.MessageAccepted{
		SMSC: "alpha", Account: "shared", Owner: "uid:7", Ref: "order-42",
		To: "+393331234567", E164: "+393331234567", Source: receipt.Address{Addr: "ESMED", TON: 5},
		Dest: receipt.Address{Addr: "393331234567", TON: 1, NPI: 1}, RegisteredDelivery: 0x11,
		ServiceType: "CMT", ProtocolID: 64, Priority: 3, ReplaceIfPresent: 1,
		ValidUntil: noon.Add(72 * time.Hour), InDoubt: "resend",
		TLVs:        []receipt.TLV{{Tag: 5120, Value: []byte{0x0A, 0xFF}}, {Tag: 5120, Value: []byte{}}},
		CallbackURL: "https://crm.example/hooks/7?x=1",
	}, m)
}

func TestReader_refuses(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	tests := []struct {
		name, body string
		want       []string // paths
	}{
		{"nothing", `{}`, []string{"to", "text"}},
		{"all at once", `{"to":"+39","text":"x","from":"***","priority_flag":9,"validity":"soon","colour":"red"}`, []string{"colour", "to", "from", "validity", "priority_flag"}},
		{"a name in capitals", `{"To":"+393331234567","text":"x"}`, []string{"To", "to"}},
		{"a name twice", `{"to":"+393331234567","to":"+393331234568","text":"x"}`, []string{"to"}},
		{"an SMSC that is not there", `{"to":"+393331234567","text":"x","smsc":"omega"}`, []string{"smsc"}},
		{"text and octets", `{"to":"+393331234567","text":"x","data_hex":"00"}`, []string{"data_hex"}},
		{"half of a pair", `{"to":"+393331234567","text":"\ud83d"}`, []string{"text"}},
		{"half of a pair before another", `{"to":"+393331234567","text":"\ud83d\ud83d\ude00"}`, []string{"text"}},
		{"the second half alone", `{"to":"+393331234567","text":"\ude00!"}`, []string{"text"}},
		{"national digits without a country", `{"to":"3331234567","text":"x","smsc":"beta"}`, []string{"to"}},
		{"no possible number", `{"to":"12","text":"x"}`, []string{"to"}},
		{"letters in a number", `{"to":"+39CALLME1","text":"x"}`, []string{"to"}},
		{"a number that begins with 0", `{"to":"+0393331234567","text":"x"}`, []string{"to"}},
		{"more digits than E.164 has", `{"to":"+3933312345678901","text":"x"}`, []string{"to"}},
		{"a number that is a number", `{"to":393331234567,"text":"x"}`, []string{"to"}},
		{"a name of 12 letters", `{"to":"+393331234567","text":"x","from":"ABCDEFGHIJKL"}`, []string{"from"}},
		{"a name beyond ASCII", `{"to":"+393331234567","text":"x","from":"Müller"}`, []string{"from"}},
		{"an address with another field", `{"to":"+393331234567","text":"x","source":{"address":"1"}}`, []string{"source.address"}},
		{"an address that is a text", `{"to":"+393331234567","text":"x","source":"ACME"}`, []string{"source"}},
		{"an address of 21 octets", `{"dest":{"addr":"123456789012345678901"},"text":"x"}`, []string{"dest.addr"}},
		{"two destinations", `{"to":"+393331234567","dest":{"addr":"393331234568","ton":1,"npi":1},"text":"x"}`, []string{"to"}},
		{"a number and a name for it", `{"to":"me","dest":{"addr":"12345"},"text":"x"}`, []string{"to"}},
		{"an address that is none, with its to", `{"to":"+393331234567","dest":7,"text":"x"}`, []string{"dest"}},
		{"a ton of 256", `{"to":"+393331234567","text":"x","dest":{"ton":256}}`, []string{"dest.ton"}},
		{"more than 255 parts", `{"to":"+393331234567","text":"` + long(255*152+1) + `"}`, []string{"text"}},
		{"parts of which each would replace the one before", `{"to":"+393331234567","text":"` + long(161) + `","replace_if_present_flag":1}`, []string{"replace_if_present_flag"}},
		{"the place of a part in a text that is split here", `{"to":"+393331234567","text":"` + long(161) + `","tlvs":[{"tag":524,"hex":"0001"},{"tag":525,"hex":"01"},{"tag":526,"hex":"02"},{"tag":527,"hex":"01"}]}`,
			[]string{"tlvs[0].tag", "tlvs[2].tag", "tlvs[3].tag"}},
		{"153 septets beside a header of seven octets", `{"to":"+393331234567","text":"` + long(153) + `","udh_hex":"06050400000000"}`, []string{"text"}},
		{"an alphabet without the character", `{"to":"+393331234567","text":"ж","alphabet":"gsm7"}`, []string{"text"}},
		{"an alphabet that is none", `{"to":"+393331234567","text":"x","alphabet":"morse"}`, []string{"alphabet"}},
		{"gsm7 where it has no data_coding", `{"to":"+393331234567","text":"x","alphabet":"gsm7","smsc":"beta"}`, []string{"alphabet"}},
		{"a data_coding for no text", `{"to":"+393331234567","text":"x","data_coding":4}`, []string{"data_coding"}},
		{"an alphabet of octets", `{"to":"+393331234567","data_hex":"00","alphabet":"ucs2"}`, []string{"alphabet"}},
		{"half an octet", `{"to":"+393331234567","data_hex":"0"}`, []string{"data_hex"}},
		{"an alphabet and a data_coding of another", `{"to":"+393331234567","text":"x","alphabet":"ucs2","data_coding":0}`, []string{"data_coding"}},
		{"141 octets", `{"to":"+393331234567","data_coding":4,"data_hex":"` + long(282) + `"}`, []string{"data_hex"}},
		{"161 septets as they are", `{"to":"+393331234567","data_hex":"` + long(322) + `"}`, []string{"data_hex"}},
		{"134 octets beside a header of seven", `{"to":"+393331234567","data_coding":4,"data_hex":"` + long(268) + `","udh_hex":"06050400000000"}`, []string{"data_hex"}},
		{"134 octets beside a header of seven, to an SMSC with payload", `{"to":"+393331234567","smsc":"gamma","data_coding":4,"data_hex":"` + long(268) + `","udh_hex":"06050400000000"}`, []string{"data_hex"}},
		{"more than message_payload can be", `{"to":"+393331234567","smsc":"gamma","data_hex":"` + long(2*65536) + `"}`, []string{"data_hex"}},
		{"a text that is more than message_payload can be", `{"to":"+393331234567","smsc":"gamma","text":"` + long(65536) + `"}`, []string{"text"}},
		{"a header that does not add up", `{"to":"+393331234567","text":"x","udh_hex":"0501"}`, []string{"udh_hex"}},
		{"a time that is over", `{"to":"+393331234567","text":"x","validity":"2026-11-30T11:59:59Z"}`, []string{"validity"}},
		{"a month of 13", `{"to":"+393331234567","text":"x","validity":"271330160000004+"}`, []string{"validity"}},
		{"a time from now with a zone", `{"to":"+393331234567","text":"x","validity":"000001000000004R"}`, []string{"validity"}},
		{"a time from now of 24 hours", `{"to":"+393331234567","text":"x","validity":"000000240000000R"}`, []string{"validity"}},
		{"no time from now", `{"to":"+393331234567","text":"x","schedule_delivery_time":"000000000000000R"}`, []string{"schedule_delivery_time"}},
		{"13 hours from UTC", `{"to":"+393331234567","text":"x","validity":"270101000000052+"}`, []string{"validity"}},
		{"the 30th of February", `{"to":"+393331234567","text":"x","validity":"270230000000000+"}`, []string{"validity"}},
		{"a zone without its sign", `{"to":"+393331234567","text":"x","validity":"270101000000004Z"}`, []string{"validity"}},
		{"a validity before the schedule", `{"to":"+393331234567","text":"x","validity":"1h","schedule_delivery_time":"2h"}`, []string{"validity"}},
		{"a validity of a hundred years", `{"to":"+393331234567","text":"x","validity":"36500d"}`, []string{"validity"}},
		{"TLVs before 3.4", `{"to":"+4917012345678","text":"x","smsc":"beta","tlvs":[{"tag":1,"hex":""}]}`, []string{"tlvs"}},
		{"bad TLVs", `{"to":"+393331234567","text":"x","tlvs":[{"tag":0,"hex":""},{"tag":5120,"hex":"x"},{"tag":1060,"hex":""},{"tag":5377,"hex":""},7]}`,
			[]string{"tlvs[0].tag", "tlvs[1].hex", "tlvs[2].tag", "tlvs[3].tag", "tlvs[4]"}},
		{"an octet with a fraction", `{"to":"+393331234567","text":"x","protocol_id":1.5}`, []string{"protocol_id"}},
		{"a receipt of another kind", `{"to":"+393331234567","text":"x","registered_delivery":"maybe"}`, []string{"registered_delivery"}},
		{"control characters in a ref", `{"to":"+393331234567","text":"x","ref":"a\nb"}`, []string{"ref"}},
		{"a service_type of six", `{"to":"+393331234567","text":"x","service_type":"CMTCMT"}`, []string{"service_type"}},
		{"another in_doubt", `{"to":"+393331234567","text":"x","in_doubt":"guess"}`, []string{"in_doubt"}},
		{"a callback elsewhere", `{"to":"+393331234567","text":"x","callback_url":"https://b.example/"}`, []string{"callback_url"}},
		{"a callback whose host only begins so", `{"to":"+393331234567","text":"x","callback_url":"https://a.example.org/"}`, []string{"callback_url"}},
		{"a callback with a user that looks so", `{"to":"+393331234567","text":"x","callback_url":"https://a.example@b.example/"}`, []string{"callback_url"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, p := read(tt.body)
			require.NotNil(t, p)
			require.Equal(t, 422, p.Status)
			var paths []string
			for _, e := range p.Errors {
				paths = append(paths, e.Path)
				require.NotContains(t, e.Message, "3331234567", "no number is quoted")
			}
			require.Equal(t, tt.want, paths)
		})
	}
}

func TestReader_refusesWhatIsNoObject(t *testing.T) {
	for _, body := range []string{"", " ", "7", "[]", `"to"`, "null", "{", `{"to":}`, `{} {}`, "{\"to\":\"\xff\"}"} {
		_, p := read(body)
		require.NotNil(t, p, body)
		require.Equal(t, 400, p.Status, body)
	}
}

func TestReader_hash(t *testing.T) {
	first := mustRead(t, `{"to":"+393331234567","text":"a\u00e9","dest":{"addr":"393331234567","ton":1,"npi":2}}`)
	for _, same := range []string{
		` { "text" : "aé" , "dest":{"npi":2,"addr":"393331234567","ton":1},"to":"+39333123\u0034567","ref":null}`,
	} {
		m := mustRead(t, same)
		require.Equal(t, first.RequestHash, m.RequestHash, same)
		require.NotEqual(t, first.Message, m.Message)
	}
	for _, other := range []string{
		`{"to":"+393331234567","text":"aé"}`,
		`{"to":"+393331234567","text":"ae","dest":{"addr":"393331234567","ton":1,"npi":2}}`,
		`{"to":"+393331234567","text":"aé","dest":{"addr":"393331234567","ton":1,"npi":3}}`,
		`{"to":"+393331234567","text":"aé","dest":{"addr":"393331234567","ton":1,"npi":2},"priority_flag":0}`,
	} {
		require.NotEqual(t, first.RequestHash, mustRead(t, other).RequestHash, other)
	}
}

func TestReader_withoutADefaultSMSC(t *testing.T) {
	rd := newReader(Config{SMSCs: []SMSC{{Name: "a"}, {Name: "b"}}, Now: time.Now}, newIDs(""))
	_, p := rd.read([]byte(`{"to":"+393331234567","text":"x"}`), Caller{}, "")
	require.NotNil(t, p)
	require.Equal(t, "smsc", p.Errors[0].Path)
}

func TestSubmission_roundTrips(t *testing.T) {
	coding := 8
	given := Submission{
		To: "+393331234567", From: "ACME", DataHex: "0041", DataCoding: &coding, SMSC: "alpha", Ref: "r", Validity: "1d",
		Source: &SubmissionAddress{Addr: "A", TON: 5}, RegisteredDelivery: "17", TLVs: []SubmissionTLV{{Tag: 5120, Hex: "00"}},
	}
	line, err := json.Marshal(given)
	require.NoError(t, err)
	var again Submission
	require.NoError(t, json.Unmarshal(line, &again))
	require.Equal(t, given, again)
	m := mustRead(t, string(line))
	require.EqualValues(t, 17, m.RegisteredDelivery)
	require.EqualValues(t, 8, m.Parts[0].DataCoding)
}

func TestRegisteredDelivery_inJSON(t *testing.T) {
	for in, want := range map[string]RegisteredDelivery{`17`: "17", `"final"`: "final", `""`: "", `null`: ""} {
		var got RegisteredDelivery
		require.NoError(t, json.Unmarshal([]byte(in), &got), in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{`256`, `-1`, `1.5`, `true`, `{}`} {
		require.Error(t, json.Unmarshal([]byte(in), new(RegisteredDelivery)), in)
	}
}

func TestMembers_agreeWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.String(), anyJSON(3)).Draw(t, "object")
		object, err := json.Marshal(want)
		require.NoError(t, err)
		require.NoError(t, checkJSON(object))
		var wantRaw map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(object, &wantRaw))
		got := map[string]json.RawMessage{}
		for name, raw := range members(object) {
			s, ok := unquote(name)
			require.True(t, ok)
			got[s] = append(json.RawMessage{}, raw...)
		}
		require.Equal(t, wantRaw, got)
	})
}

// anyJSON draws values of all kinds.
func anyJSON(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Bool().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Just[any](nil),
	}
	if depth > 0 {
		kinds = append(kinds, rapid.SliceOfN(anyJSON(depth-1), 0, 3).AsAny(), rapid.MapOfN(rapid.String(), anyJSON(depth-1), 0, 3).AsAny())
	}
	return rapid.OneOf(kinds...)
}

func FuzzReader(f *testing.F) {
	f.Add(`{"to":"+393331234567","text":"x","tlvs":[{"tag":5120,"hex":"00"}],"dest":{"addr":"1","ton":1,"npi":1}}`)
	f.Add(`{"to":"\ud83d\ude00","text":"\\\"","validity":"000001020000000R"}`)
	f.Add(`{"to":"+393331234567","smsc":"delta","text":"` + strings.Repeat(`\u00e9\ud83d\ude00`, 60) + `"}`)
	f.Add(`{"tlvs":[ ],"source":{ },"registered_delivery":1e3}`)
	rd := testReader()
	f.Fuzz(func(t *testing.T, body string) {
		m, p := rd.read([]byte(body), Caller{Owner: "uid:0"}, "")
		if (m == nil) == (p == nil) {
			t.Fatalf("message %v, problem %v", m, p)
		}
		if m == nil {
			return
		}
		if len(m.Parts) == 0 || len(m.Parts) > text.MaxParts || len(m.Dest.Addr) > maxAddr || len(m.Source.Addr) > maxAddr {
			t.Fatalf("accepted what no submit_sm can carry")
		}
		for _, part := range m.Parts {
			if len(part.ShortMessage) > 160 && !part.Payload {
				t.Fatalf("accepted a part of %d octets", len(part.ShortMessage))
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	rd := testReader()
	body := []byte(`{"to":"+393331234567","from":"ACME","text":"Your code is 4711","smsc":"alpha","ref":"order-42","validity":"24h"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, p := rd.read(body, Caller{Owner: "uid:0"}, ""); p != nil {
			b.Fatal(p)
		}
	}
}
