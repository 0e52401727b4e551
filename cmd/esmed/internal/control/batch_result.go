package control

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// BatchResult answers one line of a batch. Results come in the order of the lines. Exactly one of ID
// and Error is set; in a dry run a line that would be taken has neither.
type BatchResult struct {
	Line     int      `json:"line" doc:"From first_line; blank lines count but are not answered"`
	ID       string   `json:"id,omitempty"`
	State    string   `json:"state,omitempty" doc:"Of a new message; ask for an existing one's"`
	Existing bool     `json:"existing" doc:"A repeat: the id is the first one's"`
	Error    *Problem `json:"error,omitempty"`
}

// appendResult appends a result in JSON and the end of its line.
func appendResult(b []byte, r *BatchResult) []byte {
	if r.Error != nil {
		buf := bytes.NewBuffer(b)
		enc := json.NewEncoder(buf)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(r) // strings and numbers: it cannot fail
		return buf.Bytes()
	}
	b = strconv.AppendInt(append(b, `{"line":`...), int64(r.Line), 10)
	b = appendWord(b, `,"id":"`, r.ID)
	b = appendWord(b, `,"state":"`, r.State)
	b = strconv.AppendBool(append(b, `,"existing":`...), r.Existing)
	return append(b, "}\n"...)
}

// appendWord appends a member whose value, a word of ours, needs no escapes, unless it is empty.
func appendWord(b []byte, name, word string) []byte {
	if word == "" {
		return b
	}
	return append(append(append(b, name...), word...), '"')
}
