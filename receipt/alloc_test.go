//go:build !race

package receipt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

// TestDecode_allocations: the strings of a receipt are one, as a rule.
func TestDecode_allocations(t *testing.T) {
	rules := receipt.DefaultRules()
	most := map[string]float64{"text": 1, "text and TLVs": 1, "TLVs": 1, "UCS-2": 10, "ASCII as 8": 2, "message": 1}
	for name, d := range benchDeliveries() {
		if limit, ok := most[name]; ok {
			require.LessOrEqual(t, testing.AllocsPerRun(100, func() { receipt.Decode(d, &rules) }), limit, name)
		}
	}
}

func TestFingerprint_allocations(t *testing.T) {
	d := benchDeliveries()["text and TLVs"]
	r := receipt.Decode(d, nil)
	require.Zero(t, testing.AllocsPerRun(100, func() { r.Fingerprint("alpha", d) }))
}

// TestKeys_allocations: a key is a string of its own; the list of them is in the caller's room.
func TestKeys_allocations(t *testing.T) {
	rules := receipt.DefaultRules()
	keys, forms := make([]receipt.Key, 0, 3), make([]receipt.IDForm, 0, 2)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { rules.AppendResponseKeys(keys, "c0f1a2b3") }), 1.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { rules.AppendReceiptKeys(forms, "c0f1a2b3", true) }), 1.0)
}
