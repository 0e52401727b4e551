package receipt

import "bytes"

// label is one of the words that begin a field of a receipt's text (SMPP v3.4 Appendix B).
type label uint8

const (
	labelID label = iota
	labelSub
	labelDlvrd
	labelSubmitDate
	labelDoneDate
	labelStat
	labelErr
	labelText
	noLabel

	labels = int(labelText) // how many have a value of their own
)

// labelWords are the labels in lower case. A blank stands for one or more blanks or one underscore.
var labelWords = [noLabel]string{"id", "sub", "dlvrd", "submit date", "done date", "stat", "err", "text"}

// fields says where the fields of a receipt's text are, in characters of the text.
type fields struct {
	at    [labels]span // by label; empty where the label is missing or has no value
	seen  uint8        // bit 1<<label: the label was met, be its value empty
	first int          // where the first label begins; -1: there is none

	text     span // all that follows the text label, with its blanks; Start 0 where there is none
	skipped  bool // a text label was passed over because another label followed it at once
	spaced   bool // a blank was skipped between a label's colon and its value
	underbar bool // submit_date or done_date
}

// span is a range of characters or octets, End not included.
type span struct{ Start, End int }

func (f *fields) has(l label) bool { return f.seen&(1<<l) != 0 }

// scan finds the fields in v, which has one octet a character. Labels match in any case, and only
// where no letter, digit or underscore stands before them; the first of each kind counts; a text
// label with a text ends the scan, so that nothing in the quoted text is ever a field. One pass.
func (f *fields) scan(v []byte) {
	*f = fields{first: -1}
	for i := 0; ; {
		c := bytes.IndexByte(v[i:], ':')
		if c < 0 {
			return
		}
		c += i
		l, start := labelBefore(v, i, c)
		if l == noLabel {
			i = c + 1
			continue
		}
		if f.first < 0 {
			f.first = start
		}
		if l == labelText {
			next := skipBlanks(v, c+1)
			if n := labelAt(v, next); n == noLabel || n == labelText || f.has(n) {
				f.text = span{c + 1, len(v)}
				f.seen |= 1 << labelText
				return
			}
			f.skipped = true
			i = next
			continue
		}
		value := f.value(v, l, c+1)
		if !f.has(l) {
			f.seen |= 1 << l
			f.at[l] = value
			f.underbar = f.underbar || isDate(l) && v[c-len("_date")] == '_'
		}
		i = value.End
	}
}

func isDate(l label) bool { return l == labelSubmitDate || l == labelDoneDate }

// value finds the value of l that begins at or, after blanks, behind start. It ends at a blank, but
// for the one in an ISO date. Where another label follows, there is none.
func (f *fields) value(v []byte, l label, start int) span {
	at := skipBlanks(v, start)
	if at > start {
		if at == len(v) || labelAt(v, at) != noLabel {
			return span{start, start}
		}
		f.spaced = f.spaced || !f.has(l)
	}
	end := at
	for end < len(v) && !isBlank(v[end]) {
		end++
	}
	if isDate(l) {
		end = isoEnd(v, at, end)
	}
	return span{at, end}
}

// firstLabel is where the first label of v begins, -1 if it has none.
func firstLabel(v []byte) int {
	for i := 0; ; {
		c := bytes.IndexByte(v[i:], ':')
		if c < 0 {
			return -1
		}
		if l, start := labelBefore(v, i, i+c); l != noLabel {
			return start
		}
		i += c + 1
	}
}

// labelAt is the label that begins exactly at p.
func labelAt(v []byte, p int) label {
	c := bytes.IndexByte(v[p:], ':')
	if c < 0 {
		return noLabel
	}
	if l, start := labelBefore(v, p, p+c); start == p {
		return l
	}
	return noLabel
}

// labelBefore is the label that ends where v has the colon c, and where it begins, at low or later.
func labelBefore(v []byte, low, c int) (label, int) {
	if c-low < len("id") {
		return noLabel, c
	}
	l, start := noLabel, c
	switch v[c-1] | 0x20 {
	case 'd':
		l, start = oneOf(v, low, c, labelID, labelDlvrd)
	case 'b':
		l, start = oneOf(v, low, c, labelSub, noLabel)
	case 't':
		l, start = oneOf(v, low, c, labelStat, labelText)
	case 'r':
		l, start = oneOf(v, low, c, labelErr, noLabel)
	case 'e':
		l, start = dateLabel(v, low, c)
	}
	if l == noLabel || start > 0 && isWord(v[start-1]) {
		return noLabel, c
	}
	return l, start
}

func oneOf(v []byte, low, c int, a, b label) (label, int) {
	if start, ok := wordBefore(v, low, c, labelWords[a]); ok {
		return a, start
	}
	if b != noLabel {
		if start, ok := wordBefore(v, low, c, labelWords[b]); ok {
			return b, start
		}
	}
	return noLabel, c
}

// dateLabel matches submit date and done date before c.
func dateLabel(v []byte, low, c int) (label, int) {
	date, ok := wordBefore(v, low, c, "date")
	if !ok || date == low {
		return noLabel, c
	}
	gap := date
	if v[gap-1] == '_' {
		gap--
	} else {
		for gap > low && isBlank(v[gap-1]) {
			gap--
		}
	}
	if gap == date {
		return noLabel, c
	}
	if start, ok := wordBefore(v, low, gap, "submit"); ok {
		return labelSubmitDate, start
	}
	if start, ok := wordBefore(v, low, gap, "done"); ok {
		return labelDoneDate, start
	}
	return noLabel, c
}

// wordBefore reports whether v has word, given in lower case, in any case right before end.
func wordBefore(v []byte, low, end int, word string) (start int, ok bool) {
	start = end - len(word)
	if start < low {
		return end, false
	}
	for i := range len(word) {
		if v[start+i]|0x20 != word[i] {
			return end, false
		}
	}
	return start, true
}

func skipBlanks(v []byte, i int) int {
	for i < len(v) && isBlank(v[i]) {
		i++
	}
	return i
}

// isBlank reports whether c separates values: white space, NUL, and Latin-1's two blanks over 0x7F.
func isBlank(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', '\v', '\f', 0, 0x85, 0xA0:
		return true
	}
	return false
}

// isWord reports whether c, in Latin-1, is a letter, digit or underscore.
func isWord(c byte) bool {
	switch {
	case c < 0x80:
		return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
	case c < 0xC0:
		return c == 0xAA || c == 0xB5 || c == 0xBA
	}
	return c != 0xD7 && c != 0xF7
}
