package control

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"esmed/receipt"
	"esmed/statemachine"
)

func diagnosis(d *statemachine.SMSCDiagnosis) Diagnosis {
	w := Diagnosis{
		SMSC: d.SMSC, Account: d.Account, Receipts: d.Receipts, ReceiptsLeft: d.Left, WithoutID: d.WithoutID,
		Open: d.Open, OpenWithoutID: d.NoID, Controls: d.Controls,
		Today: triedRules(d, &d.Today), Proposals: make([]TriedRules, len(d.Proposals)),
		TLV: triedLists(d.TLV), Text: triedLists(d.Text), Timezone: diagnosedZone(d), Notes: diagnosisNotes(d),
	}
	for i := range d.Proposals {
		w.Proposals[i] = triedRules(d, &d.Proposals[i])
		w.Proposals[i].Warnings = warnings(d, &d.Proposals[i])
	}
	if d.Elsewhere > 0 {
		w.Elsewhere = &OtherAccount{Account: d.ElsewhereAccount, Receipts: d.Elsewhere}
	}
	return w
}

func triedLists(trials []statemachine.Trial) []TriedList {
	lists := make([]TriedList, len(trials))
	for i := range trials {
		lists[i] = TriedList{Rules: ruleTexts(trials[i].Rules), Fits: Fits(trials[i].Fits)}
	}
	return lists
}

func triedRules(d *statemachine.SMSCDiagnosis, p *statemachine.Proposal) TriedRules {
	w := TriedRules{
		TLV: ruleTexts(p.TLV), Text: ruleTexts(p.Text), Quality: string(p.Quality), Fits: Fits(p.Fits), Lost: p.Lost,
		Warnings: []string{}, Examples: make([]DiagnosedReceipt, len(p.Examples)),
	}
	w.Config = configLine(d.SMSC, "message_id", messageIDValue(w.TLV, w.Text))
	for i, x := range p.Examples {
		w.Examples[i] = DiagnosedReceipt{
			Result: string(x.Result), Confirmed: x.Confirmed, Inbox: inboxRun + strconv.FormatUint(x.Reception, 10),
			TLVID: orNull(x.TLVID), TextID: orNull(x.TextID), By: x.By,
			Message: string(x.Ref.Message), Part: x.Ref.Part, Attempt: x.Ref.Attempt, MessageID: x.MessageID,
		}
	}
	return w
}

// ruleTexts writes rules as the configuration has them.
func ruleTexts(rules receipt.IDRules) []string {
	texts := make([]string, len(rules))
	for i, r := range rules {
		switch {
		case r.N != 0:
			texts[i] = fmt.Sprintf("{%s: %d}", r.Name, r.N)
		case r.Sep != "":
			texts[i] = fmt.Sprintf("{%s: %q}", r.Name, r.Sep)
		default:
			texts[i] = r.Name
		}
	}
	return texts
}

// messageIDValue is the value of rules.message_id: one list where both are equal.
func messageIDValue(tlv, text []string) string {
	tlvs, texts := "["+strings.Join(tlv, ", ")+"]", "["+strings.Join(text, ", ")+"]"
	if tlvs == texts {
		return tlvs
	}
	return "{tlv: " + tlvs + ", text: " + texts + "}"
}

func configLine(smsc, key, value string) ConfigLine {
	return ConfigLine{
		Path: fmt.Sprintf("smscs[%s].rules.%s", smsc, key), Value: value,
		Line: fmt.Sprintf("rules: {%s: %s}", key, value),
	}
}

// warnings say why a proposal is not to be taken up blindly.
func warnings(d *statemachine.SMSCDiagnosis, p *statemachine.Proposal) []string {
	list := []string{}
	warn := func(when bool, format string, args ...any) {
		if when {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	warn(p.Unique < statemachine.EnoughReceipts, "the evidence is thin: it matches only %d", p.Unique)
	warn(p.Lost > 0, "it would no longer match %d of %d receipts that the rules in force matched", p.Lost, d.Controls)
	warn(p.Confirmed == 0, "no address confirms it")
	warn(p.Several > 0, "%d would fit several messages and stay ambiguous", p.Several)
	warn(p.Contradicted > 0, "%d would fit a message with another address", p.Contradicted)
	return list
}

func diagnosisNotes(d *statemachine.SMSCDiagnosis) []string {
	notes := []string{}
	note := func(when bool, format string, args ...any) {
		if when {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	note(d.Left > 0, "%d more receipts wait: the oldest were looked at", d.Left)
	note(d.WithoutID > 0, "%d have no id, or a word for none: no rule for ids can match them", d.WithoutID)
	note(d.NoID > 0, "%d attempts were accepted without an id: no rule for ids can match their receipts", d.NoID)
	note(d.Receipts > 0 && d.Open == 0, "no message of the account waits for a receipt: these may be about messages of somebody else, or long past")
	note(d.Today.Unique > 0, "the rules in force match %d that came before they did: reprocess judges them again", d.Today.Unique)
	note(d.Today.Contradicted > 0, "%d fit one message under the rules in force, but name another address: see rules.address_check", d.Today.Contradicted)
	note(d.Elsewhere > 0, "%d fit open messages of account %q under the rules in force: if both are doors to one SMSC, give them the same account", d.Elsewhere, d.ElsewhereAccount)
	return notes
}

func diagnosedZone(d *statemachine.SMSCDiagnosis) DiagnosedZone {
	z := &d.Zone
	w := DiagnosedZone{Configured: z.Configured, Agrees: z.Agrees, Receipts: z.Receipts, Offsets: make([]DiagnosedOffset, len(z.Offsets))}
	for i, o := range z.Offsets {
		w.Offsets[i] = DiagnosedOffset{Offset: offsetText(o.Offset), Receipts: o.Receipts}
	}
	if z.Timezone != "" {
		line := configLine(d.SMSC, "timezone", z.Timezone)
		w.Config = &line
	}
	return w
}

// offsetText writes a distance from UTC as +03:00.
func offsetText(d time.Duration) string {
	sign := '+'
	if d < 0 {
		sign, d = '-', -d
	}
	return fmt.Sprintf("%c%02d:%02d", sign, int(d/time.Hour), int(d/time.Minute)%60)
}
