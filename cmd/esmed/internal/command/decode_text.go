package command

import (
	"strconv"

	"esmed/cmd/esmed/internal/capture"
	"esmed/receipt"
)

// explained prints one explanation.
func (o output) explained(e capture.Explanation) error {
	if !o.text() {
		return o.object(e)
	}
	switch {
	case e.PDU == nil && e.Error != nil:
		o.printf("line %d: %s\n", e.Line, clean(*e.Error))
		return nil
	case e.At != nil:
		o.printf("#%d  %s  %s > %s  %s, %s\n", e.Line, clock(*e.At), e.From, e.To, clean(e.CommandID), plural(len(e.PDU), "octet"))
		if e.Answers != 0 {
			o.row("answers", "#"+strconv.Itoa(e.Answers))
		}
	case e.PDU != nil:
		o.printf("%s, %s\n", clean(e.CommandID), plural(len(e.PDU), "octet"))
	}
	if e.PDU != nil {
		o.fields(e.PDU, "  ")
	}
	if t := e.Text; t != nil && (e.Receipt == nil || e.Receipt.Kind == receipt.Message) {
		o.row("text", quote(t.Text)+textQuality(t))
	}
	if r := e.Receipt; r != nil {
		o.reading(r, e.ErrWord)
	}
	for _, note := range e.Notes {
		o.row("note", clean(note))
	}
	if len(e.Conclusion) > 0 {
		o.printf("concluded\n")
	}
	for _, words := range e.Conclusion {
		o.printf("  %s\n", clean(words))
	}
	return nil
}

// textQuality says how a text was read.
func textQuality(t *capture.Text) string {
	switch {
	case t.Alphabet == "":
		return " (data_coding announces no alphabet: octets shown as Latin-1)"
	case !t.Exact:
		return " (" + t.Alphabet + ", not all of it could be read so)"
	}
	return " (" + t.Alphabet + ")"
}

func (o output) row(name, value string) { o.printf("  %-24s %s\n", name, value) }

// reading prints a receipt's reading and the word for its error code, what is absent left out.
func (o output) reading(r *receipt.Reading, errWord string) {
	o.printf("read as %s\n", r.Kind)
	for _, x := range []struct{ name, value string }{
		{"id", r.ID}, {"text_id", pointed(r.TextID)}, {"tlv_id", pointed(r.TLVID)}, {"raw_stat", r.RawStat},
		{"state", r.State.String()}, {"err", r.Err}, {"err_word", errWord}, {"submit_date", r.SubmitDate.String()}, {"done_date", r.DoneDate.String()},
		{"sub", r.Sub}, {"dlvrd", r.Dlvrd}, {"text", r.Text},
	} {
		if x.value != "" {
			o.row(x.name, clean(x.value))
		}
	}
}

func pointed(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
