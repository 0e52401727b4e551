package text

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// MaxParts is the most parts that a text can have: their number is an octet (3GPP TS 23.040
// §9.2.3.24.8, SMPP v3.4 §5.3.2.23).
const MaxParts = 255

// HeaderLen is the length of what AppendHeader appends, in octets.
const HeaderLen = 7

// AppendHeader appends the user data header of part n, from 1, of a text in several: its length and one
// element, the concatenation with a reference of 16 bits (3GPP TS 23.040 §9.2.3.24.8). The parts of a
// text have the same reference, and those of other texts to the same destination another one.
func AppendHeader(octets []byte, reference uint16, parts, n int) []byte {
	return append(octets, HeaderLen-1, 0x08, 4, byte(reference>>8), byte(reference), byte(parts), byte(n))
}

// Split cuts s, which the alphabet holds, into parts of room units at most, 4 or more: into as few as go
// when a part never ends within a character (in an escape sequence or a surrogate pair) nor within what a
// reader takes for one, a grapheme cluster such as an emoji of several or CR LF. A cluster that is longer
// than a part is cut between its characters. The same text is always cut in the same places; an empty one
// is one part.
func (a Alphabet) Split(s string, room int) []string {
	c := cutter{alphabet: a, text: s, room: room, left: room}
	cluster, rest, state := "", s, -1
	for rest != "" {
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		c.addCluster(cluster)
	}
	return append(c.parts, s[c.begin:])
}

// cutter fills one part after the other.
type cutter struct {
	alphabet   Alphabet
	text       string
	room       int // of a part
	begin, end int // of the part that is being filled, in text
	left       int // of its room
	parts      []string
}

func (c *cutter) addCluster(cluster string) {
	size := 0
	for _, r := range cluster {
		size += c.alphabet.width(r)
	}
	if size <= c.room {
		c.add(len(cluster), size)
		return
	}
	for cluster != "" {
		r, length := utf8.DecodeRuneInString(cluster)
		c.add(length, c.alphabet.width(r))
		cluster = cluster[length:]
	}
}

// add takes what is not to be cut: the next so many octets of the text, of that size.
func (c *cutter) add(length, size int) {
	if size > c.left {
		c.parts = append(c.parts, c.text[c.begin:c.end])
		c.begin, c.left = c.end, c.room
	}
	c.end += length
	c.left -= size
}
