package statemachine

import (
	"slices"
	"time"

	"esmed/receipt"
)

// control is a receipt that an id brought to an attempt.
type control struct {
	seq     uint64 // the reception
	attempt Attempt
}

// readControl is a control whose reception was read.
type readControl struct {
	attempt      Attempt
	tlv, text    string
	submit, done time.Time // the SMSC's wall clocks, in UTC as carrier; zero = none
	received     time.Time // our time
}

// readControls reads the controls' receptions, as far as they are still there.
func (x *examination) readControls(controls []control) ([]readControl, error) {
	rules := x.today.Receipt
	rules.Timezone = ""
	rules.Prepare()
	read := make([]readControl, 0, len(controls))
	for _, c := range controls {
		rec, err := x.d.record(c.seq)
		if err != nil {
			return nil, err
		}
		reception, ok := rec.Fact.(*Reception)
		if !ok {
			continue
		}
		r := receipt.Decode(x.d.fold.Decode(reception.PDU), &rules)
		read = append(read, readControl{
			attempt: c.attempt, tlv: r.TLVID, text: r.TextID,
			submit: r.SubmitDate.Wall, done: r.DoneDate.Wall, received: rec.At,
		})
	}
	return read, nil
}

// holds reports whether one of the receipt's ids names the attempt under rules.
func (c *readControl) holds(rules *receipt.Rules) bool {
	keys := c.attempt.keys(rules)
	named := func(form receipt.IDForm) bool { return slices.Contains(keys, form.Key) }
	return slices.ContainsFunc(rules.ReceiptKeys(c.tlv, true), named) || slices.ContainsFunc(rules.ReceiptKeys(c.text, false), named)
}
