package control

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// MessageQuery selects messages. Ref and MessageID look one thing up and take no other filter but SMSC.
type MessageQuery struct {
	States       []string
	SMSC         string
	To           string
	Since, Until time.Time // of accepted_at: since <= t < until
	Ref          string
	MessageID    string // the SMSC's
	Limit        int    // of a page; 0 = DefaultLimit
	Cursor       string
}

// InboxQuery selects inbox rows.
type InboxQuery struct {
	SMSC   string
	Limit  int
	Cursor string
}

// ExceptionQuery selects exceptions. Status "" is open; "all" is every status.
type ExceptionQuery struct {
	Status, Kind, SMSC string
	Since              time.Time // opened then or later
	Limit              int
	Cursor             string
}

// ReportQuery selects the report's hours: those since now less Window; the ratios are made of those that lie
// before now less Settle.
// By is "hour" (also "") or "smsc". A nil Window or Settle is the API's default.
type ReportQuery struct {
	Window, Settle *time.Duration
	By             string
}

// All pages through a list until limit items have been seen (0 = all):
//
//	for m, err := range control.All(ctx, 0, func(ctx context.Context, cursor string, limit int) (control.List[control.Message], error) {
//		q.Cursor, q.Limit = cursor, limit
//		return client.Messages(ctx, q)
//	}) { … }
//
// An error ends it.
func All[T any](ctx context.Context, limit int, page func(ctx context.Context, cursor string, limit int) (List[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		left, cursor := limit, ""
		for {
			size := MaxLimit
			if limit > 0 {
				size = min(size, left)
			}
			l, err := page(ctx, cursor, size)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range l.Items {
				if !yield(item, nil) {
					return
				}
			}
			left -= len(l.Items)
			if cursor = l.Next; cursor == "" || limit > 0 && left <= 0 {
				return
			}
		}
	}
}

// values is a query being written; empty values are left out.
type values struct{ url.Values }

func (v values) set(name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

func (v values) setTime(name string, t time.Time) {
	if !t.IsZero() {
		v.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func (v values) setPage(limit int, cursor string) {
	if limit > 0 {
		v.Set("limit", strconv.Itoa(limit))
	}
	v.set("cursor", cursor)
}

func (q MessageQuery) values() url.Values {
	v := values{url.Values{}}
	for _, s := range q.States {
		v.Add("state", s)
	}
	v.set("smsc", q.SMSC)
	v.set("to", q.To)
	v.setTime("since", q.Since)
	v.setTime("until", q.Until)
	v.set("ref", q.Ref)
	v.set("message_id", q.MessageID)
	v.setPage(q.Limit, q.Cursor)
	return v.Values
}

func (q InboxQuery) values() url.Values {
	v := values{url.Values{}}
	v.set("smsc", q.SMSC)
	v.setPage(q.Limit, q.Cursor)
	return v.Values
}

func (q ExceptionQuery) values() url.Values {
	v := values{url.Values{}}
	v.set("status", q.Status)
	v.set("kind", q.Kind)
	v.set("smsc", q.SMSC)
	v.setTime("since", q.Since)
	v.setPage(q.Limit, q.Cursor)
	return v.Values
}

func (q ReportQuery) values() url.Values {
	v := values{url.Values{}}
	if q.Window != nil {
		v.Set("window", q.Window.String())
	}
	if q.Settle != nil {
		v.Set("settle", q.Settle.String())
	}
	v.set("by", q.By)
	return v.Values
}
