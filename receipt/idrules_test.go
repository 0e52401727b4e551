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

func TestCanonical_refusesLongNumbers(t *testing.T) {
	for _, name := range []string{RuleHexToDec, RuleDecToHex, RuleHexString} {
		rules := IDRules{{Name: name}}
		for _, from := range []side{response, receipted} {
			require.True(t, rules.canonical(strings.Repeat("7", longestBased), from).ok, name)
			require.Equal(t, canonicalID{id: strings.Repeat("7", longestBased+1)}, rules.canonical(strings.Repeat("7", longestBased+1), from), name)
		}
	}
}
