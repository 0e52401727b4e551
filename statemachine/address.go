package statemachine

import (
	"strings"

	"esmed/receipt"
)

// Answer is what a receipt's addresses say about a message that its id selected.
type Answer uint8

// Answers, the stronger ones later. The zero answer is that they say nothing.
const (
	Silent  Answer = iota // no address that could be compared
	Agrees                // one of them is our destination
	Refuses               // one is somebody else's, and none is ours
)

// minSuffix is how many digits an address needs at least to stand for a longer one that it ends.
const minSuffix = 7

// CheckAddress compares a receipt's addresses with our message's. They never select a message; they only
// confirm or refuse what the id selected (DESIGN §4).
//
// One of the two is our destination when their digits, after +, 00 and one trunk prefix (0), are equal:
// the shorter one, of 7 digits or more, ends the longer; with fewer digits only the whole counts. A
// masked digit (x, X, *) fits any. A missing or alphanumeric address says nothing, nor does one of under
// 7 digits about a destination of more. The message's own sender never refuses.
func CheckAddress(source, dest string, reported ...receipt.Address) Answer {
	answer := Silent
	ours, known := significant(dest)
	if !known {
		return answer
	}
	sender, numeric := significant(source)
	for _, address := range reported {
		theirs, ok := significant(address.Addr)
		switch {
		case !ok:
		case sameNumber(ours, theirs):
			return Agrees
		case len(theirs) < minSuffix && len(ours) >= minSuffix:
		case numeric && sameNumber(sender, theirs):
		default:
			answer = Refuses
		}
	}
	return answer
}

// significant takes +, 00 and one trunk prefix off. It reports false for what is no number: nothing, a
// name, or a mask without a single digit.
func significant(addr string) (string, bool) {
	addr = strings.TrimPrefix(addr, "+")
	addr = strings.TrimPrefix(addr, "00")
	addr = strings.TrimPrefix(addr, "0")
	seen := false
	for i := range len(addr) {
		switch c := addr[i]; {
		case c >= '0' && c <= '9':
			seen = true
		case !masked(c):
			return "", false
		}
	}
	return addr, seen
}

// sameNumber compares from the end.
func sameNumber(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < len(b) && len(a) < minSuffix {
		return false
	}
	b = b[len(b)-len(a):]
	for i := range len(a) {
		if a[i] != b[i] && !masked(a[i]) && !masked(b[i]) {
			return false
		}
	}
	return true
}

func masked(c byte) bool { return c == 'x' || c == 'X' || c == '*' }
