package smpptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"esmed/smpp"
)

// LineType says what happened.
type LineType string

// Line types, with the fields each has beside type and at.
const (
	LineSubmit   LineType = "submit"   // n conn seq source dest class registered_delivery text [part parts joined_by] [ref] status message_id [ignored]
	LineResponse LineType = "response" // n conn seq: the answer decided in the submit line was written
	LineDelivery LineType = "delivery" // d n kind conn seq command class source dest tlv_id text_id word state message_state length sum sends
	LineAck      LineType = "ack"      // d conn seq status latency_us; d 0: an answer to nothing
	LineQuery    LineType = "query"    // n conn seq source message_id [status]: a query_sm, and its answer unless there was none
	LineCancel   LineType = "cancel"   // n conn seq source dest message_id [status]: a cancel_sm, and its answer unless there was none
	LineLink     LineType = "link"     // conn event [status] [drop]
	LineEnd      LineType = "end"      // pending: requests that no ESME has acknowledged, at the end
)

// Line is one line of the ground truth. Lines stand in the order in which things happened: the n-th
// submit was seen before, and a response or delivery written to its connection's buffer after, all
// lines above. What is written may still be lost with its connection; what is acknowledged was not.
type Line struct {
	Type LineType  `json:"type"`
	At   time.Time `json:"at"`

	N    uint64 `json:"n,omitempty"`    // number of the submit_sm, from 1
	D    uint64 `json:"d,omitempty"`    // number of the delivery, from 1; the same however often it is sent
	Conn int    `json:"conn,omitempty"` // number of the connection, from 1
	Seq  uint32 `json:"seq,omitempty"`  // sequence_number

	Source string `json:"source,omitempty"` // source_addr
	Dest   string `json:"dest,omitempty"`   // destination_addr
	Class  byte   `json:"class,omitempty"`  // esm_class

	RegisteredDelivery byte   `json:"registered_delivery,omitempty"`
	Text               string `json:"text,omitempty"`       // FNV-1a of the submitted text's octets, 16 hex digits
	Part               int    `json:"part,omitempty"`       // of a message of several parts, from 1
	Parts              int    `json:"parts,omitempty"`      // how many that has
	JoinedBy           string `json:"joined_by,omitempty"`  // what its parts have in common, as udh16:4711
	Ref                string `json:"ref,omitempty"`        // value of Receipts.ClientRefTLV
	Status             string `json:"status,omitempty"`     // command_status by name
	MessageID          string `json:"message_id,omitempty"` // as in the response
	Ignored            bool   `json:"ignored,omitempty"`    // came after the silence began: neither taken on nor answered

	Kind         Kind           `json:"kind,omitempty"`
	Command      smpp.CommandID `json:"command,omitempty"`
	TLVID        string         `json:"tlv_id,omitempty"`
	TextID       string         `json:"text_id,omitempty"`
	Word         string         `json:"word,omitempty"`          // stat of the text
	State        string         `json:"state,omitempty"`         // as DELIVERED; "" if none, or for a word that is not SMPP's
	MessageState *int           `json:"message_state,omitempty"` // the TLV, when it was sent
	Length       int            `json:"length,omitempty"`        // command_length
	Sum          string         `json:"sum,omitempty"`           // FNV-1a of the whole PDU as written, 16 hex digits
	Sends        int            `json:"sends,omitempty"`         // 1 the first time

	LatencyUS int64  `json:"latency_us,omitempty"` // from writing a request to reading its answer
	Event     string `json:"event,omitempty"`      // of a link: open bound refused unanswered unbound silent dropped closed
	Drop      Drop   `json:"drop,omitempty"`
	Pending   int    `json:"pending,omitempty"`
}

// ReadTruth reads the lines of a truth file. A last line without its line feed, as a killed simulator
// leaves one, is left out.
func ReadTruth(r io.Reader) ([]Line, error) {
	return readLines[Line](r, "truth")
}

// readLines reads NDJSON; unknown fields are skipped.
func readLines[T any](r io.Reader, what string) ([]T, error) {
	var out []T
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("smpptest: read %s: %w", what, err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("smpptest: read %s: line %d: %w", what, n, err)
		}
		out = append(out, v)
	}
}

// ledger keeps the truth: in memory, or as NDJSON on a writer, or not at all. With none, whoever makes
// lines for every PDU saves himself the trouble.
type ledger struct {
	none  bool
	lines chunks[Line]
	out   *bufio.Writer
	buf   []byte
	err   error // the first of the writer
}

func newLedger(cfg *Config) ledger {
	if cfg.CountOnly || cfg.Truth == nil {
		return ledger{none: cfg.CountOnly}
	}
	return ledger{out: bufio.NewWriterSize(cfg.Truth, 1<<18)}
}

func (l *ledger) add(line Line) {
	if l.none {
		return
	}
	if l.out == nil {
		l.lines.add(line)
		return
	}
	l.buf = line.appendJSON(l.buf[:0])
	if _, err := l.out.Write(l.buf); err != nil && l.err == nil {
		l.err = err
	}
}

func (l *ledger) flush() error {
	if l.out != nil {
		if err := l.out.Flush(); err != nil && l.err == nil {
			l.err = err
		}
	}
	return l.err
}

// appendJSON writes what json.Marshal would, apart from the order of the fields, and a line feed.
// Octets over 0x7F of addresses and ids are taken for Latin-1.
func (l *Line) appendJSON(b []byte) []byte {
	b = append(append(b, `{"type":"`...), l.Type...)
	b = l.At.UTC().AppendFormat(append(b, `","at":"`...), "2006-01-02T15:04:05.000000Z")
	b = append(b, '"')
	b = appendUint(b, "n", l.N)
	b = appendUint(b, "d", l.D)
	b = appendUint(b, "conn", uint64(l.Conn))
	b = appendUint(b, "seq", uint64(l.Seq))
	b = appendString(b, "source", l.Source)
	b = appendString(b, "dest", l.Dest)
	b = appendUint(b, "class", uint64(l.Class))
	b = appendUint(b, "registered_delivery", uint64(l.RegisteredDelivery))
	b = appendString(b, "text", l.Text)
	b = appendUint(b, "part", uint64(l.Part))
	b = appendUint(b, "parts", uint64(l.Parts))
	b = appendString(b, "joined_by", l.JoinedBy)
	b = appendString(b, "ref", l.Ref)
	b = appendString(b, "status", l.Status)
	b = appendString(b, "message_id", l.MessageID)
	if l.Ignored {
		b = append(b, `,"ignored":true`...)
	}
	b = appendString(b, "kind", string(l.Kind))
	b = appendUint(b, "command", uint64(l.Command))
	b = appendString(b, "tlv_id", l.TLVID)
	b = appendString(b, "text_id", l.TextID)
	b = appendString(b, "word", l.Word)
	b = appendString(b, "state", l.State)
	if l.MessageState != nil {
		b = strconv.AppendInt(append(b, `,"message_state":`...), int64(*l.MessageState), 10)
	}
	b = appendUint(b, "length", uint64(l.Length))
	b = appendString(b, "sum", l.Sum)
	b = appendUint(b, "sends", uint64(l.Sends))
	b = appendUint(b, "latency_us", uint64(l.LatencyUS))
	b = appendString(b, "event", l.Event)
	b = appendString(b, "drop", string(l.Drop))
	b = appendUint(b, "pending", uint64(l.Pending))
	return append(b, '}', '\n')
}

func appendUint(b []byte, name string, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = append(append(append(b, ',', '"'), name...), '"', ':')
	return strconv.AppendUint(b, v, 10)
}

func appendString(b []byte, name, v string) []byte {
	if v == "" {
		return b
	}
	b = append(append(append(b, ',', '"'), name...), '"', ':', '"')
	for i := range len(v) {
		if c := v[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}
