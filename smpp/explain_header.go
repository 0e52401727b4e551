package smpp

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// esmClassUDHI says that a text begins with a user data header (SMPP v3.4 §5.2.12).
const esmClassUDHI = 0x40

// Elements of a user data header that join the parts of a message (3GPP TS 23.040 §9.2.3.24.1, .8), with
// references of 8 and of 16 bits.
const (
	elementPart8  = 0x00
	elementPart16 = 0x08
)

// explainHeader says what the user data header is that a text begins with, and how long it is with its
// length octet (3GPP TS 23.040 §9.2.3.24); 0 if it is longer than the text, or empty.
func explainHeader(text []byte) (words string, n int) {
	if len(text) == 0 || text[0] == 0 || int(text[0]) >= len(text) {
		return "", 0
	}
	n = 1 + int(text[0])
	var all []string
	for rest := text[1:n]; len(rest) > 0; {
		if len(rest) < 2 || 2+int(rest[1]) > len(rest) {
			all = append(all, "broken: "+hex.EncodeToString(rest))
			break
		}
		end := 2 + int(rest[1])
		all = append(all, explainElement(rest[0], rest[2:end]))
		rest = rest[end:]
	}
	return strings.Join(all, "; "), n
}

func explainElement(id byte, data []byte) string {
	switch {
	case id == elementPart8 && len(data) == 3:
		return fmt.Sprintf("part %d of %d, reference %d", data[2], data[1], data[0])
	case id == elementPart16 && len(data) == 4:
		return fmt.Sprintf("part %d of %d, reference %d", data[3], data[2], be16(data))
	}
	return fmt.Sprintf("element 0x%02X: %s", id, hex.EncodeToString(data))
}
