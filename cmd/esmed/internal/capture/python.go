package capture

import (
	"regexp"
	"strconv"
	"strings"
)

// python reads how smpp.pdu, and so Jasmin, prints a PDU, in the manners of its versions and of Python's:
//
//	PDU [command: deliver_sm, sequence_number: 4711, command_status: ESME_ROK
//	service_type: None
//	source_addr_ton: <AddrTon.INTERNATIONAL: 2>
//	source_addr: b'393331234567'
//	esm_class: EsmClass[mode: DEFAULT, type: SMSC_DELIVERY_RECEIPT, gsmFeatures: set([])]
//	short_message: b'id:5A3C99F1 ...'
//	]
//
// The numbers beside names are Python's own, not the wire's.
type python struct{}

// take implements style.
func (python) take(b *block, line string) bool {
	line = strings.TrimSpace(line)
	if line == "]" {
		return true
	}
	if name, said, ok := strings.Cut(line, ": "); ok {
		b.values = append(b.values, pythonValue(name, strings.TrimSpace(said)))
	}
	return false
}

var (
	pythonString = regexp.MustCompile(`^[bu]?(?:'(.*)'|"(.*)")$`)
	pythonNumber = regexp.MustCompile(`^(\d+)L?$`)
	pythonEnum   = regexp.MustCompile(`^<\w+\.(\w+): .*>$|^EnumValue\(.*'(\w+)'\)$|^[A-Z]\w+\.(\w+)$`)
)

// pythonValue reads how Python prints the value of a field.
func pythonValue(name, said string) value {
	v := value{name: name}
	switch {
	case said == "None":
	case pythonNumber.MatchString(said):
		n, err := strconv.ParseUint(pythonNumber.FindStringSubmatch(said)[1], 10, 64)
		v.kind, v.num = number, n
		if err != nil {
			v.kind, v.word = word, said
		}
	case pythonString.MatchString(said):
		m := pythonString.FindStringSubmatch(said)
		v.kind, v.text = octets, unescape(m[1]+m[2])
	case pythonEnum.MatchString(said):
		m := pythonEnum.FindStringSubmatch(said)
		v.kind, v.word = word, m[1]+m[2]+m[3]
	default:
		v.kind, v.word = word, said
	}
	return v
}
