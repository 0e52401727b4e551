package capture

import (
	"fmt"
	"strings"
	"time"

	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
)

// Conclude says what the SMSC's rules make of one PDU that stands alone: of an answer to submit_sm what becomes of
// the message, of a receipt by which ids its message is looked for, and what it counts for once that is found. The
// last is the state machine's own verdict, about a message that was accepted and of which nothing was reported yet.
func (r *Rules) Conclude(pdu []byte) []string {
	p, err := smpp.Decode(pdu)
	if err != nil {
		return nil
	}
	switch p := p.(type) {
	case *smpp.SubmitSMResp:
		return answerWords(p.CommandStatus, p.MessageID)
	case *smpp.DeliverSM, *smpp.DataSM:
		return r.concludeDelivery(pdu)
	}
	return nil
}

// answerWords say what becomes of a message whose submit_sm is answered so.
func answerWords(status smpp.Status, id string) []string {
	switch {
	case status == smpp.StatusOK && receipt.MessageID([]byte(id)) == "":
		return []string{"accepted, but without an id: no receipt can find it, an exception is opened"}
	case status == smpp.StatusOK:
		return []string{fmt.Sprintf("accepted: receipts find it by the id %q", id)}
	case status.AboutSession():
		return []string{"refused because of the session: bind again, the message is kept and sent again"}
	case status.Temporary():
		return []string{"refused for now: it is sent again"}
	}
	return []string{"refused for good, unless retry.statuses names the status"}
}

func (r *Rules) concludeDelivery(pdu []byte) []string {
	got := receipt.Decode(r.Decode(pdu), &r.SMSC.Receipt)
	switch {
	case got.Kind == receipt.Undecodable:
		return []string{"kept raw, and an exception is opened: it names neither an id nor a state"}
	case !got.IsEvidence():
		return []string{"no receipt: it judges no message"}
	}
	words := r.idWords(&got)
	verdict, err := r.verdict(pdu)
	if err != nil || verdict == "" {
		return words
	}
	return append(words, "once its message is found: "+verdict)
}

// idWords say by which ids a receipt's message is looked for, in which forms.
func (r *Rules) idWords(got *receipt.Receipt) []string {
	var words []string
	if got.ClientRef != "" {
		words = append(words, fmt.Sprintf("looked for by our reference %q", got.ClientRef))
	}
	for _, x := range []struct {
		name, id string
		tlv      bool
	}{{statemachine.ByTLVID, got.TLVID, true}, {"the text's id", got.TextID, false}} {
		if x.id == "" {
			continue
		}
		forms := r.SMSC.Receipt.ReceiptKeys(x.id, x.tlv)
		if len(forms) == 0 {
			words = append(words, fmt.Sprintf("%s %q is not looked for: it is no id under these rules", x.name, x.id))
			continue
		}
		how := make([]string, len(forms))
		for i, f := range forms {
			if how[i] = "as received"; len(f.Rules) > 0 {
				how[i] = "under " + strings.Join(f.Rules, ", ")
			}
		}
		words = append(words, fmt.Sprintf("looked for by %s %q, %s", x.name, x.id, strings.Join(how, ", then ")))
	}
	if len(words) == 0 {
		return []string{"it has no id: it waits in the inbox for a person"}
	}
	return words
}

// verdict asks the state machine what the delivery counts for, given to a message by an operator, so that ids and
// addresses do not matter.
func (r *Rules) verdict(pdu []byte) (string, error) {
	const smsc, message, id = "smsc", "message", "id"
	rules := r.SMSC
	rules.SMSC, rules.Account = smsc, smsc
	at := time.Unix(0, 0).UTC()
	mem := statemachine.NewMemory(statemachine.Fold{Decode: r.Decode})
	var eff statemachine.Effects
	apply := func(seq uint64, f statemachine.Fact) error {
		return mem.Apply(statemachine.Record{Seq: seq, At: at, Fact: f}, &eff)
	}
	const reception = 5
	for i, f := range []statemachine.Fact{
		&statemachine.Rules{Parser: receipt.ParserVersion, SMSCs: []statemachine.SMSCRules{rules}},
		&statemachine.MessageAccepted{Message: message, SMSC: smsc, Account: smsc, RegisteredDelivery: 1, Parts: make([]statemachine.PartContent, 1)},
		&statemachine.Sent{Message: message, Part: 1, Attempt: 1, SMSC: smsc},
		&statemachine.SubmitResp{Message: message, Part: 1, Attempt: 1, SMSC: smsc},
		&statemachine.Reception{SMSC: smsc, Account: smsc, PDU: pdu, Length: uint32(len(pdu))},
	} {
		if err := apply(uint64(i+1), f); err != nil {
			return "", err
		}
	}
	for key := range mem.Inbox {
		err := apply(reception+1, &statemachine.Operator{
			Action: statemachine.ActionAssign, Row: key, Target: statemachine.AttemptRef{Message: message, Part: 1},
		})
		if err != nil {
			return "", err
		}
	}
	for i := range mem.Decisions {
		if d := &mem.Decisions[i]; d.Record == reception && d.Message == message {
			return verdictWords(d, mem.Messages[message].Part(1)), nil
		}
	}
	return "", nil
}

// verdictWords say what evidence counts for about a part.
func verdictWords(d *statemachine.Decision, p *statemachine.Part) string {
	switch {
	case d.Verdict != statemachine.VerdictApplied:
		_, why, _ := strings.Cut(d.Why, "; ") // behind that an operator gave it
		return string(d.Verdict) + ", did not count: " + why
	case p.Final():
		return fmt.Sprintf("applied, state %s, which is final", d.To)
	}
	return fmt.Sprintf("applied, state %s, which is not final", d.To)
}
