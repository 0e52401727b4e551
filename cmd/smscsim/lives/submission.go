package lives

import (
	"strconv"

	"esmed/smpp/smpptest"
)

// maker makes the submissions of a run: each has a destination, a text and a ref of its own.
type maker struct{ run string }

const (
	destPrefix = "39333"
	destDigits = 7 // destinations come again after ten million
	codeDigits = 9
	textBefore = "Your code is "
	textAfter  = ". Do not give it to anybody."
)

// append writes submission n as JSON, without a line feed, and says by what sum the SMSC will know it. Its
// text is the same octets in JSON and in the GSM alphabet.
func (m maker) append(b []byte, n int) ([]byte, smpptest.Sum) {
	b = append(b, `{"to":"+`...)
	dest := len(b)
	b = appendPadded(append(b, destPrefix...), n, destDigits)
	destEnd := len(b)
	b = append(b, `","from":"ACME","text":"`...)
	text := len(b)
	b = append(b, textBefore...)
	b = appendPadded(b, n, codeDigits)
	b = append(b, textAfter...)
	textEnd := len(b)
	b = append(b, `","ref":"life-`...)
	b = append(b, m.run...)
	b = append(b, '-')
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, `"}`...)
	return b, smpptest.Fingerprint(b[dest:destEnd], b[text:textEnd])
}

// appendPadded writes the last digits of n, which is not below 0.
func appendPadded(b []byte, n, digits int) []byte {
	start := len(b)
	for range digits {
		b = append(b, '0')
	}
	for i := len(b) - 1; i >= start && n > 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}
