package statemachine_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

// A script is a log in words, a record a line:
//
//	2026-11-30 09:00:00  accepted M1 to=+393331234567
//
// The number of a record is that of its line. Blank lines and those that begin with # do not count.

// began is when scripts without times begin; each record of theirs is a second later.
var began = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

// lab applies scripts to a Memory.
type lab struct {
	t        *testing.T
	mem      *statemachine.Memory
	records  []statemachine.Record
	effects  []statemachine.Effects // by record
	accounts map[string]string
	now      time.Time
}

func newLab(t *testing.T) *lab {
	return &lab{
		t: t, mem: statemachine.NewMemory(statemachine.Fold{Decode: delivery}), accounts: map[string]string{}, now: began,
	}
}

// play applies a script that begins where the last one ended.
func play(t *testing.T, script string) *lab {
	l := newLab(t)
	l.play(script)
	return l
}

func (l *lab) play(script string) {
	for _, line := range strings.Split(script, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			l.apply(l.record(line))
		}
	}
}

// kept gives the effects as they are, without the room that a step left in them.
func kept(eff *statemachine.Effects) statemachine.Effects {
	return statemachine.Effects{
		Messages: owned(eff.Messages), Decisions: owned(eff.Decisions), Index: owned(eff.Index), Inbox: owned(eff.Inbox),
		Exceptions: owned(eff.Exceptions), Unanswered: owned(eff.Unanswered), Queue: owned(eff.Queue),
		Tallies: owned(eff.Tallies), Inbound: owned(eff.Inbound), Windows: owned(eff.Windows), Overdue: owned(eff.Overdue),
		Reprocess: eff.Reprocess, Drop: eff.Drop, Restored: eff.Restored, Hold: eff.Hold, NoEffect: eff.NoEffect,
	}
}

// owned is a copy, nil of nothing.
func owned[E any](s []E) []E { return append([]E(nil), s...) }

func (l *lab) apply(rec statemachine.Record) statemachine.Effects {
	var lent statemachine.Effects
	err := l.mem.Apply(rec, &lent)
	eff := kept(&lent)
	require.NoError(l.t, err)
	l.records, l.effects = append(l.records, rec), append(l.effects, eff)
	return eff
}

func (l *lab) message(id string) *statemachine.Message {
	m := l.mem.Messages[statemachine.ID(id)]
	require.NotNil(l.t, m, id)
	return m
}

// last is the last decision.
func (l *lab) last() statemachine.Decision {
	require.NotEmpty(l.t, l.mem.Decisions)
	return l.mem.Decisions[len(l.mem.Decisions)-1]
}

func (l *lab) exceptions(kind statemachine.ExceptionKind) (open, ended int) {
	for _, x := range l.mem.Exceptions {
		switch {
		case x.Kind != kind:
		case x.Status == statemachine.StatusOpen:
			open++
		default:
			ended++
		}
	}
	return open, ended
}

// record reads a line.
func (l *lab) record(line string) statemachine.Record {
	rec := statemachine.Record{Seq: uint64(len(l.effects)) + 1}
	if at, err := time.Parse(time.DateTime, line[:min(len(line), len(time.DateTime))]); err == nil {
		l.now, line = at, strings.TrimSpace(line[len(time.DateTime):])
	} else {
		l.now = l.now.Add(time.Second)
	}
	rec.At = l.now
	name, rest, _ := strings.Cut(line, " ")
	a := parseArgs(l.t, strings.TrimSpace(rest))
	rec.Fact = l.fact(statemachine.RecordType(name), rest, a)
	return rec
}

func (l *lab) fact(name statemachine.RecordType, rest string, a args) statemachine.Fact {
	ref := a.ref(l.t)
	switch name {
	case statemachine.TypeRules:
		return l.rules(rest)
	case statemachine.TypeAccepted:
		return l.accepted(a)
	case statemachine.TypeSent:
		return &statemachine.Sent{
			Message: ref.Message, Part: ref.Part, Attempt: ref.Attempt, SMSC: a.or("smsc", "alpha"), Session: "alpha/1",
			ValidUntil: l.later(a, "valid"), UserMessageReference: uint16(a.number(l.t, "umr")),
		}
	case statemachine.TypeSubmitResp:
		return &statemachine.SubmitResp{
			Message: ref.Message, Part: ref.Part, Attempt: ref.Attempt, SMSC: a.or("smsc", "alpha"),
			CommandStatus: uint32(a.number(l.t, "status")), MessageID: a.value["id"], Temporary: a.has("temporary"),
			RetryAt: l.later(a, "retry"),
		}
	case statemachine.TypeInDoubt:
		return &statemachine.AttemptInDoubt{
			Message: ref.Message, Part: ref.Part, Attempt: ref.Attempt, SMSC: a.or("smsc", "alpha"),
			Cause: a.or("cause", "timeout"), NotWritten: a.has("not_written"), RetryAt: l.later(a, "retry"),
		}
	case statemachine.TypeExpired:
		return &statemachine.QueueExpired{Message: ref.Message}
	case statemachine.TypeCutoff:
		return &statemachine.Cutoff{Message: ref.Message, Part: ref.Part}
	case statemachine.TypeQueryResp:
		smsc := a.or("smsc", "alpha")
		return &statemachine.QueryResp{
			Message: ref.Message, Part: ref.Part, Attempt: ref.Attempt, SMSC: smsc, Account: l.account(smsc),
			CommandStatus: uint32(a.number(l.t, "status")), MessageState: byte(a.number(l.t, "state")), FinalDateRaw: a.value["date"],
			ErrorCode: byte(a.number(l.t, "error")),
		}
	case statemachine.TypeCancelResp:
		return &statemachine.CancelResp{
			Message: ref.Message, Part: ref.Part, Attempt: ref.Attempt, SMSC: a.or("smsc", "alpha"), CommandStatus: uint32(a.number(l.t, "status")),
		}
	case statemachine.TypeReception:
		smsc := a.or("smsc", "alpha")
		return &statemachine.Reception{SMSC: smsc, Account: l.account(smsc), PDU: []byte(rest), Length: uint32(len(rest))}
	case statemachine.TypeSession:
		return &statemachine.SessionEvent{SMSC: a.or("smsc", "alpha"), Session: "alpha/1", Event: a.or("event", "started")}
	case statemachine.TypeRetry:
		return &statemachine.Retry{Row: l.row(a.word)}
	case statemachine.TypeRetention:
		return l.retention(a)
	case statemachine.TypeOperator:
		return l.operator(a)
	case statemachine.TypeRestored:
		return &statemachine.Restored{Backup: a.word, Send: a.has("send"), Done: a.has("done")}
	}
	require.Fail(l.t, "unknown record type", "%s", name)
	return nil
}

// operator reads what a person decided:
//
//	operator take exception=x6 by=uid:0 reason="the customer has it"
//	operator assign row=7 to=M1/2                 the row whose first reception is record 7
//	operator cancel messages=M1
//	operator drop smsc=alpha messages=M1,M2
//	operator hold smsc=alpha
//	operator reprocess [rows=7,9 messages=M1,M2]  these; without both, all there is, as one page
func (l *lab) operator(a args) *statemachine.Operator {
	op := &statemachine.Operator{
		Action: statemachine.Action(a.word), By: a.or("by", "uid:0"), Reason: a.value["reason"],
		Exception: a.value["exception"], MessageID: a.value["id"], SMSC: a.value["smsc"],
	}
	if a.has("row") {
		op.Row = l.row(a.value["row"])
	}
	if id, part, several := strings.Cut(a.value["to"], "/"); id != "" {
		op.Target.Message = statemachine.ID(id)
		if several {
			n, err := strconv.Atoi(part)
			require.NoError(l.t, err)
			op.Target.Part = n
		}
	}
	switch op.Action {
	case statemachine.ActionReprocess:
		op.Reprocess = l.page(a)
	case statemachine.ActionCancel, statemachine.ActionDrop:
		for _, id := range a.list("messages") {
			op.Messages = append(op.Messages, statemachine.ID(id))
		}
	}
	return op
}

// row finds the row whose first reception is that record.
func (l *lab) row(seq string) statemachine.InboxKey {
	for key, row := range l.mem.Inbox {
		if fmt.Sprint(row.Receptions[0]) == seq {
			return key
		}
	}
	return "gone"
}

// retention reads close=M1,M2 or messages=M3 or inbox=5,7 (first receptions) or exceptions=x4 or log=9.
func (l *lab) retention(a args) *statemachine.Retention {
	r := &statemachine.Retention{Messages: statemachine.ID(a.value["messages"]), Log: uint64(a.number(l.t, "log"))}
	for _, id := range a.list("close") {
		r.Close = append(r.Close, statemachine.ID(id))
	}
	for _, first := range a.list("inbox") {
		r.Inbox = append(r.Inbox, l.row(first))
	}
	r.Exceptions = a.list("exceptions")
	return r
}

func (l *lab) page(a args) *statemachine.Reprocess {
	seq, _ := l.mem.Rules()
	page := &statemachine.Reprocess{Progress: statemachine.ReprocessProgress{Rules: seq}}
	if !a.has("rows") && !a.has("messages") {
		page.Rows = slices.Sorted(maps.Keys(l.mem.Inbox))
		page.Messages = slices.SortedFunc(maps.Keys(l.mem.Messages), func(x, y statemachine.ID) int { return cmp.Compare(y, x) })
		page.Progress.Rows, page.Progress.Finished = true, true
		return page
	}
	for _, seq := range a.list("rows") {
		page.Rows = append(page.Rows, l.row(seq))
	}
	for _, id := range a.list("messages") {
		page.Messages = append(page.Messages, statemachine.ID(id))
	}
	return page
}

func (l *lab) account(smsc string) string {
	if account := l.accounts[smsc]; account != "" {
		return account
	}
	return smsc
}

func (l *lab) later(a args, key string) time.Time {
	if !a.has(key) {
		return time.Time{}
	}
	d, err := time.ParseDuration(a.value[key])
	require.NoError(l.t, err)
	return l.now.Add(d)
}

func (l *lab) accepted(a args) *statemachine.MessageAccepted {
	smsc := a.or("smsc", "alpha")
	to := a.or("to", "+393331234567")
	m := &statemachine.MessageAccepted{
		Message: statemachine.ID(a.word), SMSC: smsc, Account: l.account(smsc), To: to,
		Source: receipt.Address{Addr: a.or("from", "ACME")}, Dest: receipt.Address{Addr: strings.TrimPrefix(to, "+")},
		RegisteredDelivery: 1, InDoubt: a.value["in_doubt"], Priority: byte(a.number(l.t, "priority")),
		ScheduledAt: l.later(a, "scheduled"), ValidUntil: l.later(a, "valid"),
		Parts: make([]statemachine.PartContent, max(1, a.number(l.t, "parts"))),
	}
	if strings.HasPrefix(to, "+") {
		m.E164 = to
	}
	last := len(m.Parts) - 1
	for i := range m.Parts {
		m.Parts[i].NoReceipt = a.value["asks"] == "last" && i < last || a.value["asks"] == "first" && i > 0
	}
	switch a.value["asks"] {
	case "none":
		m.RegisteredDelivery = 0
	case "failure":
		m.RegisteredDelivery = 2
	}
	return m
}

// rules reads one SMSC after the other, with a semicolon between them.
func (l *lab) rules(rest string) *statemachine.Rules {
	rules := &statemachine.Rules{Parser: receipt.ParserVersion}
	for _, text := range strings.Split(rest, ";") {
		a := parseArgs(l.t, strings.TrimSpace(text))
		r := receipt.DefaultRules()
		r.TLVID, r.TextID = idRules(a.or("tlv", a.value["ids"])), idRules(a.or("text", a.value["ids"]))
		r.Timezone = a.value["timezone"]
		r.AcceptedFinal, r.UnknownFinal = a.value["accepted"] == "final", a.value["unknown"] == "final"
		r.Believe = receipt.Believe(a.or("state", string(r.Believe)))
		r.AddressCheck = receipt.AddressCheck(a.or("address_check", string(r.AddressCheck)))
		r.Detect = receipt.Detect(a.or("detect", string(r.Detect)))
		r.UserMessageReference = a.has("user_message_reference")
		if a.has("client_ref") {
			r.ClientRefTLV = clientRefTag
		}
		if a.has("states") {
			word, state, _ := strings.Cut(a.value["states"], ":")
			mapped, ok := receipt.ParseMessageState(state)
			require.True(l.t, ok)
			r.States = map[string]receipt.MessageState{word: mapped}
		}
		r.Prepare()
		window, err := time.ParseDuration(a.or("window", "72h"))
		require.NoError(l.t, err)
		account := a.or("account", a.word)
		l.accounts[a.word] = account
		rules.SMSCs = append(rules.SMSCs, statemachine.SMSCRules{
			SMSC: a.word, Account: account, Receipt: r, DeliveryWindow: window, ReceiptGrace: time.Hour,
			InDoubtResend: a.value["in_doubt"] == "resend",
		})
	}
	return rules
}

func idRules(names string) receipt.IDRules {
	var rules receipt.IDRules
	for _, name := range strings.FieldsFunc(names, func(c rune) bool { return c == ',' }) {
		rule := receipt.IDRule{Name: name}
		if name, value, ok := strings.Cut(name, ":"); ok {
			rule.Name = name
			var err error
			if rule.N, err = strconv.Atoi(value); err != nil {
				rule.Sep = value
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

// clientRefTag is the vendor TLV of scripts that echoes our reference.
const clientRefTag = 0x1401

// delivery is the PDU decoder of scripts: a PDU is the text of its line behind the record's type.
//
//	class=4|0x20|0  tlv=ID  state=N  src=ADDR dst=ADDR  ref=ID/N  umr=N  garbage  text="id:… stat:…"
func delivery(pdu []byte) receipt.Delivery {
	a := parseArgs(nil, strings.TrimSpace(string(pdu)))
	d := receipt.Delivery{
		CommandID: 5, ESMClass: byte(a.number(nil, "class")), Source: receipt.Address{Addr: a.or("src", "393331234567")},
		Dest: receipt.Address{Addr: a.or("dst", "ACME")}, ShortMessage: []byte(a.value["text"]), Raw: pdu, Broken: a.has("garbage"),
	}
	if !a.has("class") {
		d.ESMClass = 4
	}
	add := func(tag uint16, value []byte) { d.TLVs = append(d.TLVs, receipt.TLV{Tag: tag, Value: value}) }
	if a.has("tlv") {
		add(receipt.TagReceiptedMessageID, append([]byte(a.value["tlv"]), 0))
	}
	if a.has("state") {
		add(receipt.TagMessageState, []byte{byte(a.number(nil, "state"))})
	}
	if a.has("ref") {
		add(clientRefTag, []byte(a.value["ref"]))
	}
	if a.has("umr") {
		add(receipt.TagUserMessageReference, binary.BigEndian.AppendUint16(nil, uint16(a.number(nil, "umr"))))
	}
	return d
}

// args are a line's words: the first without =, and the rest by key.
type args struct {
	word  string
	value map[string]string
}

// parseArgs splits at blanks that are not between quotes.
func parseArgs(t *testing.T, line string) args {
	a := args{value: map[string]string{}}
	quoted := false
	words := strings.FieldsFunc(line, func(c rune) bool {
		if c == '"' {
			quoted = !quoted
		}
		return c == ' ' && !quoted
	})
	for i, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok && i == 0 {
			a.word = word
		}
		a.value[key] = strings.Trim(value, `"`)
	}
	if t != nil {
		require.False(t, quoted, "a quote is not closed: %s", line)
	}
	return a
}

// list is a value's words between commas; nil when there is none.
func (a args) list(key string) []string {
	return strings.FieldsFunc(a.value[key], func(c rune) bool { return c == ',' })
}

func (a args) has(key string) bool { _, ok := a.value[key]; return ok }

func (a args) or(key, otherwise string) string {
	if a.has(key) {
		return a.value[key]
	}
	return otherwise
}

func (a args) number(t *testing.T, key string) int {
	if !a.has(key) {
		return 0
	}
	n, err := strconv.ParseInt(a.value[key], 0, 32)
	if t != nil {
		require.NoError(t, err)
	}
	return int(n)
}

// ref reads M1, M1/2 or M1/2/3: message, part, attempt.
func (a args) ref(t *testing.T) statemachine.AttemptRef {
	fields := strings.Split(a.word, "/")
	ref := statemachine.AttemptRef{Message: statemachine.ID(fields[0]), Part: 1, Attempt: 1}
	for i, n := range []*int{&ref.Part, &ref.Attempt} {
		if len(fields) > i+1 {
			v, err := strconv.Atoi(fields[i+1])
			require.NoError(t, err)
			*n = v
		}
	}
	return ref
}
