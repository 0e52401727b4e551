package command

import (
	"encoding/hex"
	"fmt"
	"strings"

	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/smpp"
)

// event tells one record: what happened, the PDU field by field, and what was concluded.
func (o output) event(e control.Event, pdus bool) {
	o.printf("%d  %s  %s: %s\n", e.Seq, clock(e.At), clean(e.Type), eventWords(e))
	if e.PossibleRepeatOf != 0 {
		o.printf("    reads as record %d did, within ten minutes: possibly the same message again\n", e.PossibleRepeatOf)
	}
	if octets, err := hex.DecodeString(e.PDU); err == nil && len(octets) > 0 && pdus {
		o.printf("    PDU of %s:\n", plural(len(octets), "octet"))
		o.fields(octets, "      ")
	}
	for _, d := range e.Decisions {
		o.printf("    %s\n", decisionWords(e, d))
	}
}

// fields explains a PDU, a field a line.
func (o output) fields(pdu []byte, indent string) {
	for _, f := range smpp.Fields(pdu) {
		value := f.Value
		switch {
		case f.Secret:
			value = "(secret)"
		case f.Text:
			value = textWords(f)
		}
		o.printf("%s%-24s %s\n", indent, clean(f.Name), or(value, "-"))
	}
}

// textWords shows a message text: as it reads when all of it is printable ASCII, as receipts are, in hex
// when not.
func textWords(f smpp.Field) string {
	size := plural(len(f.Octets), "octet")
	for _, c := range f.Octets {
		if c < ' ' || c > '~' {
			return fmt.Sprintf("%s (%s of text)", f.Value, size)
		}
	}
	if len(f.Octets) == 0 {
		return ""
	}
	return fmt.Sprintf("%q (%s of text)", f.Octets, size)
}

// eventWords says what a record says happened.
func eventWords(e control.Event) string {
	on := onSession(e)
	switch e.Type {
	case "accepted":
		if e.Detail != "" {
			return "taken from the application for " + clean(e.SMSC) + ", " + clean(e.Detail)
		}
		return "taken from the application for " + clean(e.SMSC)
	case "sent":
		return fmt.Sprintf("%s left%s, sequence_number %s", attemptWords(e), on, sequence(e))
	case "submit_resp":
		return fmt.Sprintf("%s answered %s%s with %s%s", clean(e.SMSC), attemptWords(e), on, clean(e.Detail), givenID(e))
	case "in_doubt":
		if e.Detail == restored {
			return fmt.Sprintf("%s may have left after the backup was made that this store was restored from", attemptWords(e))
		}
		return fmt.Sprintf("the answer to %s%s was lost (%s)", attemptWords(e), on, clean(e.Detail))
	case "expired":
		return "its validity ended in our queue"
	case "reception":
		return receptionWords(e) + "; received" + on + detail(e)
	case "cutoff":
		return fmt.Sprintf("the window of part %d is over", e.Part)
	case "operator":
		return operatorWords(e)
	case "retry":
		return "a waiting receipt was looked at again"
	case "retention", "restored":
		return clean(e.Detail)
	case "query_resp":
		return fmt.Sprintf("%s answered query_sm for %s%s with %s", clean(e.SMSC), attemptWords(e), on, clean(e.Detail))
	case "cancel_resp":
		return fmt.Sprintf("%s answered cancel_sm for %s%s with %s", clean(e.SMSC), attemptWords(e), on, clean(e.Detail))
	}
	return or(strings.TrimPrefix(detail(e), "; "), "no more is known of this type") + on
}

// operatorWords say who decided what, and why.
func operatorWords(e control.Event) string {
	d := e.Operator
	if d == nil {
		return "somebody decided something"
	}
	words := who(d.By) + " " + actionWords(d, e.SMSC)
	if d.Reason != "" {
		words += ", because: " + clean(d.Reason)
	}
	return words
}

// actionWords are the predicates of decisions; smsc is whose queue they are about.
func actionWords(d *control.Decided, smsc string) string {
	about := or(d.Exception, "a waiting receipt")
	switch d.Action {
	case "assign":
		return fmt.Sprintf("assigned %s to message %s", about, clean(d.Target))
	case "dismiss":
		return fmt.Sprintf("dismissed %s: nothing is to be done", about)
	case "resend":
		return fmt.Sprintf("decided about %s that it is sent once more", about)
	case "accepted":
		return fmt.Sprintf("decided about %s that the SMSC accepted it as %s", about, quote(d.MessageID))
	case "not_sent":
		return fmt.Sprintf("decided about %s that it never left", about)
	case "take":
		return fmt.Sprintf("decided about %s that what contradicts counts", about)
	case "undo":
		return fmt.Sprintf("took back what was decided about %s", about)
	case "cancel":
		return "cancelled the message"
	case "drop":
		return fmt.Sprintf("dropped %s that waited for %s", plural(d.Messages, "message"), clean(smsc))
	case "hold":
		return "held the queue of " + clean(smsc)
	case "release":
		return "released the queue of " + clean(smsc)
	case "reprocess":
		return fmt.Sprintf("had %s and %s judged again under the rules in force", plural(d.Rows, "waiting receipt"), plural(d.Messages, "message"))
	}
	return clean(d.Action) + " " + about
}

func onSession(e control.Event) string {
	if e.Session == "" {
		return ""
	}
	return " on " + clean(e.Session)
}

func detail(e control.Event) string {
	if e.Detail == "" {
		return ""
	}
	return "; " + clean(e.Detail)
}

func attemptWords(e control.Event) string {
	if e.Part > 1 {
		return fmt.Sprintf("part %d, attempt %d", e.Part, e.Attempt)
	}
	return fmt.Sprintf("attempt %d", e.Attempt)
}

func sequence(e control.Event) string {
	if e.SequenceNumber == nil {
		return "unknown"
	}
	return fmt.Sprint(*e.SequenceNumber)
}

// givenID is the message_id in a submit_sm_resp.
func givenID(e control.Event) string {
	octets, err := hex.DecodeString(e.PDU)
	if err != nil {
		return ""
	}
	if p, err := smpp.Decode(octets); err == nil {
		if resp, ok := p.(*smpp.SubmitSMResp); ok && resp.MessageID != "" {
			return ", message_id " + quote(resp.MessageID)
		}
	}
	return ""
}

func receptionWords(e control.Event) string {
	r := e.Receipt
	if r == nil {
		return clean(e.SMSC) + " sent something that delivers nothing; kept as received"
	}
	switch r.Kind {
	case receipt.DeliveryReceipt:
		return fmt.Sprintf("%s reported %s", clean(e.SMSC), readingWords(r))
	case receipt.Intermediate:
		return fmt.Sprintf("%s sent an intermediate notification: %s", clean(e.SMSC), readingWords(r))
	case receipt.Undecodable:
		return clean(e.SMSC) + " sent something that cannot be read; kept as received"
	case receipt.Message:
		return clean(e.SMSC) + " delivered a message from a mobile"
	}
	return fmt.Sprintf("%s delivered: %s", clean(e.SMSC), r.Kind)
}

// readingWords say what a receipt says, in the SMSC's words.
func readingWords(r *control.Receipt) string {
	state := r.State.String()
	word := r.RawStat
	switch {
	case word == "":
		word = state
	case state != "" && state != word:
		word += " (" + state + ")"
	}
	whose := " without an id"
	if r.ID != "" {
		whose = " for id " + quote(r.ID)
	}
	words := []string{or(word, "no state") + whose}
	if r.Err != "" {
		words = append(words, errWords(r.Err, r.ErrWord))
	}
	if r.DoneDateRaw != "" {
		words = append(words, "done date "+clean(r.DoneDateRaw))
	}
	if len(r.Notes) > 0 {
		words = append(words, "read with tolerance: "+clean(strings.Join(r.Notes, "; ")))
	}
	return strings.Join(words, ", ")
}

// errWords are the SMSC's error code and, where rules.errors has one, the word for it.
func errWords(code, word string) string {
	if word == "" {
		return "err " + clean(code)
	}
	return fmt.Sprintf("err %s (%s)", clean(code), clean(word))
}

// correlationWords say whether evidence found its message, for verdicts that leave that open.
var correlationWords = map[string]string{
	"unmatched":        "no message has this id: it waits in the inbox",
	"ambiguous":        "it fits more than one message: nothing was applied",
	"address_mismatch": "the id fits, but the address is another one: it waits in the inbox",
	"undecodable":      "it cannot be read: nothing was applied",
}

// decisionWords say what was concluded from a record.
func decisionWords(e control.Event, d control.Decision) string {
	var words []string
	if d.Record != e.Seq && d.Record != 0 {
		words = append(words, fmt.Sprintf("about record %d", d.Record))
	}
	switch d.Correlation {
	case "matched":
		if d.By != "request" && d.By != "" {
			words = append(words, matchedWords(d))
		}
	case "not_a_receipt", "":
	default:
		words = append(words, or(correlationWords[d.Correlation], clean(d.Correlation)))
	}
	if v := verdictWords(d); v != "" {
		words = append(words, v)
	}
	if d.From != d.To {
		words = append(words, fmt.Sprintf("state %s, was %s", or(d.To, "none"), or(d.From, "none")))
	}
	if why := clean(d.Why); !strings.Contains(strings.Join(words, "; "), why) {
		words = append(words, why)
	}
	if d.Correlation == "not_a_receipt" {
		words = append(words, "no receipt: judges no message")
	}
	return fmt.Sprintf("concluded: %s [rules %d, parser %s]", strings.Join(words, "; "), d.Rules, clean(d.Parser))
}

func matchedWords(d control.Decision) string {
	to := fmt.Sprintf("part %d of %s", d.Part, clean(d.Message))
	if d.Attempt > 0 {
		to = fmt.Sprintf("attempt %d of %s", d.Attempt, to)
	}
	words := foundWords(d) + " to " + to
	if d.By != "operator" && d.Candidates > 1 {
		words += fmt.Sprintf(", one of %d told apart by %s", d.Candidates, or(d.NarrowedBy, "nothing"))
	}
	return words
}

// foundWords say by what evidence found its message.
func foundWords(d control.Decision) string {
	switch d.By {
	case "operator":
		return "given by an operator's decision"
	case "request":
		return "the answer to our own question"
	}
	words := fmt.Sprintf("matched by %s %s", clean(d.By), quote(d.ExternalID))
	if len(d.Rule) > 0 {
		words += " under " + clean(strings.Join(d.Rule, ", "))
	}
	return words
}

func verdictWords(d control.Decision) string {
	switch d.Verdict {
	case "":
		return ""
	case "applied":
		return "applied"
	case "duplicate":
		if d.RepeatOf != nil {
			return fmt.Sprintf("duplicate, did not count: the same event as record %d", *d.RepeatOf)
		}
		return "duplicate, did not count: the same event again"
	case "held":
		return "held"
	case "conflict":
		return "conflict, did not count"
	}
	return clean(d.Verdict) + ", did not count"
}

// withWhy adds why, if that says more.
func withWhy(words, why string) string {
	if strings.Contains(words, clean(why)) {
		return words
	}
	return words + ": " + clean(why)
}
