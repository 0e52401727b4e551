package receipt_test

import (
	"strings"
	"testing"

	"esmed/receipt"
)

const usual = "id:0413029177 sub:001 dlvrd:001 submit date:2403151204 done date:2403151206 stat:DELIVRD err:000 text:Parcel at desk four"

// benchDeliveries are the receipts that most of the traffic consists of, and the dear ones.
func benchDeliveries() map[string]receipt.Delivery {
	tlvs := []receipt.TLV{
		{Tag: receipt.TagReceiptedMessageID, Value: []byte("0413029177\x00")},
		{Tag: receipt.TagMessageState, Value: []byte{2}},
		{Tag: receipt.TagNetworkErrorCode, Value: []byte{3, 0, 0}},
	}
	from, to := receipt.Address{Addr: "447700900123", TON: 1, NPI: 1}, receipt.Address{Addr: "15550100"}
	d := receipt.Delivery{CommandID: deliverSM, ESMClass: 4, Source: from, Dest: to}
	with := func(text string, coding byte, tlvs []receipt.TLV) receipt.Delivery {
		d.ShortMessage, d.DataCoding, d.TLVs = []byte(text), coding, tlvs
		return d
	}
	return map[string]receipt.Delivery{
		"text":          with(usual, 0, nil),
		"text and TLVs": with(usual, 0, tlvs),
		"TLVs":          with("", 0, tlvs),
		"UCS-2":         with(string(ucs2(usual)), 8, nil),
		"ASCII as 8":    with(usual, 8, nil),
		"message":       {CommandID: deliverSM, ShortMessage: []byte("Please call me back"), Source: from, Dest: to},
		"64 KiB":        with(strings.Repeat("id: ", 1<<14), 0, nil),
	}
}

func BenchmarkDecode(b *testing.B) {
	rules := receipt.DefaultRules()
	for name, d := range benchDeliveries() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				receipt.Decode(d, &rules)
			}
		})
	}
}

func BenchmarkDecode_timezone(b *testing.B) {
	rules := receipt.DefaultRules()
	rules.Timezone = "Europe/Rome"
	rules.Prepare()
	d := benchDeliveries()["text"]
	b.ReportAllocs()
	for b.Loop() {
		receipt.Decode(d, &rules)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	rules := receipt.DefaultRules()
	d := benchDeliveries()["text and TLVs"]
	r := receipt.Decode(d, &rules)
	b.ReportAllocs()
	for b.Loop() {
		r.Fingerprint("alpha", d)
	}
}

func BenchmarkTextSpans(b *testing.B) {
	rules := receipt.DefaultRules()
	d := benchDeliveries()["text and TLVs"]
	b.ReportAllocs()
	for b.Loop() {
		receipt.TextSpans(d, &rules)
	}
}

func BenchmarkKeys(b *testing.B) {
	lists := map[string]receipt.IDRules{
		"as received": nil,
		"fold_case":   {{Name: receipt.RuleFoldCase}},
		"hex_to_dec":  {{Name: receipt.RuleHexToDec}},
	}
	for name, list := range lists {
		rules := receipt.DefaultRules()
		rules.TLVID, rules.TextID = list, list
		b.Run("response/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rules.ResponseKeys("c0f1a2b3d4e5f607")
			}
		})
		b.Run("receipt/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rules.ReceiptKeys("13903072417924118023", true)
			}
		})
	}
}

// ucs2 gives text, which must be in the basic plane, in UTF-16BE.
func ucs2(text string) []byte {
	var out []byte
	for _, c := range text {
		out = append(out, byte(c>>8), byte(c))
	}
	return out
}
