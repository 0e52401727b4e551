package receipt_test

import (
	"slices"

	"esmed/receipt"
)

// matches reports whether a receipt's id finds a response's under rules, for the TLV and the text alike.
func matches(rules receipt.IDRules, response, receipted string) bool {
	r := receipt.DefaultRules()
	r.TLVID, r.TextID = rules, rules
	keys := r.ResponseKeys(receipt.MessageID([]byte(response)))
	return slices.ContainsFunc(r.ReceiptKeys(receipt.MessageID([]byte(receipted)), true), func(f receipt.IDForm) bool {
		return slices.Contains(keys, f.Key)
	})
}
