package receipt_test

import (
	"fmt"

	"esmed/receipt"
)

func Example() {
	rules := receipt.DefaultRules()
	rules.TextID = receipt.IDRules{{Name: receipt.RuleHexToDec}}

	indexed := rules.ResponseKeys(receipt.MessageID([]byte("2A51F9C3\x00")))

	r := receipt.Decode(receipt.Delivery{
		CommandID:    0x00000005,
		ESMClass:     0x04,
		ShortMessage: []byte("id:710015427 sub:001 dlvrd:001 submit date:2403151204 done date:2403151206 stat:DELIVRD err:000 text:Parcel"),
	}, &rules)
	fmt.Println(r.Kind, r.State, r.State.Final(&rules), r.DoneDate)

	for _, form := range rules.ReceiptKeys(r.TextID, false) {
		for _, key := range indexed {
			if key == form.Key {
				fmt.Println("found by", form.Rules)
			}
		}
	}
	// Output:
	// delivery_receipt DELIVERED true 2024-03-15T12:06:00
	// found by [hex_to_dec]
}
