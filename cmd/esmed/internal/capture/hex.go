package capture

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"esmed/smpp"
)

// separators may stand anywhere between hex digits.
const separators = " \t\r\n:-,.|_;\"'[]{}()"

// unhex reads hex in any grouping: separators, 0x and \x between the digits do not matter.
func unhex(s string) ([]byte, error) {
	s = strings.NewReplacer("0x", " ", "0X", " ", `\x`, " ").Replace(s)
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(separators, r) {
			return -1
		}
		return r
	}, s)
	octets, err := hex.DecodeString(digits)
	switch {
	case errors.Is(err, hex.ErrLength):
		return nil, fmt.Errorf("an odd number of hex digits (%d)", len(digits))
	case err != nil:
		return nil, fmt.Errorf("not hex: %s", strings.TrimPrefix(err.Error(), "encoding/hex: "))
	}
	return octets, nil
}

func tooShort(n int) error {
	octets := "octets"
	if n == 1 {
		octets = "octet"
	}
	return fmt.Errorf("%d %s are no PDU: its header has %d", n, octets, smpp.HeaderLen)
}

// whole cuts octets into PDUs; false when they are not one after the other of them to their end.
func whole(octets []byte) ([][]byte, bool) {
	var pdus [][]byte
	for len(octets) > 0 {
		if len(octets) < smpp.HeaderLen {
			return nil, false
		}
		h := smpp.ParseHeader(octets)
		if !credible(h) || int(h.CommandLength) > len(octets) {
			return nil, false
		}
		pdus = append(pdus, octets[:h.CommandLength])
		octets = octets[h.CommandLength:]
	}
	return pdus, len(pdus) > 0
}

// inside finds PDUs that octets end with, behind what is not SMPP, such as the headers of a packet that was copied
// whole; none when there are none.
func inside(octets []byte) (pdus [][]byte, before int) {
	for i := 0; len(octets)-i >= smpp.HeaderLen; i++ {
		if !likely(smpp.ParseHeader(octets[i:])) {
			continue
		}
		if pdus, ok := whole(octets[i:]); ok {
			return pdus, i
		}
	}
	return nil, 0
}

// hexRun is hex of a header or more within a line.
var hexRun = regexp.MustCompile(`(?:[0-9A-Fa-f]{2}[ :]?){16,}`)

// inLine finds PDUs in hex within a line of a log; none when there are none.
func inLine(line string) [][]byte {
	for _, run := range hexRun.FindAllString(line, -1) {
		octets, err := unhex(run)
		if err != nil {
			continue
		}
		if pdus, ok := whole(octets); ok && smpp.ParseHeader(octets).CommandID.Known() {
			return pdus
		}
	}
	return nil
}
