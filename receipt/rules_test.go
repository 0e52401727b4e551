package receipt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

func TestRules_JSON(t *testing.T) {
	rules := receipt.DefaultRules()
	rules.TLVID = list(foldCase, truncate(10))
	rules.TextID = list(cutBefore("#"), hexToDec)
	rules.Timezone = "Europe/Rome"
	rules.States = map[string]receipt.MessageState{"FAILED": receipt.Undeliverable}
	rules.Errors = map[string]string{"027": "absent_subscriber"}
	rules.ClientRefTLV = 0x1401
	rules.Prepare()
	text, err := json.Marshal(rules)
	require.NoError(t, err)
	require.JSONEq(t, `{"detect":"tlv","tlv_id":[{"name":"fold_case"},{"name":"truncate","n":10}],
		"text_id":[{"name":"cut_before","sep":"#"},{"name":"hex_to_dec"}],"timezone":"Europe/Rome","state":"agree",
		"address_check":"hold","states":{"FAILED":"UNDELIVERABLE"},"errors":{"027":"absent_subscriber"},"client_ref_tlv":5121}`, string(text))
	var back receipt.Rules
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, rules, back)
	require.Error(t, json.Unmarshal([]byte(`{"states":{"FAILED":"LOST"}}`), &back))
}

func TestRules_Validate(t *testing.T) {
	rules := receipt.DefaultRules()
	require.NoError(t, rules.Validate("smscs[0].rules"))

	rules = receipt.Rules{
		TLVID:        list(truncate(0), receipt.IDRule{Name: "rot13"}, cutAfter(""), receipt.IDRule{Name: receipt.RuleIgnore, N: 3}),
		TextID:       list(hexToDec, decToHex),
		Timezone:     "Atlantis/Centre",
		States:       map[string]receipt.MessageState{"failed": receipt.Undeliverable, "LOST": receipt.NoState},
		ClientRefTLV: receipt.TagMessagePayload,
	}
	require.Equal(t, []string{
		`smscs[0].rules.detect: must be one of esm_class, tlv, text (got "")`,
		`smscs[0].rules.state: must be one of agree, tlv, text (got "")`,
		`smscs[0].rules.address_check: must be one of hold, flag, off (got "")`,
		`smscs[0].rules.message_id.tlv[0].truncate: must be 1 or more (got 0)`,
		`smscs[0].rules.message_id.tlv[1]: there is no rule "rot13"`,
		`smscs[0].rules.message_id.tlv[2].cut_after: must not be empty`,
		`smscs[0].rules.message_id.tlv[3].ignore: takes no such value`,
		`smscs[0].rules.message_id.text[1]: dec_to_hex cannot follow hex_to_dec: an id is in one notation`,
		`smscs[0].rules.timezone: must be a name of the time zone database, as Europe/Rome (got "Atlantis/Centre")`,
		`smscs[0].rules.states.LOST: must be an SMPP state, as UNDELIVERABLE (got "")`,
		`smscs[0].rules.states: words must be in capitals (got "failed")`,
		`smscs[0].rules.client_ref_tlv: must be a vendor's tag (got 0x0424, which SMPP gives another meaning)`,
	}, strings.Split(rules.Validate("smscs[0].rules").Error(), "\n"))

	rules = receipt.DefaultRules()
	rules.TLVID, rules.TextID = list(truncate(-1)), list(truncate(-1))
	require.EqualError(t, rules.Validate(""), "message_id[0].truncate: must be 1 or more (got -1)")
}
