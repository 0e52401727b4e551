package control

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// The fields of a submission, in the order in which they are judged and hashed.
const (
	fieldSMSC = iota
	fieldTo
	fieldFrom
	fieldText
	fieldRef
	fieldSource
	fieldDest
	fieldValidity
	fieldSchedule
	fieldRegisteredDelivery
	fieldAlphabet
	fieldDataCoding
	fieldDataHex
	fieldUDHHex
	fieldServiceType
	fieldProtocolID
	fieldPriority
	fieldReplace
	fieldTLVs
	fieldInDoubt
	fieldCallbackURL
	fieldCount
)

var fieldNames = []string{
	"smsc", "to", "from", "text", "ref", "source", "dest", "validity", "schedule_delivery_time",
	"registered_delivery", "alphabet", "data_coding", "data_hex", "udh_hex", "service_type", "protocol_id",
	"priority_flag", "replace_if_present_flag", "tlvs", "in_doubt", "callback_url",
}

// value is a member as it came; nil raw = absent, which null is too. It is part of the object that was taken
// apart, or of memory of its own.
type value struct {
	raw  []byte
	text []byte // when it is a string: its characters
}

// fields reads members by their names and notes what is wrong with them under their path.
type fields struct {
	names    []string
	values   []value
	path     string // prefix of the names in problems: "tlvs[0]."
	problems *[]FieldProblem
}

// readFields takes an object apart.
func readFields(object []byte, path string, names []string, problems *[]FieldProblem) *fields {
	f := &fields{names: names, values: make([]value, len(names)), path: path, problems: problems}
	f.read(object)
	return f
}

// read takes an object, which is valid JSON, apart. None of the fields may be there yet.
func (f *fields) read(object []byte) {
	for name, raw := range members(object) {
		i := indexName(f.names, name)
		switch {
		case i < 0:
			unknown, _ := unquote(name)
			f.note(unknown, "is unknown; names are in lower case")
		case f.values[i].raw != nil:
			f.wrong(i, "is there twice")
		case string(raw) != "null":
			f.values[i] = f.value(i, raw)
		}
	}
}

// indexName finds a name, in its quotes as it came; -1 if it is none of names.
func indexName(names []string, quoted []byte) int {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		s, _ := unquote(quoted)
		return slices.Index(names, s)
	}
	for i, name := range names {
		if name == string(inner) {
			return i
		}
	}
	return -1
}

func (f *fields) value(i int, raw []byte) value {
	v := value{raw: raw}
	if raw[0] != '"' {
		return v
	}
	v.text = raw[1 : len(raw)-1]
	if bytes.IndexByte(v.text, '\\') >= 0 {
		s, ok := unescape(raw)
		if !ok {
			f.note(f.names[i], "has half of a surrogate pair")
		}
		v.text = []byte(s)
	}
	return v
}

// note says what is wrong with a field. What follows from that for the same field is not said too.
func (f *fields) note(name, format string, args ...any) {
	path := f.path + name
	if !slices.ContainsFunc(*f.problems, func(p FieldProblem) bool { return p.Path == path }) {
		*f.problems = append(*f.problems, FieldProblem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

func (f *fields) wrong(i int, format string, args ...any) { f.note(f.names[i], format, args...) }

func (f *fields) has(i int) bool { return f.values[i].raw != nil }

// text is "" when the field is absent or no string.
func (f *fields) text(i int) string { return string(f.characters(i)) }

// characters are those of a text, as long as the object that was taken apart stays as it is.
func (f *fields) characters(i int) []byte {
	v := &f.values[i]
	if v.raw != nil && v.raw[0] != '"' {
		f.wrong(i, "must be a string")
	}
	return v.text
}

// number reads a whole number from 0 to max; 0 when it is absent.
func (f *fields) number(i, max int) int {
	v := f.values[i]
	if v.raw == nil {
		return 0
	}
	n, err := strconv.ParseUint(string(v.raw), 10, 31)
	if err != nil || int(n) > max {
		f.wrong(i, "must be a whole number from 0 to %d", max)
		return 0
	}
	return int(n)
}

// octets reads hex; nil when it is absent.
func (f *fields) octets(i int) []byte {
	if !f.has(i) {
		return nil
	}
	b, err := hex.DecodeString(f.text(i))
	if err != nil {
		f.wrong(i, "must be hex, two digits an octet")
		return nil
	}
	return b
}

// oneOf reads one of some words; "" when it is absent.
func (f *fields) oneOf(i int, words []string) string {
	s := f.text(i)
	if s == "" || slices.Contains(words, s) {
		return s
	}
	f.wrong(i, "must be one of %v", words)
	return ""
}

// hash is that of the request whatever the order of its fields, their blanks and escapes.
func (f *fields) hash() [sha256.Size]byte {
	b := make([]byte, 0, 512)
	for i := range f.values {
		v := &f.values[i]
		if v.raw == nil {
			continue
		}
		canonical := v.raw
		switch v.raw[0] {
		case '"':
			canonical = v.text
		case '{', '[':
			canonical = canonicalJSON(v.raw)
		}
		b = append(b, byte(i), v.raw[0])
		b = binary.AppendUvarint(b, uint64(len(canonical)))
		b = append(b, canonical...)
	}
	return sha256.Sum256(b)
}

// canonicalJSON sorts names and takes blanks out.
func canonicalJSON(raw []byte) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	b, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return b
}
