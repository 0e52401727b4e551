package statemachine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestFold_idsThatNeverMatch: pairs of ids that a careless comparison takes for one. No rule makes them one
// either, in the TLV or in the text: the receipt is nobody's, and says so.
func TestFold_idsThatNeverMatch(t *testing.T) {
	rules := []string{
		"", "fold_case", "strip_zeros", "hex_to_dec", "dec_to_hex", "hex_string", "truncate:10", "cut_before:#", "cut_after:@",
		"fold_case,strip_zeros", "cut_before:#,hex_to_dec", "strip_zeros,dec_to_hex",
	}
	tests := []struct{ name, answered, reported string }{
		{"one more than 32 bits", "4294967297", "1"},
		{"one more than 64 bits", "18446744073709551617", "1"},
		{"one more than 64 bits, in hex", "1000000000000001F", "31"},
		{"one more than 64 bits, reported in hex", "31", "1000000000000001F"},
		{"one more than 128 bits", "340282366920938463463374607431768211457", "1"},
		{"64 bits with a sign", "9223372036854775808", "-9223372036854775808"},
		{"all bits as a negative", "FFFFFFFF", "-1"},
		{"the greatest of 64 bits for what is greater", "99999999999999999999", "18446744073709551615"},

		{"rounded to a double", "9007199254740993", "9007199254740992"},
		{"rounded to 17 digits", "12345678901234567890", "12345678901234568000"},
		{"an exponent is none", "1e5", "100000"},
		{"nor reported", "100000", "1e5"},
		{"nor with a sign", "100000", "1E+05"},
		{"a fraction", "31", "31.0"},
		{"thousands", "31000", "31,000"},

		{"its beginning", "5A3C99F1", "5A3C99F"},
		{"more than it", "5A3C99F1", "5A3C99F10"},
		{"its end", "5A3C99F1", "A3C99F1"},
		{"less than what is cut to", "b41d77c09e000001", "b41d77c09"},
		{"more than what is cut to", "b41d77c09e000001", "b41d77c09e0"},
		{"one digit of two", "77", "7"},
		{"a zero behind it", "77", "770"},

		{"nothing", "", ""},
		{"a blank", "", " "},
		{"nothing for an id", "77", ""},
		{"an id for nothing", "", "77"},
		{"null", "null", "null"},
		{"null in capitals", "NULL", "null"},
		{"none", "None", "None"},
		{"a hyphen", "-", "-"},
		{"null for zeros", "0", "null"},
		{"null written as hex digits", "null", "6e756c6c"},

		{"zeros of another length", "0", "0000000000"},
		{"zeros answered longer", "000", "0"},
		{"zeros with 0x", "0", "0x0"},
		{"zeros behind 0x", "0x0", "0x00"},
		{"zeros written as hex digits", "00", "3030"},
		{"zeros behind a prefix", "0", "39333#0"},

		{"0x before the same digits", "0x77", "77"},
		{"0x in two cases", "0x7A", "0X7A"},
		{"an h behind it", "77h", "77"},
		{"a plus", "77", "+77"},
		{"a minus", "77", "-77"},
		{"an underscore", "1_000", "1000"},
		{"digits of another script", "77", "\u0667\u0667"},
		{"wide digits", "77", "\uff17\uff17"},
		{"another letter that looks alike", "A7", "\u04107"},
		{"a UUID without its hyphens", "0c58f1d2-6c35-4f90-8a1b-d2e3f4a5b6c7", "0c58f1d26c354f908a1bd2e3f4a5b6c7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, rule := range rules {
				l := answeredAndReported(t, rule, tt.answered, tt.reported)
				held := 0
				for _, row := range l.mem.Inbox {
					held += len(row.Receptions)
				}
				require.Equal(t, 2, held, "under %q", rule)
				require.Equal(t, statemachine.Submitted, l.message("M1").State, "under %q", rule)
				require.Zero(t, l.message("M1").Counts.Receipts)
			}
		})
	}
	require.EqualValues(t, 2, answeredAndReported(t, "", "5A3C99F1", "5A3C99F1").message("M1").Counts.Receipts, "as a cross-check")
}

// answeredAndReported is the life of a message that is reported on by the TLV, then by the text.
func answeredAndReported(t *testing.T, rule, answered, reported string) *lab {
	return play(t, fmt.Sprintf(`rules alpha ids=%s
		accepted M1
		sent M1
		submit_resp M1 id=%q
		reception tlv=%q state=2
		reception text="id:%s stat:DELIVRD err:000"`, rule, answered, reported, reported))
}
