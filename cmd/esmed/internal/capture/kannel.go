package capture

import (
	"regexp"
	"strconv"
	"strings"
)

// kannel reads what Kannel's bearerbox, and what is built on it, logs of a PDU at level debug:
//
//	... DEBUG: SMPP PDU 0x7f2a5c0 dump:
//	... DEBUG:   type_name: deliver_sm
//	... DEBUG:   command_id: 5 = 0x00000005
//	... DEBUG:   source_addr: "393331234567"
//	... DEBUG:   schedule_delivery_time: NULL
//	... DEBUG:   short_message:
//	... DEBUG:    Octet string at 0x7f2a6d0:
//	... DEBUG:      len:  77
//	... DEBUG:      size: 78
//	... DEBUG:      immutable: 0
//	... DEBUG:      data: 69 64 3a 35 41 33 43 39 39 46 31 20 73 75 62 3a   id:5A3C99F1 sub:
//	... DEBUG:    Octet string dump ends.
//	... DEBUG: SMPP PDU dump ends.
//
// Strings of 20 octets and more are dumped, shorter ones quoted.
type kannel struct{}

var (
	kannelNumber = regexp.MustCompile(`^(\d+) = 0x[0-9a-fA-F]+$`)
	kannelField  = regexp.MustCompile(`^\s*(\w+):\s*(.*?)\s*$`)
)

// take implements style.
func (kannel) take(b *block, line string) bool {
	if _, said, ok := strings.Cut(line, "DEBUG:"); ok {
		line = said
	}
	if strings.Contains(line, "PDU dump ends") {
		return true
	}
	m := kannelField.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	name, said := m[1], m[2]
	switch {
	case name == "type_name":
		b.values = append(b.values, value{name: commandName, kind: word, word: said})
	case name == "data" && len(b.values) > 0:
		v := &b.values[len(b.values)-1]
		_, data, _ := strings.Cut(line, "data:") // with its blanks: they part octets and characters
		v.kind, v.text = octets, append(v.text, dumped(strings.TrimLeft(data, " "))...)
	case name == "len", name == "size", name == "immutable": // of a dumped string
	case said == "NULL", said == "":
		b.values = append(b.values, value{name: name})
	case kannelNumber.MatchString(said):
		n, err := strconv.ParseUint(kannelNumber.FindStringSubmatch(said)[1], 10, 64)
		if err == nil {
			b.values = append(b.values, value{name: name, kind: number, num: n})
		}
	case len(said) > 1 && said[0] == '"' && said[len(said)-1] == '"':
		b.values = append(b.values, value{name: name, kind: octets, text: unescape(said[1 : len(said)-1])})
	}
	return false
}
