package smpp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecode_deliverSM(t *testing.T) {
	pdu := corpus(t)["deliver_sm-receipt"]
	got, err := Decode(pdu)
	require.NoError(t, err)
	d := got.(*DeliverSM)
	require.Equal(t, Header{uint32(len(pdu)), CommandDeliverSM, StatusOK, 7}, d.Header)
	require.Equal(t, Address{1, 1, "393331234567"}, d.Source)
	require.Equal(t, Address{5, 0, "ACME"}, d.Dest)
	require.EqualValues(t, 4, d.ESMClass)
	require.True(t, strings.HasPrefix(string(d.ShortMessage), "id:5A3C99F1 "))
	require.Equal(t, d.ShortMessage, pdu[d.ShortMessageOffset:][:len(d.ShortMessage)])
	id, ok := d.TLVs.Find(TagReceiptedMessageID)
	require.True(t, ok)
	require.Equal(t, "5A3C99F1\x00", string(id.Value))
	require.Len(t, d.TLVs, 3)
	for _, v := range d.TLVs {
		require.Equal(t, v.Value, pdu[v.Offset:][:len(v.Value)])
	}
	require.Empty(t, d.Notes)
}

func TestDecode_intoTheSameStructLeavesNothingBehind(t *testing.T) {
	pdus := corpus(t)
	var reused DeliverSM
	require.NoError(t, reused.Decode(pdus["deliver_sm-tlv-twice"]))
	require.NotEmpty(t, reused.Notes)
	for _, name := range []string{"deliver_sm-sm_length", "deliver_sm-one-octet", "deliver_sm-message", "deliver_sm-receipt"} {
		var fresh DeliverSM
		wantErr := fresh.Decode(pdus[name])
		require.Equal(t, wantErr, reused.Decode(pdus[name]))
		require.Len(t, reused.TLVs, len(fresh.TLVs))
		fresh.TLVs, reused.TLVs = nil, reused.TLVs[:0]
		kept := reused
		kept.TLVs = nil
		require.Equal(t, fresh, kept, name)
	}
}

func TestDecode_repeatedTLVsAreNotedHoweverMany(t *testing.T) {
	d := deliverSM(1, "")
	for tag := range Tag(300) {
		d.TLVs = append(d.TLVs, TLV{Tag: 0x1400 + tag})
	}
	var got DeliverSM
	require.NoError(t, got.Decode(encode(t, d)))
	require.Empty(t, got.Notes)

	d.TLVs = append(d.TLVs, TLV{Tag: 0x1400, Value: []byte{1}}, TLV{Tag: 0x1500, Value: []byte{1}})
	require.NoError(t, got.Decode(encode(t, d)))
	require.Equal(t, []string{"TLV 0x1400 again: the first is used", "TLV 0x1500 again: the first is used"}, got.Notes)
	require.Len(t, got.TLVs, 302)

	d.TLVs = make(TLVs, 5000)
	require.NoError(t, got.Decode(encode(t, d)))
	require.Len(t, got.Notes, maxNotes)
}

func FuzzDecode(f *testing.F) {
	for _, pdu := range corpus(f) {
		f.Add(pdu)
	}
	f.Fuzz(func(t *testing.T, pdu []byte) {
		before := bytes.Clone(pdu)
		for _, row := range Fields(pdu) {
			if row.Octets != nil {
				require.Equal(t, pdu[row.Offset:][:len(row.Octets)], row.Octets)
			}
		}
		p, err := Decode(pdu)
		require.Equal(t, before, pdu)
		requireSameInPlace(t, pdu, p, err)
		if err != nil {
			return
		}
		once, err := Append(nil, p)
		if err != nil {
			return // longer than may be written
		}
		again, err := Decode(once)
		require.NoError(t, err)
		twice, err := Append(nil, again)
		require.NoError(t, err)
		require.Equal(t, once, twice)
	})
}
