package receipt_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

var (
	foldCase   = receipt.IDRule{Name: receipt.RuleFoldCase}
	stripZeros = receipt.IDRule{Name: receipt.RuleStripZeros}
	hexToDec   = receipt.IDRule{Name: receipt.RuleHexToDec}
	decToHex   = receipt.IDRule{Name: receipt.RuleDecToHex}
	hexString  = receipt.IDRule{Name: receipt.RuleHexString}
	ignore     = receipt.IDRule{Name: receipt.RuleIgnore}
)

func truncate(n int) receipt.IDRule            { return receipt.IDRule{Name: receipt.RuleTruncate, N: n} }
func cutBefore(s string) receipt.IDRule        { return receipt.IDRule{Name: receipt.RuleCutBefore, Sep: s} }
func cutAfter(s string) receipt.IDRule         { return receipt.IDRule{Name: receipt.RuleCutAfter, Sep: s} }
func list(r ...receipt.IDRule) receipt.IDRules { return r }

func TestKeys_match(t *testing.T) {
	long := strings.Repeat("9", 300)
	tests := []struct {
		name                string
		rules               receipt.IDRules
		response, receipted string
		want                bool
	}{
		{"as received", nil, "7f", "7f", true},
		{"as received, in another case", nil, "7F", "7f", false},
		{"as received, blanks and NULs around", nil, "\x007f ", "\t7f\r\n\x00", true},
		{"as received, a blank inside", nil, "7 f", "7f", false},
		{"zeros of one length", nil, "000", "000", true},
		{"zeros of two lengths", nil, "0", "000", false},
		{"an empty id", nil, "", "", false},
		{"blanks", nil, "  ", "  ", false},
		{"null", nil, "NULL", "NULL", false},
		{"none", nil, "None", "None", false},
		{"a hyphen", nil, "-", "-", false},
		{"nullify is an id", nil, "nullify", "nullify", true},
		{"300 digits", nil, long, long, true},
		{"300 digits, the last differs", nil, long + "1", long + "2", false},

		{"fold_case of hex", list(foldCase), "AbCdEf09", "aBcDeF09", true},
		{"fold_case of a UUID", list(foldCase), "0C58F1D2-6C35-4F90-8A1B-D2E3F4A5B6C7", "0c58f1d2-6c35-4f90-8a1b-d2e3f4a5b6c7", true},
		{"fold_case of a word", list(foldCase), "Smsc7", "SMSC7", false},
		{"fold_case of a hex with 0x", list(foldCase), "0xAB", "0xab", false},
		{"fold_case does not take hyphens off", list(foldCase), "AB-CD", "abcd", false},
		{"fold_case keeps zeros", list(foldCase), "0AB", "ab", false},

		{"strip_zeros of decimals", list(stripZeros), "0007", "007", true},
		{"strip_zeros of hex", list(stripZeros), "00af", "af", true},
		{"strip_zeros of a word", list(stripZeros), "00x7", "x7", false},
		{"strip_zeros of a UUID", list(stripZeros), "0c58f1d2-6c35", "c58f1d2-6c35", false},
		{"strip_zeros of zeros", list(stripZeros), "00", "0", false},
		{"strip_zeros of the same zeros", list(stripZeros), "00", "00", true},
		{"strip_zeros keeps the case", list(stripZeros), "0AF", "af", false},
		{"strip_zeros does not touch zeros at the end", list(stripZeros), "70", "7", false},

		{"hex_to_dec", list(hexToDec), "1F", "31", true},
		{"hex_to_dec of hex 10 and decimal 16", list(hexToDec), "10", "16", true},
		{"hex_to_dec of hex 10 and decimal 10", list(hexToDec), "10", "10", false},
		{"hex_to_dec with 0X", list(hexToDec), "0X1f", "31", true},
		{"hex_to_dec, zeros before both", list(hexToDec), "001f", "00031", true},
		{"hex_to_dec of a receipt in hex all the same", list(hexToDec), "1f", "1f", true},
		{"hex_to_dec of zeros", list(hexToDec), "0", "0", true},
		{"hex_to_dec of zeros of two lengths", list(hexToDec), "00", "0", false},
		{"hex_to_dec of hex zeros with 0x", list(hexToDec), "0x0", "0", false},
		{"hex_to_dec with a sign", list(hexToDec), "1f", "+31", false},
		{"hex_to_dec with a minus", list(hexToDec), "-1f", "-31", false},
		{"hex_to_dec with an underscore", list(hexToDec), "1_f", "31", false},
		{"hex_to_dec with an h", list(hexToDec), "1fh", "31", false},
		{"hex_to_dec of a float", list(hexToDec), "1f", "31.0", false},
		{"hex_to_dec of 32 bits more", list(hexToDec), "10000001f", "31", false},
		{"hex_to_dec of a word that is the same", list(hexToDec), "smsc-7", "smsc-7", true},
		{"hex_to_dec of digits of another script", list(hexToDec), "\u0661f", "31", false},
		{"hex_to_dec, 64 digits", list(hexToDec), "1" + strings.Repeat("0", 63),
			"7237005577332262213973186563042994240829374041602535252466099000494570602496", true},

		{"dec_to_hex", list(decToHex), "31", "1F", true},
		{"dec_to_hex with 0x in the receipt", list(decToHex), "31", "0x1f", true},
		{"dec_to_hex of 10 and 10", list(decToHex), "10", "10", false},
		{"dec_to_hex of 16 and 10", list(decToHex), "16", "10", true},
		{"dec_to_hex, a response in hex", list(decToHex), "1f", "1f", false},

		{"hex_string", list(hexString), "ABC", "414243", true},
		{"hex_string of an odd number", list(hexString), "41424", "41424", true},
		{"hex_string of what is not printable", list(hexString), "0142", "0142", true},
		{"hex_string of what can be read is not compared as received", list(hexString), "414243", "414243", false},
		{"hex_string of the word null", list(hexString), "null", "6e756c6c", false},
		{"hex_string of zeros", list(hexString), "00", "3030", false},

		{"truncate", list(truncate(4)), "abcdef", "abcd", true},
		{"truncate, a receipt with more", list(truncate(4)), "abcdef", "abcde", false},
		{"truncate, a receipt with less", list(truncate(4)), "abcdef", "abc", false},
		{"truncate, the whole id all the same", list(truncate(4)), "abcdef", "abcdef", true},
		{"truncate, a response that is shorter", list(truncate(4)), "abc", "abc", true},
		{"truncate counts characters", list(truncate(2)), "\xe9\xe0\xfc", "\xe9\xe0", true},

		{"cut_before", list(cutBefore("#")), "7", "447700900123#7", true},
		{"cut_before on the other side", list(cutBefore("#")), "447700900123#7", "7", true},
		{"cut_before at the first", list(cutBefore("#")), "b#c", "a#b#c", false},
		{"cut_before leaves nothing", list(cutBefore("#")), "a#", "b#", false},
		{"cut_before leaves zeros", list(cutBefore("#")), "a#00", "b#00", false},
		{"cut_before with several characters", list(cutBefore("::")), "a:b", "x::a:b", true},
		{"cut_after", list(cutAfter("@")), "7@a", "7", true},
		{"cut_after at the first", list(cutAfter("@")), "7@a@b", "7@c", true},
		{"cut_after leaves nothing", list(cutAfter("@")), "@a", "@b", false},
		{"cut_after of parts", list(cutAfter("-")), "6620417", "6620417-1", true},
		{"ignore", list(ignore), "7", "7", false},
		{"an unknown rule compares as received only", list(receipt.IDRule{Name: "rot13"}), "7", "7", true},

		{"cut, then base", list(cutBefore("#"), hexToDec), "1f", "4477#31", true},
		{"cut, then base, the ids as received are not compared", list(cutBefore("#"), hexToDec), "4477#10", "4477#10", false},
		{"fold, then strip", list(foldCase, stripZeros), "00AF", "af", true},
		{"truncate, then strip, of a receipt that is not cut", list(truncate(4), stripZeros), "000123", "1", false},
		{"string, then base", list(hexString, hexToDec), "1f", "3331", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, matches(tt.rules, tt.response, tt.receipted))
		})
	}
}

func TestReceiptKeys_order(t *testing.T) {
	rules := receipt.DefaultRules()
	rules.TLVID, rules.TextID = list(foldCase, hexToDec), list(ignore)
	tests := []struct {
		name, id string
		want     [][]string
	}{
		{"as received first", "smsc-7", [][]string{{}, {"fold_case", "hex_to_dec"}}},
		{"canonical only where the base is read", "31", [][]string{{"fold_case", "hex_to_dec"}}},
		{"zeros as received only", "000", [][]string{{}}},
		{"no id", "none", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got [][]string
			for _, form := range rules.ReceiptKeys(tt.id, true) {
				require.Equal(t, len(form.Rules) == 0, form.Key.Received())
				got = append(got, append([]string{}, form.Rules...))
			}
			require.Equal(t, tt.want, got)
			require.Empty(t, rules.ReceiptKeys(tt.id, false), "ignored")
		})
	}
}

func TestResponseKeys(t *testing.T) {
	tests := []struct {
		name      string
		tlv, text receipt.IDRules
		id        string
		want      int
	}{
		{"no rules", nil, nil, "7f", 1},
		{"the same rules", list(foldCase), list(foldCase), "7f", 2},
		{"other rules", list(foldCase), list(hexToDec), "7f", 3},
		{"rules for the TLV alone", list(foldCase), nil, "7f", 2},
		{"one ignored", list(foldCase), list(ignore), "7f", 2},
		{"both ignored", list(ignore), list(ignore), "7f", 1},
		{"zeros", list(foldCase), list(stripZeros), "00", 1},
		{"no id", list(foldCase), nil, " null ", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := receipt.DefaultRules()
			rules.TLVID, rules.TextID = tt.tlv, tt.text
			require.Len(t, rules.ResponseKeys(tt.id), tt.want)
		})
	}
}

func TestKey_Partial(t *testing.T) {
	tests := []struct {
		name  string
		rules receipt.IDRules
		want  bool
	}{
		{"truncate", list(truncate(4)), true},
		{"truncate behind another rule", list(foldCase, truncate(4)), true},
		{"truncate before another rule", list(truncate(4), stripZeros), true},
		{"truncate of an id too long for a key", list(truncate(300)), true},
		{"rules that leave the whole id", list(foldCase, stripZeros), false},
		{"a cut", list(cutAfter("@")), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := receipt.DefaultRules()
			rules.TextID = tt.rules
			keys := rules.ResponseKeys(strings.Repeat("7f", 200))
			require.Len(t, keys, 2)
			require.False(t, keys[0].Partial(), "as received")
			require.Equal(t, tt.want, keys[1].Partial())
		})
	}
}

// Two SMSCs may share an account and read ids differently.
func TestKeys_ofOtherRulesNeverEqual(t *testing.T) {
	lists := []receipt.IDRules{
		list(foldCase), list(stripZeros), list(hexToDec), list(decToHex), list(hexString), list(truncate(2)), list(truncate(258)),
		list(cutBefore("#")), list(cutAfter("#")), list(cutBefore("##")), list(foldCase, stripZeros), list(stripZeros, foldCase),
	}
	seen := make(map[receipt.Key]int)
	for i, l := range lists {
		rules := receipt.DefaultRules()
		rules.TLVID = l
		for _, key := range rules.ResponseKeys("31") {
			if key.Received() {
				continue
			}
			require.NotContains(t, seen, key, "lists %d and %d", i, seen[key])
			seen[key] = i
		}
	}
	require.Len(t, seen, len(lists))
}

// A number that is too long to be converted matches nothing, itself least of all: hex and decimal of the
// same digits are two ids.
func TestKeys_boundedSizeAndCost(t *testing.T) {
	long := strings.Repeat("9", 1<<16)
	tests := []struct {
		name                string
		rules               receipt.IDRules
		response, receipted string
		want                bool
	}{
		{"hex and decimal of 1025 digits", list(hexToDec), long[:1025], long[:1025], false},
		{"hex and decimal of 64 Ki digits", list(hexToDec), long, long, false},
		{"decimal and hex of 64 Ki digits", list(decToHex), long, long, false},
		{"64 Ki zeros before hex 10", list(hexToDec), strings.Repeat("0", 1<<16) + "10", "16", true},
		{"64 Ki zeros before decimal 16", list(hexToDec), "10", strings.Repeat("0", 1<<16) + "16", true},
		{"hex letters, so no decimal", list(hexToDec), strings.Repeat("a", 1<<16), strings.Repeat("a", 1<<16), true},
		{"a string of 64 Ki characters", list(hexString), strings.Repeat("Z", 1<<16), strings.Repeat("5a", 1<<16), true},
		{"without zeros", list(foldCase, stripZeros), long, "00" + long, true},
		{"cut", list(cutAfter("@")), long + "@a", long, true},
		{"truncated", list(truncate(1 << 15)), long, long[:1<<15], true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, matches(tt.rules, tt.response, tt.receipted))
			rules := receipt.DefaultRules()
			rules.TLVID = tt.rules
			for _, key := range rules.ResponseKeys(tt.response) {
				require.LessOrEqual(t, len(key), 200)
			}
			for _, form := range rules.ReceiptKeys(tt.receipted, true) {
				require.LessOrEqual(t, len(form.Key), 200)
			}
		})
	}
}

func TestKeys_numbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		octets := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "number")
		n := new(big.Int).SetBytes(octets)
		if n.Sign() == 0 {
			return
		}
		zeros := strings.Repeat("0", rapid.IntRange(0, 3).Draw(t, "zeros"))
		inHex := rapid.SampledFrom([]string{"%s%x", "%s%X", "0x%s%x"}).Draw(t, "hex")
		inHex, inDec := fmt.Sprintf(inHex, zeros, n), zeros+n.String()
		require.True(t, matches(list(hexToDec), inHex, inDec))
		require.True(t, matches(list(decToHex), inDec, inHex))
		other := n.Add(n, big.NewInt(1)).String()
		require.False(t, matches(list(hexToDec), inHex, other))
		require.False(t, matches(list(decToHex), other, inHex))
	})
}

func TestKeys_truths(t *testing.T) {
	ids := rapid.OneOf(rapid.String(), rapid.StringMatching(`(0x)?[0-9a-fA-F-]{1,20}([#@][0-9]{1,4})?`))
	rapid.Check(t, func(t *rapid.T) { checkKeys(t, ids.Draw(t, "a"), ids.Draw(t, "b")) })
}

// checkKeys holds the keys of a response's id a and a receipt's id b to a few truths.
func checkKeys(t require.TestingT, a, b string) {
	same := trimmed(a) == trimmed(b)
	require.Equal(t, same && !isNone(a), matchesText(nil, a, b))
	for _, rule := range []receipt.IDRule{
		foldCase, stripZeros, hexToDec, decToHex, hexString, truncate(3), cutBefore("#"), cutAfter("@"), ignore,
	} {
		got := matchesText(list(rule), a, b)
		require.Equal(t, got, matchesText(list(rule), "\x00 "+a+"\t", b+"\n"), rule.Name)
		switch rule.Name {
		case receipt.RuleHexToDec:
			require.Equal(t, sameNumber(a, b, hexDigits, decDigits, same), got)
		case receipt.RuleDecToHex:
			require.Equal(t, sameNumber(a, b, decDigits, hexDigits, same), got)
		case receipt.RuleIgnore:
			require.False(t, got)
		case receipt.RuleHexString:
		default:
			require.False(t, same && !isNone(a) && !got, "%s loses an id that is the same", rule.Name)
		}
		require.False(t, got && (isNone(a) || isNone(b)), rule.Name)
	}
}

const decDigits, hexDigits = "0123456789", "0123456789abcdefABCDEF"

// sameNumber says, in another way than the package, whether a in one notation and b in another are one
// number, or b is in no such notation and the same id.
func sameNumber(a, b, digitsA, digitsB string, same bool) bool {
	read := func(id, digits string) (*big.Int, bool) {
		id = trimmed(id)
		if digits == hexDigits && len(id) > 2 && strings.EqualFold(id[:2], "0x") {
			id = id[2:]
		}
		if id == "" || strings.Trim(id, digits) != "" {
			return nil, false
		}
		base := 10
		if digits == hexDigits {
			base = 16
		}
		return new(big.Int).SetString(id, base)
	}
	nb, ok := read(b, digitsB)
	if !ok || nb.Sign() == 0 {
		return same && !isNone(b)
	}
	na, ok := read(a, digitsA)
	return ok && na.Cmp(nb) == 0
}

func matchesText(rules receipt.IDRules, response, receipted string) bool {
	r := receipt.DefaultRules()
	r.TextID = rules
	keys := r.ResponseKeys(response)
	return slices.ContainsFunc(r.ReceiptKeys(receipted, false), func(f receipt.IDForm) bool {
		return slices.Contains(keys, f.Key)
	})
}

func trimmed(id string) string {
	return strings.TrimFunc(id, func(c rune) bool { return strings.ContainsRune(" \t\r\n\v\f\x00\u0085\u00a0", c) })
}

func isNone(id string) bool {
	return slices.Contains([]string{"", "-", "null", "none"}, strings.ToLower(trimmed(id)))
}

// FuzzKeys looks for panics, unbounded work and matches that no rule explains.
func FuzzKeys(f *testing.F) {
	for _, id := range []string{"0x5A3C99F1", "447700900123#6620417", "373137613362", "0c58f1d2-6c35-4f90-8a1b-d2e3f4a5b6c7", "null", "000", "-"} {
		f.Add(id, "1513921009")
	}
	f.Fuzz(func(t *testing.T, a, b string) { checkKeys(t, a, b) })
}
