package statemachine

import "esmed/receipt"

// sample gives ids of answers and of receipts, spread over all.
func (x *examination) sample() (answers, receipts []string) {
	for i := 0; i < len(x.s.waiting); i += len(x.s.waiting)/sampledIDs + 1 {
		for _, id := range [...]string{x.s.waiting[i].tlv, x.s.waiting[i].text} {
			if id != "" {
				receipts = append(receipts, id)
			}
		}
	}
	messages := x.open.messages
	for i := 0; i < len(messages); i += len(messages)/sampledIDs + 1 {
		answers = append(answers, messages[i].attempts[0].id)
	}
	return answers, receipts
}

// withoutID counts receipts whose ids are none, under whatever rules.
func (x *examination) withoutID() (n int) {
	var none receipt.Rules
	for i := range x.s.waiting {
		w := &x.s.waiting[i]
		if len(none.ReceiptKeys(w.tlv, true)) == 0 && len(none.ReceiptKeys(w.text, false)) == 0 {
			n++
		}
	}
	return n
}

// try looks each receipt up by one of its ids alone.
func (x *examination) try(index *openIndex, rules *receipt.Rules, tlv bool) (o Fits) {
	for i := range x.s.waiting {
		w := &x.s.waiting[i]
		id := w.text
		if tlv {
			id = w.tlv
		}
		forms := rules.ReceiptKeys(id, tlv)
		if len(forms) == 0 {
			continue
		}
		var fits int
		var answer Answer
		for _, form := range forms {
			if fits, answer = index.owner(w, form.Key, rules); fits > 0 {
				break
			}
		}
		o.count(fits, answer)
	}
	return o
}

// owner counts the open messages that an id fits, or of one with the beginning of an id the parts, and
// says what the addresses say about the one: of several it is the one that they agree with.
func (x *openIndex) owner(w *waitingReceipt, key receipt.Key, rules *receipt.Rules) (fits int, answer Answer) {
	var last indexedAttempt
	agreeing := 0
	for e := range x.with(key) {
		if fits > 0 && e.message == last.message && (!key.Partial() || x.part(e) == x.part(last)) {
			continue
		}
		m := &x.table.messages[e.message]
		said := Silent
		if rules.AddressCheck != receipt.AddressOff {
			said = CheckAddress(m.source, m.dest, w.source, w.dest)
		}
		if said == Agrees {
			agreeing++
		}
		last, answer = e, said
		fits++
	}
	if agreeing == 1 {
		return 1, Agrees
	}
	return fits, answer
}

func (x *openIndex) part(e indexedAttempt) int32 {
	return x.table.messages[e.message].attempts[e.attempt].part
}

// count counts a receipt whose id fits so many messages.
func (o *Fits) count(fits int, answer Answer) {
	switch {
	case fits == 0:
		o.None++
	case fits > 1:
		o.Several++
	case answer == Refuses:
		o.Contradicted++
	default:
		o.Unique++
		if answer == Agrees {
			o.Confirmed++
		}
	}
}
