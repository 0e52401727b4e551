package capture

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
)

// dumpLine begins a line of a hex dump with offsets, as Wireshark, tshark -x, tcpdump -X, hexdump -C and xxd print:
// the offset, then a colon or more than one blank.
var dumpLine = regexp.MustCompile(`^\s*(?:0x)?([0-9A-Fa-f]{4,8})(?::\s+|\s{2,})([0-9A-Fa-f]{2}.*)$`)

// perLine is how many octets those print a line.
const perLine = 16

// dump gathers a hex dump.
type dump struct{ octets []byte }

// take takes a line; false when it does not go on with the dump.
func (d *dump) take(line string) bool {
	m := dumpLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	offset, err := strconv.ParseUint(m[1], 16, 32)
	if err != nil || int(offset) != len(d.octets) {
		return false
	}
	d.octets = append(d.octets, dumped(m[2])...)
	return true
}

// dumped reads the octets of a line, and not the characters beside them: these come behind 16 octets, or behind
// two blanks that are not the gap in a line's middle.
func dumped(s string) []byte {
	var octets []byte
	for len(s) > 0 && len(octets) < perLine {
		word := s
		if i := strings.IndexAny(s, " \t"); i >= 0 {
			word = s[:i]
		}
		b, err := hex.DecodeString(word)
		if err != nil || len(octets)+len(b) > perLine || len(b) == 0 {
			break
		}
		octets = append(octets, b...)
		s = s[len(word):]
		rest := strings.TrimLeft(s, " \t")
		if gap := len(s) - len(rest); gap > 1 && (gap > 2 || len(octets) != perLine/2) {
			break
		}
		s = rest
	}
	return octets
}

// comment is one of C.
var comment = regexp.MustCompile(`/\*.*?\*/|//.*$`)

// arrayStart begins an array of C, as Wireshark copies one; its octets may be on the same line.
var arrayStart = regexp.MustCompile(`(?:char|byte|uint8_t|u_char|\[\w*\])\b?[^={]*=?\s*\{(.*)$`)

// arrayOctet is one of its octets.
var arrayOctet = regexp.MustCompile(`0[xX][0-9A-Fa-f]{1,2}\b`)

// array gathers an array of C.
type array struct{ octets []byte }

// take takes a line; done is whether it closes the array.
func (a *array) take(line string) (done bool) {
	line = comment.ReplaceAllString(line, "")
	line, _, done = strings.Cut(line, "}")
	for _, o := range arrayOctet.FindAllString(line, -1) {
		n, err := strconv.ParseUint(o[2:], 16, 8)
		if err == nil {
			a.octets = append(a.octets, byte(n))
		}
	}
	return done
}

// escapedLine is a line of a string with escapes, as Wireshark copies one over several lines.
var escapedLine = regexp.MustCompile(`^[^"']*?(?:b?")((?:\\.|[^"\\])*)"\s*\\?\s*;?\s*$|^[^"']*?(?:b?')((?:\\.|[^'\\])*)'\s*\\?\s*;?\s*$`)

// escaped reads such a line; false when it is none.
func escaped(line string) ([]byte, bool) {
	if !strings.Contains(line, `\x`) {
		return nil, false
	}
	m := escapedLine.FindStringSubmatch(line)
	if m == nil {
		return nil, false
	}
	return unescape(m[1] + m[2]), true
}

// unescape reads the escapes of C and Python strings. What is none is taken as it stands.
func unescape(s string) []byte {
	octets := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			octets = append(octets, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'x':
			if i+2 < len(s) {
				if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
					octets = append(octets, b...)
					i += 2
					continue
				}
			}
			octets = append(octets, '\\', c)
		case '0', 'n', 'r', 't', 'a', 'b', 'f', 'v', '\\', '\'', '"':
			octets = append(octets, escapes[c])
		default:
			octets = append(octets, '\\', c)
		}
	}
	return octets
}

var escapes = map[byte]byte{
	'0': 0, 'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\', '\'': '\'', '"': '"',
}
