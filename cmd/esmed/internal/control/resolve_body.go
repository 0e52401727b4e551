package control

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"esmed/statemachine"
)

// Limits of a decision's body, in octets and ids, and of its reason, in octets.
const (
	maxResolve = 64 << 10
	maxReason  = 1000
)

// The fields of a decision and of its selection.
const (
	resolveIDs = iota
	resolveSelect
	resolveAction
	resolveTarget
	resolveMessageID
	resolveReason
)

const (
	selectKind = iota
	selectSMSC
	selectSince
)

var (
	resolveNames = []string{"ids", "select", "action", "target", "message_id", "reason"}
	selectNames  = []string{"kind", "smsc", "since"}
)

// resolution is a Resolve that was read: the record of it, still about nothing, and what it is to be about.
type resolution struct {
	fact   statemachine.Operator
	ids    []string
	bulk   bool
	filter ExceptionFilter // of the open ones that are decided in bulk
}

// readResolve reads a decision.
func readResolve(w http.ResponseWriter, r *http.Request) (*resolution, *Problem) {
	if p := knownQuery(r.URL.Query()); p != nil {
		return nil, p
	}
	if p := checkMedia(r.Header, messageTypes); p != nil {
		return nil, p
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxResolve))
	if err != nil {
		return nil, newProblem(http.StatusRequestEntityTooLarge, "the body cannot be read, or is over 64 KiB", "name fewer ids at once, or select them")
	}
	if err := checkJSON(body); err != nil {
		return nil, newProblem(http.StatusBadRequest, "the body "+err.Error(), "")
	}
	return parseResolve(body, callerOf(r.Context()))
}

func parseResolve(body []byte, by Caller) (*resolution, *Problem) {
	p := newProblem(http.StatusUnprocessableEntity, "the decision is not valid", "")
	f := readFields(body, "", resolveNames, &p.Errors)
	d := &resolution{fact: statemachine.Operator{
		Action: statemachine.Action(f.oneOf(resolveAction, actions)), By: by.name(), Reason: f.text(resolveReason),
	}}
	if !f.has(resolveAction) {
		f.wrong(resolveAction, "must be given: one of %v", actions)
	}
	if len(d.fact.Reason) > maxReason {
		f.wrong(resolveReason, "has %d octets at most", maxReason)
	}
	d.readTarget(f)
	d.readMessageID(f)
	d.readAbout(f)
	if len(p.Errors) > 0 {
		return nil, p
	}
	return d, nil
}

// actions are those of statemachine that are about exceptions.
var actions = []string{
	string(statemachine.ActionAssign), string(statemachine.ActionDismiss), string(statemachine.ActionResend),
	string(statemachine.ActionAccepted), string(statemachine.ActionNotSent), string(statemachine.ActionTake),
	string(statemachine.ActionUndo),
}

// readTarget reads MESSAGE or MESSAGE/PART.
func (d *resolution) readTarget(f *fields) {
	target, wanted := f.text(resolveTarget), d.fact.Action == statemachine.ActionAssign
	if wanted != f.has(resolveTarget) {
		f.wrong(resolveTarget, "goes with assign, which needs it: the message that the receipts belong to")
		return
	}
	if !wanted {
		return
	}
	id, number, several := strings.Cut(target, "/")
	if _, err := ulid.ParseStrict(id); err != nil {
		f.wrong(resolveTarget, "must begin with the id of a message, 26 characters")
		return
	}
	d.fact.Target.Message = statemachine.ID(id)
	if several {
		n, err := strconv.ParseUint(number, 10, 8)
		if err != nil || n == 0 {
			f.wrong(resolveTarget, "has the number of a part behind the /, from 1")
			return
		}
		d.fact.Target.Part = int(n)
	}
}

func (d *resolution) readMessageID(f *fields) {
	id, wanted := f.text(resolveMessageID), d.fact.Action == statemachine.ActionAccepted
	switch {
	case wanted != f.has(resolveMessageID):
		f.wrong(resolveMessageID, "goes with accepted, which needs it: the SMSC's id for the message")
	case wanted && strings.TrimSpace(id) == "":
		f.wrong(resolveMessageID, "must not be empty")
	}
	d.fact.MessageID = strings.TrimSpace(id)
}

// readAbout reads which exceptions are decided.
func (d *resolution) readAbout(f *fields) {
	switch ids, bulk := f.has(resolveIDs), f.has(resolveSelect); {
	case ids && bulk:
		f.wrong(resolveSelect, "excludes ids")
	case ids:
		d.readIDs(f)
	case bulk:
		d.readSelect(f)
	default:
		f.wrong(resolveIDs, "must be given, or select")
	}
}

func (d *resolution) readIDs(f *fields) {
	raw := f.values[resolveIDs].raw
	if raw[0] != '[' {
		f.wrong(resolveIDs, "must be a list of ids")
		return
	}
	for i, item := range elements(raw) {
		id, ok := "", item[0] == '"'
		if ok {
			id, ok = unquote(item)
		}
		switch {
		case !ok || id == "":
			f.note(fmt.Sprintf("ids[%d]", i), "must be the id of an exception or inbox row")
		case !slices.Contains(d.ids, id): // to decide one twice says nothing more
			d.ids = append(d.ids, id)
		}
	}
	if len(d.ids) == 0 || len(d.ids) > MaxLimit {
		f.wrong(resolveIDs, "must name 1 to %d", MaxLimit)
	}
}

// bulkKinds are the kinds that an action is about where it is about one only.
var bulkKinds = map[statemachine.Action]statemachine.ExceptionKind{
	statemachine.ActionResend:  statemachine.KindInDoubt,
	statemachine.ActionNotSent: statemachine.KindInDoubt,
	statemachine.ActionTake:    statemachine.KindConflict,
}

func (d *resolution) readSelect(f *fields) {
	d.bulk = true
	switch d.fact.Action {
	case statemachine.ActionUndo, statemachine.ActionAssign, statemachine.ActionAccepted:
		f.wrong(resolveSelect, "does not go with %s, which names what it is about: give ids", d.fact.Action)
		return
	}
	raw := f.values[resolveSelect].raw
	if raw[0] != '{' {
		f.wrong(resolveSelect, "must be an object")
		return
	}
	s := readFields(raw, "select.", selectNames, f.problems)
	d.filter = ExceptionFilter{
		Kind: statemachine.ExceptionKind(s.oneOf(selectKind, kinds)), SMSC: s.text(selectSMSC), Status: statemachine.StatusOpen,
	}
	since, err := timeQuery("since", s.text(selectSince))
	if err != nil {
		s.wrong(selectSince, "must be RFC 3339")
	}
	if d.filter.Since = since; !s.has(selectKind) && !s.has(selectSMSC) && !s.has(selectSince) {
		f.wrong(resolveSelect, "must have kind, smsc or since: everything at once is no decision")
	}
	if d.filter.Kind == "" {
		d.filter.Kind = bulkKinds[d.fact.Action]
	}
}

// kinds are all kinds of exceptions.
var kinds = []string{
	string(statemachine.KindConflict), string(statemachine.KindAmbiguous), string(statemachine.KindAddressMismatch),
	string(statemachine.KindUnmappedState), string(statemachine.KindUndecodable), string(statemachine.KindInDoubt),
	string(statemachine.KindUnmatched), string(statemachine.KindNoMessageID), string(statemachine.KindDuplicateMessageID),
}
