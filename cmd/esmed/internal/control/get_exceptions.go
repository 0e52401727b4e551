package control

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"esmed/statemachine"
)

func (a *API) routeExceptions(api huma.API) {
	register(a, api, get("/v1/inbox", "inbox", "Receipts that belong to no message yet"), a.listInbox)
	register(a, api, get("/v1/exceptions", "exceptions", "What a person has to decide"), a.listExceptions)
	register(a, api, get("/v1/exceptions/{id}", "exception", "One exception"), a.getException)
}

type listInboxIn struct {
	SMSC   string `query:"smsc"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor string `query:"cursor"`
}

func (a *API) listInbox(ctx context.Context, in *listInboxIn) (List[InboxRow], error) {
	after, err := parseInboxCursor(in.Cursor)
	if err != nil {
		return List[InboxRow]{}, err
	}
	page, next, err := a.cfg.Inbox.Inbox(ctx, in.SMSC, after, in.Limit)
	if err != nil {
		return List[InboxRow]{}, listError(err)
	}
	return newList(page, inboxCursor(next), inboxRow), nil
}

type listExceptionsIn struct {
	Status string `query:"status" enum:"open,resolved,dismissed,all" default:"open"`
	Kind   string `query:"kind" enum:"conflict,ambiguous,address_mismatch,unmapped_state,undecodable,in_doubt,unmatched,no_message_id,duplicate_message_id"`
	SMSC   string `query:"smsc"`
	Since  string `query:"since" doc:"Opened then or later, RFC 3339"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor string `query:"cursor"`
}

// ExceptionKinds are the kinds that exceptions are listed by.
func ExceptionKinds() []string {
	kinds := []string{string(statemachine.KindUnmatched)}
	for _, kind := range statemachine.StoredKinds() {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(kinds)
	return kinds
}

// Exceptions come in two runs: those that are stored, then the inbox rows that wait for too long. A
// cursor begins with the run it is in.
const (
	storedRun = "x"
	inboxRun  = "i"
)

func (a *API) listExceptions(ctx context.Context, in *listExceptionsIn) (List[Exception], error) {
	l := List[Exception]{Items: []Exception{}}
	since, err := timeQuery("since", in.Since)
	if err != nil {
		return l, err
	}
	run, after, found := strings.Cut(in.Cursor, ":")
	if in.Cursor == "" {
		run = storedRun
	} else if !found || run != storedRun && run != inboxRun {
		return l, badQuery("cursor", "is none that a list gave")
	}
	if run == storedRun {
		if err := a.storedExceptions(ctx, in, since, after, &l); err != nil || l.Next != "" {
			return l, err
		}
	}
	if !in.withUnmatched() {
		return l, nil
	}
	if run == storedRun {
		after = ""
	}
	return l, a.unmatchedExceptions(ctx, in, since, after, &l)
}

// withUnmatched reports whether inbox rows may be among what is asked for: they are open.
func (in *listExceptionsIn) withUnmatched() bool {
	open := in.Status == "open" || in.Status == "all"
	return open && (in.Kind == "" || in.Kind == string(statemachine.KindUnmatched))
}

func (a *API) storedExceptions(ctx context.Context, in *listExceptionsIn, since time.Time, after string, l *List[Exception]) error {
	f := ExceptionFilter{
		Kind: statemachine.ExceptionKind(in.Kind), Status: in.Status, SMSC: in.SMSC, Since: since, After: after, Limit: in.Limit,
	}
	if in.Status == "all" {
		f.Status = ""
	}
	page, next, err := a.cfg.Exceptions.Exceptions(ctx, f)
	if err != nil {
		return listError(err)
	}
	for _, x := range page {
		if !shownAsRow(x) {
			l.Items = append(l.Items, exception(x))
		}
	}
	switch {
	case next != "":
		l.Next = storedRun + ":" + next
	case len(l.Items) == in.Limit && in.withUnmatched():
		l.Next = inboxRun + ":"
	}
	return nil
}

// unmatchedExceptions fills up a page with inbox rows that wait for too long.
func (a *API) unmatchedExceptions(ctx context.Context, in *listExceptionsIn, since time.Time, after string, l *List[Exception]) error {
	key, err := parseInboxCursor(after)
	if err != nil {
		return err
	}
	old := a.cfg.Now().Add(-a.cfg.InboxOlderThan)
	for {
		page, next, err := a.cfg.Inbox.Inbox(ctx, in.SMSC, key, in.Limit-len(l.Items))
		if err != nil {
			return listError(err)
		}
		for _, e := range page {
			if unmatched(e.Row, old) && !e.Row.ReceivedAt.Before(since) {
				l.Items = append(l.Items, unmatchedException(e.Row))
			}
		}
		if next == "" {
			return nil
		}
		if key = next; len(l.Items) == in.Limit {
			l.Next = inboxRun + ":" + inboxCursor(next)
			return nil
		}
	}
}

// unmatched reports whether a row shows as an exception. Those that fit several messages, or one with
// another address, have exceptions of their own, and so have those that a person dismissed.
func unmatched(row *statemachine.InboxRow, old time.Time) bool {
	return row.Why == statemachine.Unmatched && row.Dismissed == "" && !row.ReceivedAt.After(old)
}

// shownAsRow reports whether an exception is not shown since its row is: an unmatched one that was opened by
// a decision which was taken back.
func shownAsRow(x *statemachine.Exception) bool {
	return x.Kind == statemachine.KindUnmatched && x.Status == statemachine.StatusOpen
}

// unmatchedException shows a row as the exception that its waiting is. It has the row's id.
func unmatchedException(row *statemachine.InboxRow) Exception {
	records := row.Receptions
	if len(records) > statemachine.MaxExceptionRecords {
		records = records[:statemachine.MaxExceptionRecords]
	}
	x := Exception{
		ID: inboxID(row), Kind: string(row.Why), Status: statemachine.StatusOpen,
		SMSC: row.SMSC, Account: row.Account,
		Records: append([]uint64{}, records...), Candidates: []Candidate{}, Count: uint64(len(row.Receptions)),
		FirstAt: row.ReceivedAt.UTC(), LastAt: row.ReceivedAt.UTC(), Reason: nobodysReason(row),
	}
	switch {
	case row.Dismissed != "":
		x.Status, x.Reason = statemachine.StatusDismissed, "dismissed by "+row.Dismissed+", and still found by a late id"
	case len(row.WaitsFor) > 0:
		x.Reason = "waits for the answer to a submit to the same destination"
	case row.Why == statemachine.Ambiguous:
		x.Reason = "its id fits several messages"
	case row.Why == statemachine.AddressMismatch:
		x.Reason = "its addresses are not the destination of the message that its id fits"
	}
	return x
}

// nobodysReason says what nobody was found for.
func nobodysReason(row *statemachine.InboxRow) string {
	id := row.TLVID
	if id == "" {
		id = row.TextID
	}
	if id == "" {
		return "it names no message"
	}
	reason := fmt.Sprintf("no message was given its id %q", id)
	if row.RawStat != "" {
		reason += "; it says " + row.RawStat
	}
	return reason
}

// inboxRow finds the row that an id names, without its "i".
func (a *API) inboxRow(ctx context.Context, digits string) (InboxEntry, error) {
	first, err := strconv.ParseUint(digits, 10, seqBits)
	if err != nil {
		return InboxEntry{}, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return a.cfg.Inbox.InboxRow(ctx, first)
}
