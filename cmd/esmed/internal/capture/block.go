package capture

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"esmed/smpp"
)

// block is a PDU that is written field by field.
type block struct {
	style  style
	values []value
}

// style is how a gateway writes a PDU.
type style interface {
	// take reads a line of the block into it; true when it was the last.
	take(b *block, line string) bool
}

var (
	kannelStart = regexp.MustCompile(`SMPP PDU \S+ dump:\s*$`)
	pythonStart = regexp.MustCompile(`PDU \[command: ([^,\]]+), ?(?:sequence_number|seq_number): ?([^,\]]+), ?command_status: ?([^,\]]+?)(\])?\s*$`)
)

// startBlock begins a block if line does, else it is nil.
func startBlock(line string) *block {
	if kannelStart.MatchString(line) {
		return &block{style: kannel{}}
	}
	if m := pythonStart.FindStringSubmatch(line); m != nil {
		if m[4] != "" { // only named: the block with its fields follows
			return nil
		}
		b := &block{style: python{}}
		for i, name := range []string{commandName, "sequence_number", "command_status"} {
			b.values = append(b.values, pythonValue(name, m[i+1]))
		}
		return b
	}
	return nil
}

// take reads a line of the block; true when it was the last.
func (b *block) take(line string) bool { return b.style.take(b, line) }

func (b *block) find(name string) *value {
	for i := range b.values {
		if b.values[i].name == name {
			return &b.values[i]
		}
	}
	return nil
}

// commandName is the name under which the styles give a PDU's command in words.
const commandName = "command"

// errNoCommand: a block does not say which command it is, or says one that is not taken apart.
var errNoCommand = errors.New("the fields name no command that is known")

// pdu is the block as a PDU; notes say what of it could not be taken.
func (b *block) pdu() (pdu []byte, notes []string, err error) {
	id, err := b.command()
	if err != nil {
		return nil, nil, err
	}
	w := writer{block: b, used: map[string]bool{commandName: true, "command_id": true, "command_length": true, "sm_length": true}}
	h := smpp.Header{CommandLength: smpp.HeaderLen, CommandID: id}
	h.CommandStatus = smpp.Status(w.number("command_status"))
	h.SequenceNumber = uint32(w.number("sequence_number"))
	body := w.body(layout(id))
	if w.err != nil {
		return nil, nil, w.err
	}
	body = w.tlvs(body)
	if w.err != nil {
		return nil, nil, w.err
	}
	h.CommandLength += uint32(len(body))
	return append(smpp.AppendHeader(nil, h), body...), w.notes, nil
}

func (b *block) command() (smpp.CommandID, error) {
	if v := b.find("command_id"); v != nil && v.kind == number {
		if id := smpp.CommandID(v.num); id.Known() && uint64(uint32(v.num)) == v.num {
			return id, nil
		}
	}
	if v := b.find(commandName); v != nil {
		if id, ok := commandNamed(strings.ToLower(v.word)); ok {
			return id, nil
		}
	}
	return 0, errNoCommand
}

// commandNamed finds a command by its name.
func commandNamed(name string) (smpp.CommandID, bool) {
	if name == smpp.CommandGenericNack.String() {
		return smpp.CommandGenericNack, true
	}
	for _, answer := range answers {
		for _, id := range [...]smpp.CommandID{answer, answer.Request()} {
			if id.String() == name {
				return id, true
			}
		}
	}
	for _, id := range [...]smpp.CommandID{smpp.CommandAlertNotification, smpp.CommandOutbind} {
		if id.String() == name {
			return id, true
		}
	}
	return 0, false
}

// layout gives the fields of a command's body in the order of the wire. It is read off an empty PDU, so that smpp's
// own knowledge of them is the only one.
func layout(id smpp.CommandID) []smpp.Field {
	empty := smpp.AppendHeader(nil, smpp.Header{CommandLength: smpp.HeaderLen, CommandID: id})
	p, err := smpp.Decode(empty)
	if p == nil || err != nil && !isBodyError(err) {
		return nil
	}
	pdu, err := smpp.Append(nil, p)
	if err != nil {
		return nil
	}
	const headerFields = 4
	return smpp.Fields(pdu)[headerFields:]
}

func isBodyError(err error) bool {
	_, ok := errors.AsType[*smpp.BodyError](err)
	return ok
}

// writer writes a block's fields as they are on the wire.
type writer struct {
	block *block
	used  map[string]bool
	notes []string
	err   error
}

// number is a field that is a number; 0 when it is absent.
func (w *writer) number(name string) uint64 {
	v := w.block.find(name)
	w.used[name] = true
	if v == nil {
		return 0
	}
	n, err := v.number()
	if err != nil && w.err == nil {
		w.err = err
	}
	return n
}

// text is a field that is a string.
func (w *writer) text(name string) []byte {
	v := w.block.find(name)
	w.used[name] = true
	if v == nil {
		return nil
	}
	return v.octets()
}

// body writes the fields of layout.
func (w *writer) body(layout []smpp.Field) []byte {
	var body []byte
	for _, f := range layout {
		switch {
		case f.Name == "sm_length":
			message := w.text(shortMessage)
			if len(message) > 0xFF {
				w.err = fmt.Errorf("%s of %d octets does not fit", shortMessage, len(message))
				return nil
			}
			body = append(append(body, byte(len(message))), message...)
		case f.Secret, len(f.Octets) == 0: // a string, empty in the empty PDU
			body = append(append(body, w.text(f.Name)...), 0)
		default:
			n := w.number(f.Name)
			if n > 0xFF {
				w.err = fmt.Errorf("%s is %d: it has one octet", f.Name, n)
				return nil
			}
			body = append(body, byte(n))
		}
	}
	return body
}

const shortMessage = "short_message"

// tlvs writes the fields that are none of the body's.
func (w *writer) tlvs(body []byte) []byte {
	for i := range w.block.values {
		v := &w.block.values[i]
		if w.used[v.name] || v.kind == absent {
			continue
		}
		w.used[v.name] = true
		tag, ok := smpp.TagNamed(v.name)
		if !ok {
			w.notes = append(w.notes, fmt.Sprintf("%s is left out: which field that is is not known", v.name))
			continue
		}
		octets, err := v.tlv(tag)
		switch {
		case err != nil:
			w.notes = append(w.notes, fmt.Sprintf("%s is left out: %s", v.name, err))
			continue
		case len(octets) > 0xFFFF:
			w.err = fmt.Errorf("%s of %d octets does not fit", v.name, len(octets))
			return nil
		}
		body = append(body, byte(tag>>8), byte(tag), byte(len(octets)>>8), byte(len(octets)))
		body = append(body, octets...)
	}
	return body
}
