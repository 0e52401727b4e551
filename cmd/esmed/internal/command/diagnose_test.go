package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

// TestDiagnosis_rulesAndZone: rules may be there once only, so that two proposals have to be one line.
func TestDiagnosis_rulesAndZone(t *testing.T) {
	const both = "rules: {message_id: [hex_to_dec], timezone: Europe/Rome}"
	told := func(d control.Diagnosis) string {
		var b bytes.Buffer
		output{w: &b}.diagnosis(&d)
		return b.String()
	}
	d := control.Diagnosis{
		SMSC: "alpha", Receipts: 1,
		Proposals: []control.TriedRules{{Quality: "good", Config: control.ConfigLine{Value: "[hex_to_dec]"}}},
		Timezone:  control.DiagnosedZone{Receipts: 1, Offsets: []control.DiagnosedOffset{{Offset: "+01:00", Receipts: 1}}, Config: &control.ConfigLine{Value: "Europe/Rome"}},
	}
	require.Contains(t, told(d), both)
	d.Timezone.Agrees = true
	require.NotContains(t, told(d), both)
	d.Timezone.Agrees, d.Proposals = false, nil
	require.NotContains(t, told(d), both)
}
