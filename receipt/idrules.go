package receipt

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names of the id rules (CONTRACT: smscs[].rules.message_id).
const (
	RuleFoldCase   = "fold_case"   // ids of hex digits and hyphens only: letters in lower case
	RuleStripZeros = "strip_zeros" // decimal or hex digits only: without leading zeros
	RuleHexToDec   = "hex_to_dec"  // the response is hex, the receipt decimal
	RuleDecToHex   = "dec_to_hex"  // the response is decimal, the receipt hex
	RuleHexString  = "hex_string"  // the receipt gives the response's ASCII octets in hex
	RuleTruncate   = "truncate"    // the receipt gives the response's first N characters
	RuleCutBefore  = "cut_before"  // without all up to and with the first Sep
	RuleCutAfter   = "cut_after"   // without the first Sep and all after it
	RuleIgnore     = "ignore"      // the id is not used
)

// longestHex is the number of hex digits, leading zeros not counted, up to which a number is converted
// into decimal: under a millisecond, and growing faster than the number. SMPP's longest id has 64
// characters. A longer number has no form that could be compared.
const longestHex = 16 << 10

// side tells the two ids apart that are compared.
type side bool

// Sides.
const (
	response  side = false // the id of a submit_sm_resp
	receipted side = true  // the id of a receipt
)

// canonicalID is an id on its way into canonical form.
type canonicalID struct {
	id    string
	ok    bool // there is such a form
	based bool // one of the three rules about notation could read the id
}

// canonical applies the rules in order. Numbers become decimal without leading zeros, so that the side
// that is written in decimal anyway is its own canonical form.
func (rules IDRules) canonical(id string, from side) canonicalID {
	c := canonicalID{id: id, ok: true}
	for _, rule := range rules {
		if c.apply(rule, from); !c.ok {
			break
		}
		if isNoID(c.id) || isZeros(c.id) {
			c.ok = false
			break
		}
	}
	return c
}

func (rules IDRules) ignored() bool   { return rules.has(RuleIgnore) }
func (rules IDRules) truncated() bool { return rules.has(RuleTruncate) }

func (rules IDRules) has(name string) bool {
	return slices.ContainsFunc(rules, func(rule IDRule) bool { return rule.Name == name })
}

// apply takes one step. A rule that does not fit the id leaves it alone; an unknown rule leaves no
// form to compare.
func (c *canonicalID) apply(rule IDRule, from side) {
	switch rule.Name {
	case RuleFoldCase:
		if consistsOf(c.id, isHexOrHyphen) {
			c.id = strings.ToLower(c.id)
		}
	case RuleStripZeros:
		if consistsOf(c.id, isHexDigit) {
			c.id = strings.TrimLeft(c.id, "0")
		}
	case RuleHexToDec:
		c.number(from == response)
	case RuleDecToHex:
		c.number(from == receipted)
	case RuleHexString:
		c.hexString(from)
	case RuleTruncate:
		c.truncate(rule.N, from)
	case RuleCutBefore:
		if _, after, found := strings.Cut(c.id, rule.Sep); found {
			c.id = after
		}
	case RuleCutAfter:
		c.id, _, _ = strings.Cut(c.id, rule.Sep)
	default:
		c.ok = false
	}
}

// number reads the whole id as a number in hex or decimal, of any size. What is in the notation of the
// rule is read by it, even where it is too long to be converted.
func (c *canonicalID) number(inHex bool) {
	digits, accept := c.id, isDigit
	if inHex {
		digits, accept = withoutHexPrefix(c.id), isHexDigit
	}
	if !consistsOf(digits, accept) {
		return
	}
	c.based = true
	digits = strings.TrimLeft(digits, "0")
	if inHex && len(digits) > longestHex {
		c.ok = false
		return
	}
	if inHex && digits != "" {
		n, _ := new(big.Int).SetString(digits, 16)
		digits = n.String()
	}
	c.id = digits
}

// hexString reads a receipt's id of an even number of hex digits that give printable ASCII.
func (c *canonicalID) hexString(from side) {
	if from == response {
		return
	}
	text, err := hex.DecodeString(withoutHexPrefix(c.id))
	if err != nil || !consistsOf(string(text), isPrintable) {
		return
	}
	c.based = true
	c.id = strings.TrimSpace(string(text))
}

// truncate keeps the first n characters of the response and reads a receipt's id of exactly n.
func (c *canonicalID) truncate(n int, from side) {
	if from == receipted {
		c.ok = utf8.RuneCountInString(c.id) == n
		return
	}
	for i := range c.id {
		if n == 0 {
			c.id = c.id[:i]
			return
		}
		n--
	}
}

func withoutHexPrefix(id string) string {
	if len(id) > 2 && id[0] == '0' && id[1]|0x20 == 'x' {
		return id[2:]
	}
	return id
}

// consistsOf reports whether s is not empty and holds nothing else.
func consistsOf(s string, accept func(byte) bool) bool {
	for i := range len(s) {
		if !accept(s[i]) {
			return false
		}
	}
	return s != ""
}

func isHexDigit(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isHexOrHyphen(c byte) bool { return isHexDigit(c) || c == '-' }
func isPrintable(c byte) bool   { return ' ' <= c && c <= '~' }
