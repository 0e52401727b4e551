package receipt_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

const (
	deliverSM = 0x00000005
	dataSM    = 0x00000103
)

// deliver is a deliver_sm with this text.
func deliver(class byte, text string, tlvs ...receipt.TLV) receipt.Delivery {
	return receipt.Delivery{CommandID: deliverSM, ESMClass: class, ShortMessage: []byte(text), TLVs: tlvs}
}

func coded(coding byte, d receipt.Delivery) receipt.Delivery {
	d.DataCoding = coding
	return d
}

func tlv(tag uint16, value string) receipt.TLV { return receipt.TLV{Tag: tag, Value: []byte(value)} }

func tlvID(value string) receipt.TLV    { return tlv(receipt.TagReceiptedMessageID, value) }
func tlvState(value string) receipt.TLV { return tlv(receipt.TagMessageState, value) }
func payload(value string) receipt.TLV  { return tlv(receipt.TagMessagePayload, value) }

// line writes the parts of a reading that a table compares as kind|id|raw_stat|state|err|text, with
// the empty ones at the end left out.
func line(r receipt.Receipt) string {
	all := strings.Join([]string{r.Kind.String(), r.ID, r.RawStat, r.State.String(), r.Err, r.Text}, "|")
	return strings.TrimRight(all, "|")
}

type reading struct {
	name string
	d    receipt.Delivery
	want string
}

func checkReadings(t *testing.T, rules receipt.Rules, tests []reading) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, line(receipt.Decode(tt.d, &rules)))
		})
	}
}

func TestDecode_labels(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"in capitals", "ID:7 STAT:EXPIRED ERR:9 TEXT:x", "delivery_receipt|7|EXPIRED|EXPIRED|9|x"},
		{"text first, directly followed by an unseen label", "text: id:7 stat:EXPIRED", "delivery_receipt|7|EXPIRED|EXPIRED"},
		{"text directly followed by a label without a blank", "id:7 text:stat:EXPIRED", "delivery_receipt|7|EXPIRED|EXPIRED"},
		{"text directly followed by a date label", "id:7 text: submit date:2403151204 stat:DELETED", "delivery_receipt|7|DELETED|DELETED"},
		{"two empty text labels, then a text", "id:7 text: stat:DELIVRD text:stat:EXPIRED err:9", "delivery_receipt|7|DELIVRD|DELIVERED||stat:EXPIRED err:9"},
		{"text directly followed by a seen label is text", "id:7 text: id:8 stat:DELIVRD", "delivery_receipt|7||||id:8 stat:DELIVRD"},
		{"text followed by a word and a label is text", "id:7 text: a stat:DELIVRD", "delivery_receipt|7||||a stat:DELIVRD"},
		{"text followed by another text label is text", "id:7 text: text: stat:DELIVRD", "delivery_receipt|7||||text: stat:DELIVRD"},
		{"text followed by what only begins like a label", "id:7 text: status:DELIVRD stat:DELIVRD", "delivery_receipt|7||||status:DELIVRD stat:DELIVRD"},
		{"a stat in the text is not read where stat is empty", "id:7 stat: text:x stat:DELIVRD", "delivery_receipt|7||||x stat:DELIVRD"},
		{"an id in the text is not read where id is missing", "stat:DELIVRD text:x id:7", "delivery_receipt||DELIVRD|DELIVERED||x id:7"},
		{"after a letter", "xid:5 id:7", "delivery_receipt|7"},
		{"after a digit", "1id:5 id:7", "delivery_receipt|7"},
		{"after an underscore", "_id:5 id:7", "delivery_receipt|7"},
		{"after a letter of Latin-1", "\xe9id:5 id:7", "delivery_receipt|7"},
		{"after a hyphen", "-id:7", "delivery_receipt|7"},
		{"after a bracket", "[id:7 stat:DELIVRD", "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"after a UTF-8 byte order mark", "\xef\xbb\xbfid:7 stat:DELIVRD", "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"after another's colon", "x:id:7", "delivery_receipt|7"},
		{"with a blank before the colon is none", "id :7 stat:DELIVRD", "delivery_receipt||DELIVRD|DELIVERED"},
		{"misspelt", "idd:5 statt:DELIVRD er:1 id:7", "delivery_receipt|7"},
		{"cut", "id:7 sta", "delivery_receipt|7"},
		{"at the very end", "id:7 stat:", "delivery_receipt|7"},
		{"twice, the first is empty", "id: stat:DELIVRD id:7", "delivery_receipt||DELIVRD|DELIVERED"},
		{"twice, the second is other", "stat:EXPIRED id:7 stat:DELIVRD id:8", "delivery_receipt|7|EXPIRED|EXPIRED"},
		{"a value with a label's name", "id:stat stat:DELIVRD", "delivery_receipt|stat|DELIVRD|DELIVERED"},
		{"a value with colons", "id:a:b:c stat:DELIVRD", "delivery_receipt|a:b:c|DELIVRD|DELIVERED"},
		{"a value with a label inside", "id:a-stat:x stat:DELIVRD", "delivery_receipt|a-stat:x|DELIVRD|DELIVERED"},
		{"blank after every colon", "id: 7 sub: 001 dlvrd: 001 submit date: 2403151204 done date: 2403151206 stat: DELIVRD err: 000 text: hi", "delivery_receipt|7|DELIVRD|DELIVERED|000|hi"},
		{"several blanks after a colon", "id:\t  7", "delivery_receipt|7"},
		{"line feeds between", "id:7\nstat:DELIVRD\nerr:1\ntext:a\nb", "delivery_receipt|7|DELIVRD|DELIVERED|1|a\nb"},
		{"every blank there is", "id:7\x00err:1\vstat:DELIVRD\ftext:\xa0x\x85", "delivery_receipt|7|DELIVRD|DELIVERED|1|x"},
		{"no blank at the end of a value but a comma", "id:7,stat:DELIVRD", "delivery_receipt|7,stat:DELIVRD"},
	}
	rules := receipt.DefaultRules()
	for _, tt := range tests {
		for encoding, d := range map[string]receipt.Delivery{
			"octets":             deliver(4, tt.text),
			"UCS-2":              coded(8, deliver(4, string(ucs2(runes(tt.text))))),
			"UCS-2 undeclared":   deliver(4, string(ucs2(runes(tt.text)))),
			"octets under UCS-2": coded(8, deliver(4, tt.text)),
			"payload":            {CommandID: dataSM, ESMClass: 4, TLVs: []receipt.TLV{payload(tt.text)}},
		} {
			t.Run(tt.name+", "+encoding, func(t *testing.T) {
				require.Equal(t, tt.want, line(receipt.Decode(d, &rules)))
			})
		}
	}
}

// runes maps octets to characters one to one.
func runes(octets string) string {
	var b strings.Builder
	for i := range len(octets) {
		b.WriteRune(rune(octets[i]))
	}
	return b.String()
}

func TestDecode_dateLabels(t *testing.T) {
	tests := []struct{ name, text, submit, done string }{
		{"usual", "submit date:2403151204 done date:2403151206", "2403151204", "2403151206"},
		{"with underscores", "submit_date:2403151204 done_date:2403151206", "2403151204", "2403151206"},
		{"in other cases", "SUBMIT DATE:2403151204 Done Date:2403151206", "2403151204", "2403151206"},
		{"several blanks inside", "submit  date:2403151204 done\tdate:2403151206", "2403151204", "2403151206"},
		{"without a blank inside", "submitdate:2403151204 done date:2403151206", "", "2403151206"},
		{"with a hyphen inside", "submit-date:2403151204 done date:2403151206", "", "2403151206"},
		{"ending in one", "resubmit date:1 undone date:2 submit date:3 done date:4", "3", "4"},
		{"ISO with a blank", "submit date:2024-03-15 12:04:31 done date:2024-03-15 12:06", "2024-03-15 12:04:31", "2024-03-15 12:06"},
		{"ISO after a blank", "submit date: 2024-03-15 12:04:31 done date:", "2024-03-15 12:04:31", ""},
		{"ISO without a time", "submit date:2024-03-15 done date:2024-03-16 x", "2024-03-15", "2024-03-16"},
		{"ISO with two blanks", "submit date:2024-03-15  12:04:31", "2024-03-15", ""},
		{"ISO at the end", "done date:2024-03-15 12:04", "", "2024-03-15 12:04"},
		{"ISO with an odd time", "done date:2024-03-15 12:04:3", "", "2024-03-15"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := receipt.Decode(deliver(4, "id:7 "+tt.text+" stat:DELIVRD"), nil)
			require.Equal(t, []string{tt.submit, tt.done}, []string{r.SubmitDateRaw, r.DoneDateRaw})
			require.Equal(t, receipt.Delivered, r.State)
		})
	}
}

func TestDecode_ids(t *testing.T) {
	checkReadings(t, receipt.DefaultRules(), []reading{
		{"TLV before text", deliver(4, "id:7", tlvID("8\x00")), "delivery_receipt|8"},
		{"TLV of NULs and blanks", deliver(4, "id:7", tlvID(" \x00 \x00")), "delivery_receipt|7"},
		{"TLV with NULs around", deliver(4, "", tlvID("\x00 8\x00\x00")), "delivery_receipt|8"},
		{"TLV with a blank inside", deliver(4, "", tlvID("a b\x00")), "delivery_receipt|a b"},
		{"TLV with octets over 0x7F", deliver(4, "", tlvID("\xe9\x00")), "delivery_receipt|é"},
		{"the first of two TLVs", deliver(4, "", tlvID("8\x00"), tlvID("9\x00")), "delivery_receipt|8"},
		{"words for none are shown", deliver(4, "id:null stat:DELIVRD", tlvID("-")), "delivery_receipt|-|DELIVRD|DELIVERED"},
		{"zeros are shown", deliver(4, "id:0000000000 stat:DELIVRD"), "delivery_receipt|0000000000|DELIVRD|DELIVERED"},
		{"of 200 digits", deliver(4, "id:"+strings.Repeat("9", 200)), "delivery_receipt|" + strings.Repeat("9", 200)},
		{"with every sign", deliver(4, "id:!#$%&'()*+,-./;<=>?@[]^`{|}~ stat:x"), "delivery_receipt|!#$%&'()*+,-./;<=>?@[]^`{|}~|x"},
		{"in Cyrillic UCS-2", coded(8, deliver(4, string(ucs2("id:Ж7 stat:DELIVRD")))), "delivery_receipt|Ж7|DELIVRD|DELIVERED"},
	})
}

func TestDecode_keepsBothIDs(t *testing.T) {
	r := receipt.Decode(deliver(4, "id:7 stat:DELIVRD", tlvID("8")), nil)
	require.Equal(t, "8", r.TLVID)
	require.Equal(t, "7", r.TextID)
	r = receipt.Decode(deliver(4, "id: stat:DELIVRD", tlvID("")), nil)
	require.Empty(t, r.TLVID)
	require.Empty(t, r.TextID)
}

func TestDecode_states(t *testing.T) {
	checkReadings(t, receipt.DefaultRules(), []reading{
		{"TLV before text", deliver(4, "id:7 stat:EXPIRED", tlvState("\x02")), "delivery_receipt|7|EXPIRED|DELIVERED"},
		{"TLV 0 is SCHEDULED", deliver(0x20, "id:7", tlvState("\x00")), "intermediate|7||SCHEDULED"},
		{"TLV 8 is REJECTED", deliver(4, "", tlvState("\x08")), "delivery_receipt|||REJECTED"},
		{"TLV 10 is none", deliver(4, "id:7 stat:EXPIRED", tlvState("\x0a")), "delivery_receipt|7|EXPIRED|EXPIRED"},
		{"TLV of four octets is none", deliver(4, "id:7", tlvState("\x00\x00\x00\x02")), "delivery_receipt|7"},
		{"the first of two TLVs", deliver(4, "id:7", tlvState("\x02"), tlvState("\x05")), "delivery_receipt|7||DELIVERED"},
		{"a malformed first of two", deliver(4, "id:7", tlvState(""), tlvState("\x05")), "delivery_receipt|7"},
		{"a word of the SMSC's own", deliver(4, "id:7 stat:FAILED"), "delivery_receipt|7|FAILED"},
		{"a cut word", deliver(4, "id:7 stat:DELIVR"), "delivery_receipt|7|DELIVR"},
		{"a word with a sign behind", deliver(4, "id:7 stat:DELIVRD,"), "delivery_receipt|7|DELIVRD,"},
		{"a word that folds to one in Unicode", coded(8, deliver(4, string(ucs2("id:7 stat:S\u212AIPPED")))), "delivery_receipt|7|S\u212AIPPED"},
		{"a digit", deliver(4, "id:7 stat:0"), "delivery_receipt|7|0"},
	})
}

func TestDecode_ownWords(t *testing.T) {
	rules := receipt.DefaultRules()
	rules.States = map[string]receipt.MessageState{
		"FAILED": receipt.Undeliverable, "2": receipt.Delivered, "ACCEPTD": receipt.Enroute, "ДОСТАВЛЕНО": receipt.Delivered,
		strings.Repeat("X", 80): receipt.Expired,
	}
	rules.Errors = map[string]string{"027": "absent_subscriber"}
	tests := []struct {
		name, text string
		want       receipt.MessageState
		rule       string
	}{
		{"a word of its own, in any case", "id:7 stat:Failed", receipt.Undeliverable, "rules.states"},
		{"a number", "id:7 stat:2", receipt.Delivered, "rules.states"},
		{"one of SMPP's words, read otherwise", "id:7 stat:acceptd", receipt.Enroute, "rules.states"},
		{"one of SMPP's words", "id:7 stat:UNDELIV", receipt.Undeliverable, "stat"},
		{"a word in Cyrillic", "id:7 stat:доставлено", receipt.Delivered, "rules.states"},
		{"a long word", "id:7 stat:" + strings.Repeat("x", 80), receipt.Expired, "rules.states"},
		{"an unknown word", "id:7 stat:FAILURE", receipt.NoState, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := receipt.Decode(coded(8, deliver(4, string(ucs2(tt.text)))), &rules)
			require.Equal(t, tt.want, r.State)
			require.Equal(t, tt.want, r.TextState)
			require.Equal(t, tt.rule, r.StateRule)
		})
	}
	r := receipt.Decode(deliver(4, "id:7 stat:FAILED err:027", tlvState("\x02")), &rules)
	require.Equal(t, "absent_subscriber", r.ErrWord)
	require.Equal(t, receipt.Undeliverable, r.TextState)
	require.Equal(t, receipt.Delivered, r.TLVState)
	require.Equal(t, "message_state", r.StateRule)
}

func TestDecode_kinds(t *testing.T) {
	both := []receipt.TLV{tlvID("8\x00"), tlvState("\x02")}
	checkReadings(t, receipt.DefaultRules(), []reading{
		{"mode bits do not matter", deliver(0x07, "id:7"), "delivery_receipt|7"},
		{"reply path does not matter", deliver(0xA0, "id:7"), "intermediate|7"},
		{"a message with mode bits", deliver(0x03, "id:7"), "message|||||id:7"},
		{"a message with both TLVs and the reply path", deliver(0x80, "Hi", both...), "delivery_receipt|8||DELIVERED"},
		{"a message with an empty id and a state", deliver(0, "Hi", tlvID("\x00"), tlvState("\x02")), "message|||||Hi"},
		{"a message with an id and an empty state", deliver(0, "Hi", tlvID("8"), tlvState("")), "message|||||Hi"},
		{"a message with an id and an unreadable state", deliver(0, "Hi", tlvID("8"), tlvState("\x63")), "delivery_receipt|8"},
		{"0x0C with a receipt's text", deliver(0x0C, "id:7 stat:DELIVRD"), "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"0x0C with TLVs alone", deliver(0x0C, "", both...), "intermediate|8||DELIVERED"},
		{"0x0C with nothing", deliver(0x0C, "hello"), "undecodable"},
		{"0x24 with nothing", deliver(0x24, "hello"), "undecodable"},
		{"0x14 with an id", deliver(0x14, "id:7"), "intermediate|7"},
		{"0x1C with a state", deliver(0x1C, "", tlvState("\x02")), "intermediate|||DELIVERED"},
		{"0x28 with a stat", deliver(0x28, "stat:DELIVRD"), "intermediate||DELIVRD|DELIVERED"},
		{"0x3C with nothing", deliver(0x3C, "hello"), "undecodable"},
		{"an SME acknowledgement with both TLVs", deliver(0x08, "id:7 stat:DELIVRD", both...), "sme_ack|8||||id:7 stat:DELIVRD"},
		{"a user acknowledgement", deliver(0x10, "1", tlvID("8\x00")), "user_ack|8||||1"},
		{"a conversation abort", deliver(0x1B, "bye", tlvID("8\x00")), "conversation_abort|8||||bye"},
		{"an invalid message_state alone", deliver(4, "", tlvState("\x0a")), "undecodable"},
		{"an err and dates alone", deliver(4, "submit date:2403151204 done date:2403151206 err:001 text:x"), "undecodable"},
		{"a stat that nobody knows", deliver(4, "stat:FOO"), "delivery_receipt||FOO"},
		{"data_sm", receipt.Delivery{CommandID: dataSM, ESMClass: 0x20, TLVs: both}, "intermediate|8||DELIVERED"},
		{"data_sm has no short_message", receipt.Delivery{CommandID: dataSM, ESMClass: 4, ShortMessage: []byte("id:7")}, "undecodable"},
		{"another command", receipt.Delivery{CommandID: 0x80000005, ESMClass: 4, ShortMessage: []byte("id:7")}, "undecodable"},
		{"a broken PDU", receipt.Delivery{CommandID: deliverSM, ESMClass: 4, ShortMessage: []byte("id:7"), Broken: true}, "undecodable"},
	})
}

func TestDecode_undecodableIsEmpty(t *testing.T) {
	d := deliver(4, "sub:001 dlvrd:001 submit date:2403151204 err:001 text:x", tlv(receipt.TagNetworkErrorCode, "\x03\x00\x01"))
	d.Source.Addr, d.Notes = "447700900123", []string{"earlier"}
	require.Equal(t, receipt.Receipt{
		Source: d.Source, NetworkErrorCode: []byte{3, 0, 1}, Notes: []string{"earlier"},
	}, receipt.Decode(d, nil))
}

func TestDecode_messageKeepsTLVID(t *testing.T) {
	r := receipt.Decode(deliver(0, "Hi", tlvID("8\x00")), nil)
	require.Equal(t, "8", r.TLVID)
	require.Empty(t, r.ID)
}

func TestDecode_detect(t *testing.T) {
	text := deliver(0, "id:7 stat:delivrd text:x")
	tlvs := deliver(0, "Hi", tlvID("8"), tlvState("\x02"))
	tests := []struct {
		detect receipt.Detect
		d      receipt.Delivery
		want   string
	}{
		{receipt.DetectESMClass, text, "message|||||id:7 stat:delivrd text:x"},
		{receipt.DetectTLV, text, "message|||||id:7 stat:delivrd text:x"},
		{receipt.DetectText, text, "delivery_receipt|7|delivrd|DELIVERED||x"},
		{receipt.DetectESMClass, tlvs, "message|||||Hi"},
		{receipt.DetectTLV, tlvs, "delivery_receipt|8||DELIVERED"},
		{receipt.DetectText, tlvs, "delivery_receipt|8||DELIVERED"},
		{receipt.DetectText, deliver(0, "my id: 5 and stat: fine"), "message|||||my id: 5 and stat: fine"},
		{receipt.DetectText, deliver(0, "stat:DELIVRD"), "message|||||stat:DELIVRD"},
		{receipt.DetectText, deliver(0, "id:7"), "message|||||id:7"},
		{receipt.DetectText, deliver(0, "stat:DELIVRD", tlvID("8")), "delivery_receipt|8|DELIVRD|DELIVERED"},
		{receipt.DetectESMClass, deliver(4, "id:7"), "delivery_receipt|7"},
	}
	for _, tt := range tests {
		rules := receipt.DefaultRules()
		rules.Detect = tt.detect
		require.Equal(t, tt.want, line(receipt.Decode(tt.d, &rules)), tt.detect)
	}
}

func TestDecode_body(t *testing.T) {
	part := "\x05\x00\x03\x2a\x01\x01"
	wide := func(s string) string { return string(ucs2(s)) }
	checkReadings(t, receipt.DefaultRules(), []reading{
		{"payload beside an empty short_message", deliver(4, "", payload("id:7 stat:DELIVRD")), "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"payload beside one NUL", deliver(4, "\x00", payload("id:7")), "delivery_receipt|7"},
		{"payload beside a text is not read", deliver(4, "id:7", payload("id:8 stat:DELIVRD")), "delivery_receipt|7"},
		{"the first of two payloads", deliver(4, "", payload("id:7"), payload("id:8 stat:DELIVRD")), "delivery_receipt|7"},
		{"payload with a header", deliver(0x44, "", payload(part+"id:7")), "delivery_receipt|7"},
		{"a header of several elements", deliver(0x44, "\x0b\x00\x03\x2a\x01\x01\x05\x04\x0b\x84\x23\xf0id:7"), "delivery_receipt|7"},
		{"a header whose elements do not add up", deliver(0x44, "\x05\x00\x04\x2a\x01\x01 id:7"), "delivery_receipt|7"},
		{"a header of an odd length", deliver(0x44, "\x05\x00\x02\x2a\x01\x01 id:7"), "delivery_receipt|7"},
		{"a header longer than the body", deliver(0x44, "\x60 id:7 stat:DELIVRD"), "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"a header and nothing behind it", deliver(0x40, part), "message"},
		{"a header of length 0", deliver(0x40, "\x00Hi"), "message|||||Hi"},
		{"UCS-2 that looks like a header of length 0", coded(8, deliver(0x40, wide("Hi"))), "message|||||Hi"},
		{"UDHI and a UCS-2 label at once", coded(8, deliver(0x44, wide("id:7 stat:DELIVRD"))), "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"UDHI and an undeclared UCS-2 label at once", deliver(0x44, wide("id:7 stat:DELIVRD")), "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"UDHI and a label that could be a header", deliver(0x44, "id:"+strings.Repeat("0", 0x3a)+"7\x2a"+strings.Repeat("1", 0x2a)+" stat:DELIVRD"),
			"delivery_receipt|" + strings.Repeat("0", 0x3a) + "7*" + strings.Repeat("1", 0x2a) + "|DELIVRD|DELIVERED"},
		{"UDHI and an empty body", deliver(0x44, "", tlvID("8")), "delivery_receipt|8"},
		{"a byte order mark", coded(8, deliver(4, "\xfe\xff"+wide("id:7"))), "delivery_receipt|7"},
		{"a little-endian byte order mark", coded(8, deliver(4, "\xff\xfei\x00d\x00:\x007\x00")), "delivery_receipt|7"},
		{"an undeclared byte order mark", deliver(4, "\xfe\xff"+wide("id:7")), "delivery_receipt|7"},
		{"a byte order mark of a message", coded(8, deliver(0, "\xfe\xff"+wide("Hi"))), "message|||||Hi"},
		{"an odd last octet", coded(8, deliver(4, wide("id:7 stat:DELIVRD")+"\x00")), "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"an odd last octet of a message", coded(8, deliver(0, wide("Hi")+"x")), "message|||||Hi"},
		{"a surrogate pair", coded(8, deliver(4, wide("id:7 text:")+"\xd8\x3d\xde\x00")), "delivery_receipt|7||||😀"},
		{"half a surrogate pair", coded(8, deliver(4, wide("id:7 text:")+"\xd8\x3d")), "delivery_receipt|7||||\ufffd"},
		{"a header and undeclared UCS-2", deliver(0x44, part+wide("id:7 stat:DELIVRD")), "delivery_receipt|7|DELIVRD|DELIVERED"},
		{"UCS-2 labels in the text of octets", coded(8, deliver(4, "id:7 text:"+wide(" stat:DELIVRD"))), "delivery_receipt|7||||s\x00t\x00a\x00t\x00:\x00D\x00E\x00L\x00I\x00V\x00R\x00D"},
		{"octet labels in the text of UCS-2", coded(8, deliver(4, wide("id:7 text:x")+" stat:DELIVRD ")), "delivery_receipt|7||||x⁳瑡琺䑅䱉噒䐠"},
		{"any other data_coding", coded(0xF5, deliver(4, "id:7 text:\xe9")), "delivery_receipt|7||||é"},
		{"packed septets", deliver(4, "i\xb2N&\x8b\xc5@sz\x98\xae#"), "undecodable"},
		{"a message of octets over 0x7F", deliver(0, "Caf\xe9"), "message|||||Café"},
		{"a message keeps its blanks", deliver(0, " Hi \n"), "message||||| Hi \n"},
		{"a message in UCS-2 without labels", coded(8, deliver(0, wide("Привет: ok"))), "message|||||Привет: ok"},
		{"only NULs", deliver(4, "\x00\x00\x00"), "undecodable"},
	})
}

func TestDecode_notes(t *testing.T) {
	tests := []struct {
		name string
		d    receipt.Delivery
		want int
	}{
		{"the usual receipt", deliver(4, usual, tlvID("7"), tlvState("\x02")), 0},
		{"UCS-2 as declared", coded(8, deliver(4, string(ucs2(usual)))), 0},
		{"a message", deliver(0x40, "\x05\x00\x03\x2a\x01\x01Hi"), 0},
		{"reserved class", deliver(0x24, "id:7"), 1},
		{"blank after a colon", deliver(4, "id: 7"), 1},
		{"underscore", deliver(4, "id:7 submit_date:2403151204"), 1},
		{"text passed over", deliver(4, "text: id:7"), 1},
		{"unread message_state", deliver(4, "id:7", tlvState("xx")), 1},
		{"one NUL", deliver(4, "\x00", payload("id:7")), 1},
		{"no header", deliver(0x44, "id:7"), 1},
		{"undeclared UCS-2 of odd length", deliver(4, string(ucs2("id:7"))+"x"), 2},
		{"octets under UCS-2 of odd length", coded(8, deliver(4, "id:7 ")), 1},
		{"byte order mark", coded(8, deliver(4, "\xfe\xff"+string(ucs2("id:7")))), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Len(t, receipt.Decode(tt.d, nil).Notes, tt.want)
		})
	}
}

func TestDecode_otherTLVs(t *testing.T) {
	rules := receipt.DefaultRules()
	rules.ClientRefTLV = 0x1401
	d := deliver(4, "id:7", tlv(0x1401, "01JDXW5Q0C8Z4Y3K7M2N9P6R5T/2\x00"), tlv(receipt.TagUserMessageReference, "\x01\x02"),
		tlv(receipt.TagNetworkErrorCode, "\x03\x01\x2c"))
	r := receipt.Decode(d, &rules)
	require.Equal(t, "01JDXW5Q0C8Z4Y3K7M2N9P6R5T/2", r.ClientRef)
	require.Equal(t, uint16(0x0102), *r.UserMessageRef)
	require.Equal(t, []byte{3, 1, 0x2c}, r.NetworkErrorCode)
	require.Empty(t, r.Err)

	r = receipt.Decode(d, nil)
	require.Empty(t, r.ClientRef)

	r = receipt.Decode(deliver(4, "id:7", tlv(receipt.TagUserMessageReference, "\x02"), tlv(receipt.TagNetworkErrorCode, "")), &rules)
	require.Nil(t, r.UserMessageRef)
	require.NotNil(t, r.NetworkErrorCode)
	require.Empty(t, r.NetworkErrorCode)
	require.Nil(t, r.MessageStateRaw)
}

func TestDecode_keepsNothingOfTheBuffer(t *testing.T) {
	d := deliver(4, usual, tlvID("7\x00"), tlvState("\x02"), tlv(receipt.TagNetworkErrorCode, "\x03\x01\x2c"))
	d.Notes = make([]string, 1, 4)
	r, want := receipt.Decode(d, nil), receipt.Decode(d, nil)
	for _, b := range [][]byte{d.ShortMessage, d.TLVs[0].Value, d.TLVs[1].Value, d.TLVs[2].Value} {
		for i := range b {
			b[i] = '?'
		}
	}
	d.Notes[0] = "?"
	require.Equal(t, want, r)
}

func TestDecode_boundedCost(t *testing.T) {
	for _, unit := range []string{"id: ", "text: ", ":", " ", "submit date", "date:", "\x00:", "submit     date:"} {
		long := strings.Repeat(unit, 1<<16/len(unit))
		for _, coding := range []byte{0, 8} {
			d := coded(coding, deliver(0x44, "", payload(long), tlvID(long)))
			receipt.Decode(d, nil)
			receipt.TextSpans(d, nil)
		}
	}
	receipt.TextSpans(deliver(4, "", payload("id:7 text:submit"+strings.Repeat(" ", 1<<16))), nil)
}

// FuzzDecode holds Decode and what rests on it to never panicking and to a few truths.
func FuzzDecode(f *testing.F) {
	for _, cases := range corpus(f) {
		for _, c := range cases {
			d := c.delivery(f)
			var tlvs []byte
			for _, t := range d.TLVs {
				tlvs = binary.BigEndian.AppendUint16(tlvs, t.Tag)
				tlvs = append(tlvs, byte(min(len(t.Value), 255)))
				tlvs = append(tlvs, t.Value[:min(len(t.Value), 255)]...)
			}
			f.Add(d.CommandID == dataSM, d.ESMClass, d.DataCoding, d.ShortMessage, tlvs, []byte("x stat:DELIVRD"))
		}
	}
	f.Fuzz(func(t *testing.T, data bool, class, coding byte, short, tlvs, other []byte) {
		d := receipt.Delivery{CommandID: deliverSM, ESMClass: class, DataCoding: coding, ShortMessage: short}
		if data {
			d.CommandID = dataSM
		}
		for len(tlvs) >= 3 {
			n := min(int(tlvs[2]), len(tlvs)-3)
			d.TLVs = append(d.TLVs, receipt.TLV{Tag: binary.BigEndian.Uint16(tlvs), Value: tlvs[3 : 3+n]})
			tlvs = tlvs[3+n:]
		}
		checkTruths(t, d)
		checkSpans(t, d, other)
	})
}

func checkTruths(t require.TestingT, d receipt.Delivery) {
	rules := receipt.DefaultRules()
	r := receipt.Decode(d, &rules)
	require.Equal(t, r, receipt.Decode(d, &rules))
	if r.IsEvidence() {
		require.True(t, r.ID != "" || r.RawStat != "" || r.State != receipt.NoState)
	} else {
		require.Equal(t, receipt.NoState, r.State)
		require.Empty(t, r.TextID)
	}
	require.Equal(t, r.Fingerprint("a", d), r.Fingerprint("a", d))
	require.False(t, r.Fingerprint("a", d).IsZero())
}
