package receipt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A canonical form read by the side whose notation it is in is itself: every rule on both sides, but
// for the side of a rule about notation that is written otherwise, and for cuts, which take off one
// piece each time.
func TestCanonical_idempotent(t *testing.T) {
	tests := []struct {
		rule  IDRule
		sides []side
	}{
		{IDRule{Name: RuleFoldCase}, []side{response, receipted}},
		{IDRule{Name: RuleStripZeros}, []side{response, receipted}},
		{IDRule{Name: RuleHexToDec}, []side{receipted}},
		{IDRule{Name: RuleDecToHex}, []side{response}},
		{IDRule{Name: RuleHexString}, []side{response}},
		{IDRule{Name: RuleTruncate, N: 4}, []side{response, receipted}},
		{IDRule{Name: RuleCutAfter, Sep: "@"}, []side{response, receipted}},
	}
	ids := rapid.OneOf(rapid.String(), rapid.StringMatching(`(0x)?[0-9a-fA-F-]{1,20}(@[0-9]{1,4})?`))
	for _, tt := range tests {
		t.Run(tt.rule.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				id, ok := trimID(ids.Draw(t, "id"))
				if !ok || isZeros(id) {
					return
				}
				for _, from := range tt.sides {
					once := IDRules{tt.rule}.canonical(id, from)
					if once.ok {
						require.Equal(t, once.id, IDRules{tt.rule}.canonical(once.id, from).id)
					}
				}
			})
		})
	}
}

func TestCanonical_longNumbers(t *testing.T) {
	zeros, longest := strings.Repeat("0", 1<<16), strings.Repeat("7", longestHex)
	tests := []struct {
		name string
		rule string
		from side
		id   string
		want bool // a canonical form; the rule reads all of them
	}{
		{"the longest hex of a response", RuleHexToDec, response, longest, true},
		{"the longest hex of a receipt", RuleDecToHex, receipted, "0x" + longest, true},
		{"zeros before it do not count", RuleHexToDec, response, zeros + longest, true},
		{"a longer hex of a response", RuleHexToDec, response, longest + "7", false},
		{"a longer hex of a receipt", RuleDecToHex, receipted, longest + "7", false},
		{"a decimal of any length needs no conversion", RuleHexToDec, receipted, longest + longest, true},
		{"nor does one of a response", RuleDecToHex, response, zeros + longest + longest, true},
		{"a string of any length", RuleHexString, receipted, strings.Repeat("37", 1<<16), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := IDRules{{Name: tt.rule}}.canonical(tt.id, tt.from)
			require.True(t, c.based)
			require.Equal(t, tt.want, c.ok)
		})
	}
}
