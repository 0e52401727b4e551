package control

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"esmed/receipt"
	"esmed/statemachine"
)

// appendAccepted appends, as a Message in JSON, a message as it stands with nothing but its accepted record, and a line
// feed: nearly all answers are that, and making a Message first costs more than all else that is done for one.
func appendAccepted(b []byte, m *statemachine.MessageAccepted, at Accepted) []byte {
	b = appendText(append(b, `{"id":`...), string(at.Message))
	b = appendText(append(b, `,"ref":`...), m.Ref)
	b = appendText(append(b, `,"smsc":`...), m.SMSC)
	b = appendText(append(b, `,"account":`...), m.Account)
	b = appendText(append(b, `,"to":`...), m.To)
	b = append(appendAddress(append(b, `,"source":{`...), m.Source), '}')
	b = appendAddress(append(b, `,"destination":{`...), m.Dest)
	b = appendText(append(b, `,"e164":`...), m.E164)
	b = append(b, `},"state":"QUEUED","final":false,"closed":false,"basis":"none","reason":`...)
	b = appendReason(b, m, at)
	b = strconv.AppendUint(append(b, `,"evidence":[`...), at.Seq, 10)
	b = strconv.AppendUint(append(b, `],"registered_delivery":`...), uint64(m.RegisteredDelivery), 10)
	b = appendInstant(append(b, `,"maybe_doubled":false,"accepted_at":`...), at.At)
	b = appendInstant(append(b, `,"submitted_at":null,"finalised_at":null,"updated_at":`...), at.At)
	b = append(b, `,"acceptance":null,"receipt":null,"verification":null,"receptions":`+
		`{"receipts":0,"duplicate":0,"repeat":0,"late":0,"stale":0,"unordered":0,"noted":0,"conflict":0},`+
		`"exceptions":[],"parts":[`...)
	for i := range m.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"part":`...), int64(i+1), 10)
		b = append(b, `,"state":"QUEUED","attempts":[]}`...)
	}
	return append(b, "]}\n"...)
}

// appendReason appends why it stands there, as Message.Reason of statemachine tells it.
func appendReason(b []byte, m *statemachine.MessageAccepted, at Accepted) []byte {
	start := len(b)
	b = append(b, '"')
	if len(m.Parts) > 1 {
		b = append(b, "part 1: "...)
	}
	b = statemachine.AppendWaits(b, m.SMSC, at.Seq)
	if text := b[start+1:]; !plain(text) {
		return appendText(b[:start], string(text))
	}
	return append(b, '"')
}

func appendAddress(b []byte, a receipt.Address) []byte {
	b = appendText(append(b, `"addr":`...), a.Addr)
	b = strconv.AppendUint(append(b, `,"ton":`...), uint64(a.TON), 10)
	return strconv.AppendUint(append(b, `,"npi":`...), uint64(a.NPI), 10)
}

func appendInstant(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

// appendText appends a string in JSON, as encoding/json writes it where it does not escape for HTML.
func appendText(b []byte, text string) []byte {
	if plain(text) {
		return append(append(append(b, '"'), text...), '"')
	}
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string: it cannot fail
	b = buf.Bytes()
	return b[:len(b)-1] // without the line feed
}

// plain reports whether a text is the same in JSON: printable ASCII with nothing to escape.
func plain[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
