package receipt_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

func fingerprint(account string, d receipt.Delivery) receipt.Fingerprint {
	r := receipt.Decode(d, nil)
	return r.Fingerprint(account, d)
}

func TestFingerprint(t *testing.T) {
	base := func() receipt.Delivery {
		d := deliver(4, usual, tlvID("8\x00"), tlvState("\x02"), tlv(receipt.TagNetworkErrorCode, "\x03\x00\x01"))
		d.Source, d.Dest = receipt.Address{Addr: "447700900123"}, receipt.Address{Addr: "15550100"}
		return d
	}
	text := func(s string) func(*receipt.Delivery) {
		return func(d *receipt.Delivery) { d.ShortMessage = []byte(s) }
	}
	tests := []struct {
		name   string
		change func(*receipt.Delivery)
		same   bool
	}{
		{"sent again", func(*receipt.Delivery) {}, true},
		{"another quoted text", text(usual + "!"), true},
		{"another order of labels", text("stat:DELIVRD id:0413029177 sub:001 dlvrd:001 submit date:2403151204 done date:2403151206 err:000"), true},
		{"another vendor TLV", func(d *receipt.Delivery) { d.TLVs = append(d.TLVs, tlv(0x1401, "x")) }, true},
		{"another type of number", func(d *receipt.Delivery) { d.Source.TON = 1 }, true},
		{"without the NUL of its id", func(d *receipt.Delivery) { d.TLVs[0] = tlvID("8") }, true},
		{"intermediate", func(d *receipt.Delivery) { d.ESMClass = 0x20 }, false},
		{"another TLV id", func(d *receipt.Delivery) { d.TLVs[0] = tlvID("9") }, false},
		{"another message_state", func(d *receipt.Delivery) { d.TLVs[1] = tlvState("\x05") }, false},
		{"another network_error_code", func(d *receipt.Delivery) { d.TLVs[2].Value = []byte{3, 0, 2} }, false},
		{"another source", func(d *receipt.Delivery) { d.Source.Addr = "447700900124" }, false},
		{"addresses the other way round", func(d *receipt.Delivery) { d.Source, d.Dest = d.Dest, d.Source }, false},
		{"another text id", text("id:1413029177 sub:001 dlvrd:001 submit date:2403151204 done date:2403151206 stat:DELIVRD err:000"), false},
		{"another word for the state", text("id:0413029177 sub:001 dlvrd:001 submit date:2403151204 done date:2403151206 stat:DELIVERED err:000"), false},
		{"another err", text("id:0413029177 sub:001 dlvrd:001 submit date:2403151204 done date:2403151206 stat:DELIVRD err:001"), false},
		{"another done date", text("id:0413029177 sub:001 dlvrd:001 submit date:2403151204 done date:2403151207 stat:DELIVRD err:000"), false},
		{"sub and dlvrd pushed together", text("id:0413029177 sub:001001 submit date:2403151204 done date:2403151206 stat:DELIVRD err:000"), false},
	}
	want := fingerprint("alpha", base())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := base()
			tt.change(&d)
			require.Equal(t, tt.same, fingerprint("alpha", d) == want)
		})
	}
	require.NotEqual(t, want, fingerprint("beta", base()))
	require.Equal(t, "01", want.String()[:2], "the version comes first")
}

// Golden: a change of this value is a change of FingerprintVersion.
func TestFingerprint_isStable(t *testing.T) {
	require.Equal(t, "014282367879fb2d019e2f400de2002b", fingerprint("alpha", deliver(4, usual)).String())
}

func TestFingerprint_bodyWhereThereIsNoID(t *testing.T) {
	require.NotEqual(t, fingerprint("a", deliver(4, "stat:DELIVRD text:a")), fingerprint("a", deliver(4, "stat:DELIVRD text:b")))
	require.NotEqual(t, fingerprint("a", deliver(4, "foo")), fingerprint("a", deliver(4, "bar")))
	require.NotEqual(t, fingerprint("a", deliver(0x44, "\x05\x00\x03\x2a\x02\x01Hi")), fingerprint("a", deliver(0x44, "\x05\x00\x03\x2a\x02\x02Hi")), "the header counts")
	broken := receipt.Delivery{CommandID: deliverSM, Broken: true, Raw: []byte("a")}
	other := broken
	other.Raw = []byte("b")
	require.NotEqual(t, fingerprint("a", broken), fingerprint("a", other))
}

func TestFingerprintComponents(t *testing.T) {
	d := deliver(4, "stat:DELIVRD text:a", tlvState("\x02"))
	r := receipt.Decode(d, nil)
	components := r.FingerprintComponents("alpha", d)
	require.Contains(t, components, receipt.Component{Name: "account", Value: "alpha"})
	require.Contains(t, components, receipt.Component{Name: "message_state", Value: "\x02"})
	require.Equal(t, receipt.Component{Name: "body", Value: "stat:DELIVRD text:a"}, components[len(components)-1])
	names := make(map[string]bool)
	for _, c := range components {
		require.False(t, names[c.Name], c.Name)
		names[c.Name] = true
	}
	d = deliver(4, "id:7")
	r = receipt.Decode(d, nil)
	require.False(t, slices.ContainsFunc(r.FingerprintComponents("alpha", d), func(c receipt.Component) bool { return c.Name == "body" }))
}

func TestFingerprint_JSON(t *testing.T) {
	want := fingerprint("alpha", deliver(4, usual))
	text, err := json.Marshal(want)
	require.NoError(t, err)
	var got receipt.Fingerprint
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, want, got)
	require.NoError(t, json.Unmarshal([]byte(`""`), &got))
	require.True(t, got.IsZero())
	require.Empty(t, got.String())
	require.Error(t, json.Unmarshal([]byte(`"01"`), &got))
	require.Error(t, json.Unmarshal([]byte(`"zz0102030405060708090a0b0c0d0e0f"`), &got))
}
