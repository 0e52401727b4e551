package receipt

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// IDRule is one step of turning an id into canonical form (DESIGN: Correlate). It is a pair of
// functions, one for the id of a submit_sm_resp and one for a receipt's.
type IDRule struct {
	Name string `json:"name"`          // fold_case strip_zeros hex_to_dec dec_to_hex hex_string truncate cut_before cut_after ignore
	N    int    `json:"n,omitempty"`   // truncate: number of characters
	Sep  string `json:"sep,omitempty"` // cut_before, cut_after
}

// IDRules are applied in order. Empty: ids are compared as received.
type IDRules []IDRule

// Names are the rules' names in order, as a decision shows them. Never nil.
func (rules IDRules) Names() []string {
	names := make([]string, len(rules))
	for i := range rules {
		names[i] = rules[i].Name
	}
	return names
}

// Key is an id in a form that may be compared: equal keys name the same id, unless they are Partial. It
// is opaque, at most 200 octets long whatever the id, and fit to be stored. The first octet tells the form; a canonical one
// also holds which list of rules it is canonical under, so that ids brought into form by different
// rules (of two SMSCs that share an account, or before and after a change) never compare equal.
type Key string

// First octets of a Key. The hashed forms are for ids that are too long for a key.
const (
	keyReceived        = 'r'
	keyReceivedHashed  = 'R'
	keyCanonical       = 'c'
	keyCanonicalHashed = 'C'
	keyPartial         = 't'
	keyPartialHashed   = 'T'

	longestKeyID = 192 // octets of an id that is kept whole in its key
)

// Received reports whether k is an id as received.
func (k Key) Received() bool {
	return k != "" && (k[0] == keyReceived || k[0] == keyReceivedHashed)
}

// Partial reports whether k holds no more than the beginning of an id (truncate). Ids that differ may
// have it in common: it finds them, and says nothing about their being one.
func (k Key) Partial() bool {
	return k != "" && (k[0] == keyPartial || k[0] == keyPartialHashed)
}

// IDForm is a receipt's id in one form to look it up by.
type IDForm struct {
	Key   Key
	Rules []string // names of the rules that made it; empty: as received
}

// ResponseKeys gives all the forms under which the id of a submit_sm_resp (as MessageID reads it) is
// to be indexed: as received, and in canonical form under the rules for receipted_message_id and for
// the text's id, where they differ. Nil for what is no id: an empty one, null, none and -, in any
// case. Zeros have only the form as received.
func (r *Rules) ResponseKeys(id string) []Key { return r.AppendResponseKeys(nil, id) }

// AppendResponseKeys appends the forms that ResponseKeys gives to keys, which must be empty.
func (r *Rules) AppendResponseKeys(keys []Key, id string) []Key {
	id, ok := trimID(id)
	if !ok {
		return keys
	}
	keys = append(keys, receivedKey(id))
	if isZeros(id) {
		return keys
	}
	for i, rules := range [...]IDRules{r.TLVID, r.TextID} {
		if len(rules) == 0 || i > 0 && slices.Equal(rules, r.TLVID) {
			continue
		}
		c := rules.canonical(id, response)
		if !c.ok {
			continue
		}
		if key := canonicalKey(rules, c.id); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// ReceiptKeys gives the forms under which a receipt's id (of the TLV, or of the text) is to be looked
// up, the preferred first; nil for what is no id, and under ignore.
//
// As received comes first and the canonical form second, except where hex_to_dec, dec_to_hex or
// hex_string can read the id: then only the canonical form counts, since hex 10 and decimal 10 are
// two messages; a hex number of over 16 Ki digits, zeros before it not counted, has none. Zeros are looked up only as received, with whatever rules: for some SMSCs 0 is an id,
// for others a placeholder.
func (r *Rules) ReceiptKeys(id string, tlv bool) []IDForm { return r.AppendReceiptKeys(nil, id, tlv) }

// AppendReceiptKeys appends the forms that ReceiptKeys gives.
func (r *Rules) AppendReceiptKeys(forms []IDForm, id string, tlv bool) []IDForm {
	rules := r.TextID
	if tlv {
		rules = r.TLVID
	}
	id, ok := trimID(id)
	if !ok || rules.ignored() {
		return forms
	}
	if len(rules) == 0 || isZeros(id) {
		return append(forms, IDForm{Key: receivedKey(id)})
	}
	forms = slices.Grow(forms, 2)
	c := rules.canonical(id, receipted)
	if !c.based {
		forms = append(forms, IDForm{Key: receivedKey(id)})
	}
	if c.ok {
		forms = append(forms, IDForm{Key: canonicalKey(rules, c.id), Rules: rules.Names()})
	}
	return forms
}

func receivedKey(id string) Key {
	if len(id) > longestKeyID {
		return hashedKey(keyReceivedHashed, "", id)
	}
	return Key(string(keyReceived) + id)
}

func canonicalKey(rules IDRules, id string) Key {
	sum := rules.digest()
	form, hashed := keyCanonical, keyCanonicalHashed
	if rules.truncated() {
		form, hashed = keyPartial, keyPartialHashed
	}
	if len(id) > longestKeyID {
		return hashedKey(hashed, string(sum[:]), id)
	}
	return Key(string(form) + string(sum[:]) + id)
}

func hashedKey(form rune, digest, id string) Key {
	sum := sha256.Sum256([]byte(id))
	return Key(string(form) + digest + string(sum[:]))
}

// digest tells lists of rules apart: FNV-1a of all they say.
func (rules IDRules) digest() [4]byte {
	const offset, prime = 2166136261, 16777619
	sum := uint32(offset)
	add := func(s string) {
		for i := range len(s) {
			sum = (sum ^ uint32(s[i])) * prime
		}
		sum *= prime // the octet 0 ends each
	}
	for _, rule := range rules {
		add(rule.Name)
		add(rule.Sep)
		for n := uint(rule.N); n > 0; n >>= 8 {
			sum = (sum ^ uint32(n&0xFF)) * prime
		}
		add("")
	}
	return [4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}
}

// trimID takes blanks and NULs off and reports whether an id is left.
func trimID(id string) (string, bool) {
	id = strings.TrimFunc(id, func(c rune) bool { return c <= 0xFF && isBlank(byte(c)) })
	return id, !isNoID(id)
}

// isNoID reports whether id is empty or a word that SMSCs print in place of an id.
func isNoID(id string) bool {
	return id == "" || id == "-" || len(id) == 4 && (strings.EqualFold(id, "null") || strings.EqualFold(id, "none"))
}

// isZeros reports whether id is all zeros, be it written as hex with 0x.
func isZeros(id string) bool {
	digits := withoutHexPrefix(id)
	return digits != "" && strings.Trim(digits, "0") == ""
}
