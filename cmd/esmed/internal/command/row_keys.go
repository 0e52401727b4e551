package command

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// keyKind is the kind of value that a key of a submission has.
type keyKind int

const (
	textKey    keyKind = iota
	numberKey          // a whole number
	receiptKey         // a word or a whole number
	addressKey         // an object of addressKeys
	listKey            // a list, which a CSV cell has in JSON
	ignoredKey         // what a file of rejected rows says of them
)

// Columns and keys with a meaning of their own. What a file of rejected rows adds is read past, so that it can be
// sent when it was corrected.
const (
	refColumn   = "ref"
	errorColumn = "error" // why the row was rejected
	lineColumn  = "line"  // where it stood in the file that was sent
)

// submissionKeys are the keys of a row, as POST /v1/messages has them.
var submissionKeys = map[string]keyKind{
	"to": textKey, "from": textKey, "text": textKey, "smsc": textKey, refColumn: textKey, "source": addressKey, "dest": addressKey,
	"validity": textKey, "schedule_delivery_time": textKey, "registered_delivery": receiptKey, "alphabet": textKey,
	"data_coding": numberKey, "data_hex": textKey, "udh_hex": textKey, "service_type": textKey, "protocol_id": numberKey,
	"priority_flag": numberKey, "replace_if_present_flag": numberKey, "tlvs": listKey, "in_doubt": textKey, "callback_url": textKey,
}

var addressKeys = map[string]keyKind{"addr": textKey, "ton": numberKey, "npi": numberKey}

// columnKind is the kind of a CSV column: a key, or a key of an address as "dest.ton".
func columnKind(name string) (keyKind, bool) {
	if name == errorColumn || name == lineColumn {
		return ignoredKey, true
	}
	outer, inner, dotted := strings.Cut(name, ".")
	kind, ok := submissionKeys[outer]
	if !dotted {
		return kind, ok && kind != addressKey
	}
	innerKind, innerOK := addressKeys[inner]
	return innerKind, ok && kind == addressKey && innerOK
}

// columnNames are all columns that say something of a message, sorted.
func columnNames() []string {
	var names []string
	for name, kind := range submissionKeys {
		if kind != addressKey {
			names = append(names, name)
			continue
		}
		for inner := range addressKeys {
			names = append(names, name+"."+inner)
		}
	}
	slices.Sort(names)
	return names
}

// appendCell writes a CSV cell as JSON. What it says is the daemon's to judge.
func (k keyKind) appendCell(b []byte, cell string) ([]byte, error) {
	if !utf8.ValidString(cell) {
		return b, errNotUTF8
	}
	switch k {
	case numberKey, receiptKey:
		n, err := strconv.ParseInt(cell, 0, 32)
		switch {
		case err == nil:
			return strconv.AppendInt(b, n, 10), nil
		case k == numberKey:
			return b, errors.New("must be a whole number")
		}
	case listKey:
		var list []json.RawMessage
		if json.Unmarshal([]byte(cell), &list) != nil || list == nil {
			return b, errors.New("must be a list in JSON")
		}
		return append(b, oneLine(cell)...), nil
	}
	return appendText(b, cell), nil
}

// oneLine is JSON without line ends, which are blanks there.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, s)
}

// appendKey begins a member of an object that has just begun or has members.
func appendKey(b []byte, key string) []byte {
	b = append(appendComma(b), '"')
	b = append(b, key...)
	return append(b, '"', ':')
}

func appendComma(b []byte) []byte {
	if b[len(b)-1] == '{' {
		return b
	}
	return append(b, ',')
}

// appendText writes a text in UTF-8 as JSON (RFC 8259 §7).
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
