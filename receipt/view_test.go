package receipt_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

func TestView_JSON(t *testing.T) {
	tests := []struct {
		name string
		d    receipt.Delivery
		want string
	}{
		{"everything", deliver(4, "id: 7 sub:001 dlvrd:001 submit date:2403151204 done date:x stat:UNDELIV err:011 text:Hi",
			tlvID("8\x00"), tlvState("\x05"), tlv(receipt.TagNetworkErrorCode, "\x03\x01\x2c")),
			`{"kind":"delivery_receipt","id":"8","text_id":"7","tlv_id":"8","raw_stat":"UNDELIV","state":"UNDELIVERABLE","err":"011",
			"submit_date":"2024-03-15T12:04:00","done_date":"","sub":"001","dlvrd":"001","text":"Hi","err_word":"absent_subscriber","message_state":5,
			"network_error_code":"03012c","submit_date_raw":"2403151204","done_date_raw":"x",
			"notes":["blank between a label and its value passed over"]}`},
		{"nothing", deliver(4, "foo"),
			`{"kind":"undecodable","id":"","text_id":null,"tlv_id":null,"raw_stat":"","state":"","err":"","submit_date":"","done_date":"",
			"sub":"","dlvrd":"","text":"","message_state":null,"network_error_code":null,"submit_date_raw":"","done_date_raw":"","notes":[]}`},
	}
	rules := receipt.DefaultRules()
	rules.Errors = map[string]string{"011": "absent_subscriber"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := receipt.Decode(tt.d, &rules)
			got, err := json.Marshal(r.View())
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(got))
		})
	}
}
