package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidate_whoSharesAnAccountAgreesOnWhoseAReceiptIs(t *testing.T) {
	const why = ", with which it shares the account "
	tests := []struct {
		name, alpha, beta string
		want              []string // beginnings of the findings
	}{
		{"equal rules", `{rules: {message_id: [hex_to_dec]}, account: both}`, `{rules: {message_id: {tlv: [hex_to_dec], text: [hex_to_dec]}}, account: both}`, nil},
		{"none on either side, written or not", `{rules: {message_id: []}, account: both}`, `{account: both}`, nil},
		{"an account named like the other SMSC", `{}`, `{account: alpha, rules: {message_id: [fold_case]}}`, []string{
			`smscs[1].rules.message_id: must be that of smscs[0]` + why + `"alpha"`}},
		{"rules for the text alone", `{account: both}`, `{account: both, rules: {message_id: {text: [hex_to_dec]}}}`, []string{
			`smscs[1].rules.message_id: must be that of smscs[0]` + why + `"both"`}},
		{"rules in another order, or with another value", `{account: both, rules: {message_id: [{cut_after: "@"}]}}`, `{account: both, rules: {message_id: [{cut_after: "."}]}}`, []string{
			`smscs[1].rules.message_id: must be that of smscs[0]` + why + `"both"`}},
		{"what a receipt is, and our reference", `{account: both, client_ref_tlv: 0x1400}`, `{account: both, rules: {detect: text}}`, []string{
			`smscs[1].rules.detect: must be that of smscs[0]` + why + `"both"`,
			`smscs[1].client_ref_tlv: must be that of smscs[0]` + why + `"both"`}},
		{"what a receipt counts for is each one's own", `{account: both, rules: {accepted: final, timezone: UTC}}`, `{account: both, rules: {unknown: final}}`, nil},
		{"accounts of their own", `{rules: {message_id: [hex_to_dec]}}`, `{}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := findings(loadTwo(t, tt.alpha, tt.beta))
			require.Len(t, got, len(tt.want), "%q", got)
			for i, want := range tt.want {
				require.Contains(t, got[i], want)
			}
		})
	}
}

// loadTwo loads alpha and beta with more keys, each a YAML map in one line.
func loadTwo(t *testing.T, alpha, beta string) error {
	t.Helper()
	common := "addr: [127.0.0.1:2775], system_id: esme, password: s3cret"
	entry := func(name, more string) string {
		if more = more[1 : len(more)-1]; more != "" {
			more = ", " + more
		}
		return "  - {name: " + name + ", " + common + more + "}\n"
	}
	_, err := load(t, "smscs:\n"+entry("alpha", alpha)+entry("beta", beta))
	return err
}
