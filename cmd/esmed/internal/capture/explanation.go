package capture

import (
	"encoding/hex"
	"time"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/smpp/text"
)

// Explanation is all that is said of one PDU, or of one receipt's text. Its first five keys are fixed.
type Explanation struct {
	Line      int              `json:"line"`       // where it was read; of a capture the PDU's number
	CommandID string           `json:"command_id"` // "" for a text, and for what is no PDU
	Receipt   *receipt.Reading `json:"receipt"`    // null for what delivers nothing
	Notes     []string         `json:"notes"`      // what was tolerated; never null
	Error     *string          `json:"error"`      // what is wrong with it; null when nothing is

	ErrWord    string   `json:"err_word,omitempty"` // the rules' word for the receipt's err
	Fields     []Field  `json:"fields,omitempty"`
	Text       *Text    `json:"text,omitempty"`       // what a message says
	Conclusion []string `json:"conclusion,omitempty"` // what the SMSC's rules make of it

	At      *time.Time `json:"at,omitempty"` // of a PDU of a capture
	From    string     `json:"from,omitempty"`
	To      string     `json:"to,omitempty"`
	Answers int        `json:"answers,omitempty"` // number of the request that it answers

	PDU []byte `json:"-"` // nil when there is none
}

// Field is one field of a PDU.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`         // readable; "(secret)" for a password
	Hex   string `json:"hex,omitempty"` // the octets as received; not of a secret
}

// Text is what the text of a message says.
type Text struct {
	Text     string `json:"text"`
	Alphabet string `json:"alphabet"` // gsm7, ascii, latin1, ucs2, or "" where data_coding announces none
	Exact    bool   `json:"exact"`    // false: not all of it could be read as announced
}

// Explain explains one PDU, but for what the rules conclude from it. A body that cannot be taken apart has its
// reading, and an error; of one longer than the daemon keeps there is only what it keeps.
func (r *Rules) Explain(octets []byte) Explanation {
	if len(octets) < smpp.HeaderLen {
		return Explanation{Notes: []string{}}.failed(tooShort(len(octets)))
	}
	if len(octets) > maxPDU && smpp.ParseHeader(octets).CommandLength > maxPDU {
		octets = octets[:maxPDU]
	}
	h := smpp.ParseHeader(octets)
	e := Explanation{Notes: []string{}, PDU: octets, CommandID: h.CommandID.String(), Fields: fields(octets)}
	switch h.CommandID {
	case smpp.CommandDeliverSM, smpp.CommandDataSM:
		got := receipt.Decode(r.Decode(octets), &r.SMSC.Receipt)
		e = e.reading(&got)
	default:
		e.Notes = append(e.Notes, noted(e.Fields)...)
	}
	if _, err := smpp.Decode(octets); err != nil {
		e = e.failed(err)
	} else {
		e.Text = r.text(octets)
	}
	return e
}

// ExplainText explains a receipt's text, as a deliver_sm with nothing else would carry it.
func (r *Rules) ExplainText(s string) Explanation {
	const receiptClass = 0x04
	d := receipt.Delivery{CommandID: uint32(smpp.CommandDeliverSM), ESMClass: receiptClass, ShortMessage: []byte(s)}
	got := receipt.Decode(d, &r.SMSC.Receipt)
	e := Explanation{Line: 1}.reading(&got)
	pdu, err := smpp.Append(nil, &smpp.DeliverSM{ESMClass: receiptClass, TLVs: payload(s)})
	if err == nil {
		e.Conclusion = r.Conclude(pdu)
	}
	return e
}

// payload carries a text of any length.
func payload(s string) smpp.TLVs {
	return smpp.TLVs{{Tag: smpp.TagMessagePayload, Value: []byte(s)}}
}

// ExplainFound explains what ReadText found.
func (r *Rules) ExplainFound(f Found) Explanation {
	if f.Err != nil {
		return Explanation{Line: f.Line, Notes: []string{}}.failed(f.Err)
	}
	e := r.Explain(f.PDU)
	e.Line, e.Notes, e.Conclusion = f.Line, append(e.Notes, f.Notes...), r.Conclude(f.PDU)
	return e
}

func (e Explanation) reading(r *receipt.Receipt) Explanation {
	reading := r.Reading()
	e.Receipt, e.ErrWord, e.Notes = &reading, r.ErrWord, append([]string{}, r.Notes...)
	return e
}

func (e Explanation) failed(err error) Explanation {
	said := err.Error()
	e.Error = &said
	return e
}

// noteRow and errorRow name the rows of smpp.Fields that are no fields.
const (
	noteRow  = "note"
	errorRow = "error"
)

func fields(pdu []byte) []Field {
	rows := smpp.Fields(pdu)
	all := make([]Field, len(rows))
	for i, row := range rows {
		all[i] = Field{Name: row.Name, Value: row.Value, Hex: hex.EncodeToString(row.Octets)}
		if row.Secret {
			all[i].Value = "(secret)"
		}
	}
	return all
}

func noted(all []Field) []string {
	var notes []string
	for _, f := range all {
		if f.Name == noteRow {
			notes = append(notes, f.Value)
		}
	}
	return notes
}

// text reads the text of a message; nil where a PDU carries none.
func (r *Rules) text(pdu []byte) *Text {
	var body []byte
	var coding byte
	var tlvs smpp.TLVs
	var class byte
	p, _ := smpp.Decode(pdu)
	switch p := p.(type) {
	case *smpp.SubmitSM:
		body, coding, class, tlvs = p.ShortMessage, p.DataCoding, p.ESMClass, p.TLVs
	case *smpp.DeliverSM:
		body, coding, class, tlvs = p.ShortMessage, p.DataCoding, p.ESMClass, p.TLVs
	case *smpp.DataSM:
		coding, class, tlvs = p.DataCoding, p.ESMClass, p.TLVs
	default:
		return nil
	}
	if t, ok := tlvs.Find(smpp.TagMessagePayload); ok && len(body) == 0 {
		body = t.Value
	}
	if class&udhi != 0 && len(body) > 0 && int(body[0]) < len(body) {
		body = body[1+int(body[0]):]
	}
	if len(body) == 0 {
		return nil
	}
	said, exact := text.Decode(body, coding, r.Alphabet)
	return &Text{Text: said, Alphabet: string(text.AlphabetOf(coding, r.Alphabet)), Exact: exact}
}

// udhi is the bit of esm_class that says that a text begins with a user data header (SMPP v3.4 §5.2.12).
const udhi = 0x40
