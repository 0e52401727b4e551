package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"esmed/smpp"
)

// Found is a PDU that was found in a text, or why there is none.
type Found struct {
	Line  int // where it begins, from 1
	PDU   []byte
	Notes []string // what had to be done to read it
	Err   error    // why it is no PDU; PDU is nil then
}

// maxLine bounds a line: the largest PDU there is in hex, two digits and a separator an octet.
const maxLine = 3 * smpp.MaxCommandLength

// maxPending bounds the lines that are kept until it shows whether they are noise of a log.
const maxPending = 10_000

// ReadText finds the PDUs in a text: in hex, a PDU a line, in any grouping; in hex within the lines of a log; as a
// hex dump, an array of C or a string with escapes, as Wireshark copies packets; and field by field, as Kannel
// and Jasmin (smpp.pdu) log them. Each is given to see as soon as it is complete; see's error ends it.
//
// A line that is nothing of all this is given with an error. In a log, which the forms that only logs have give
// away, it is passed over: there lines of other kinds are the rule.
func ReadText(r io.Reader, see func(Found) error) error {
	t := &textReader{see: see}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() && t.err == nil {
		t.line++
		t.take(strings.TrimRight(lines.Text(), "\r"))
	}
	t.finish()
	if err := lines.Err(); err != nil && t.err == nil {
		if errors.Is(err, bufio.ErrTooLong) {
			return fmt.Errorf("capture: line %d is longer than any PDU in hex", t.line+1)
		}
		return fmt.Errorf("capture: %w", err)
	}
	return t.err
}

// textReader reads line by line. At most one of what may go on over several lines is open.
type textReader struct {
	see  func(Found) error
	err  error // of see
	line int

	began   int // line at which what is open began
	dump    *dump
	array   *array
	escaped []byte
	block   *block
	partial []byte // a hex line that is not all of its PDU

	log     bool // lines that are nothing are passed over
	strict  bool // they are not
	pending []Found
}

func (t *textReader) take(line string) {
	if t.goesOn(line) {
		return
	}
	t.close()
	if strings.TrimSpace(line) == "" {
		return
	}
	t.began = t.line
	t.start(line)
}

// goesOn lets what is open take the line; false when it ends before it, or nothing is open.
func (t *textReader) goesOn(line string) bool {
	switch {
	case t.block != nil:
		if startBlock(line) != nil { // the one before has no end
			return false
		}
		if t.block.take(line) {
			t.close()
		}
		return true
	case t.array != nil:
		if t.array.take(line) {
			t.close()
		}
		return true
	case t.dump != nil:
		return t.dump.take(line)
	case t.escaped != nil:
		octets, ok := escaped(line)
		t.escaped = append(t.escaped, octets...)
		return ok
	case t.partial != nil:
		return t.join(line)
	}
	return false
}

// join takes a line that brings exactly what is missing of the PDU on the line before.
func (t *textReader) join(line string) bool {
	octets, err := unhex(line)
	if err != nil || len(octets) == 0 {
		return false
	}
	joined := append(append([]byte(nil), t.partial...), octets...)
	missing := int(smpp.ParseHeader(joined).CommandLength) - len(joined)
	if missing < 0 || len(octets) >= smpp.HeaderLen && likely(smpp.ParseHeader(octets)) {
		return false
	}
	t.partial = joined
	if missing == 0 {
		t.close()
	}
	return true
}

// start looks at a line that nothing open takes.
func (t *textReader) start(line string) {
	if b := startBlock(line); b != nil {
		t.isLog()
		t.block = b
		return
	}
	octets, err := unhex(line)
	if err == nil && t.hexLine(octets) {
		return
	}
	if d := new(dump); d.take(line) {
		t.dump = d
		return
	}
	if octets, ok := escaped(line); ok {
		t.escaped = octets
		return
	}
	if m := arrayStart.FindStringSubmatch(line); m != nil {
		if t.array = new(array); t.array.take(m[1]) {
			t.close()
		}
		return
	}
	if err == nil {
		t.isHex(octets)
		return
	}
	if pdus := inLine(line); pdus != nil {
		t.isLog()
		for _, pdu := range pdus {
			t.give(Found{Line: t.line, PDU: pdu})
		}
		return
	}
	t.nothing(err)
}

// hexLine takes a line of hex whose octets say that they are PDUs, or the beginning of one; false when they do not.
func (t *textReader) hexLine(octets []byte) bool {
	if len(octets) < smpp.HeaderLen {
		return false
	}
	h := smpp.ParseHeader(octets)
	if !credible(h) {
		return false
	}
	if int(h.CommandLength) > len(octets) {
		t.partial = octets
		return true
	}
	if _, ok := whole(octets); !ok {
		return false
	}
	t.isHex(octets)
	return true
}

// isHex takes octets that the line gives, whatever they are.
func (t *textReader) isHex(octets []byte) {
	t.strict = t.strict || !t.log
	t.giveOctets(octets)
}

// nothing takes a line that is none of the forms.
func (t *textReader) nothing(err error) {
	f := Found{Line: t.line, Err: err}
	switch {
	case t.log:
	case t.strict:
		t.give(f)
	default:
		t.pending = append(t.pending, f)
		if len(t.pending) > maxPending {
			t.strict = true
			t.givePending()
		}
	}
}

// isLog takes that the text is a log: what was nothing so far is no fault.
func (t *textReader) isLog() {
	if !t.strict {
		t.log, t.pending = true, nil
	}
}

// close ends what is open.
func (t *textReader) close() {
	switch {
	case t.block != nil:
		pdu, notes, err := t.block.pdu()
		t.give(Found{Line: t.began, PDU: pdu, Notes: notes, Err: err})
	case t.array != nil:
		t.giveOctets(t.array.octets)
	case t.dump != nil:
		t.giveOctets(t.dump.octets)
	case t.escaped != nil:
		t.giveOctets(t.escaped)
	case t.partial != nil:
		t.isHex(t.partial)
	}
	t.block, t.array, t.dump, t.escaped, t.partial = nil, nil, nil, nil, nil
}

// giveOctets gives what octets hold: PDUs, or PDUs behind something else, or else one that is none.
func (t *textReader) giveOctets(octets []byte) {
	if len(octets) < smpp.HeaderLen {
		t.give(Found{Line: t.began, Err: tooShort(len(octets))})
		return
	}
	pdus, ok := whole(octets)
	var notes []string
	if !ok {
		if found, before := inside(octets); before > 0 {
			pdus, ok = found, true
			notes = []string{fmt.Sprintf("%d octets before it are not SMPP", before)}
		}
	}
	if !ok {
		pdus = [][]byte{octets}
	}
	for _, pdu := range pdus {
		t.give(Found{Line: t.began, PDU: pdu, Notes: notes})
		notes = nil
	}
}

func (t *textReader) give(f Found) {
	t.givePending()
	if t.err == nil {
		t.err = t.see(f)
	}
}

// givePending gives the lines that turned out to be faults.
func (t *textReader) givePending() {
	pending := t.pending
	t.pending = nil
	for _, f := range pending {
		if t.err == nil {
			t.err = t.see(f)
		}
	}
}

func (t *textReader) finish() {
	t.close()
	t.givePending()
}
