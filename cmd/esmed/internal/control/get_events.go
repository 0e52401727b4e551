package control

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// eventsPage is how many records are read from the log at once.
const eventsPage = 256

// heartbeat is how often an idle stream of server-sent events says that it lives.
const heartbeat = 15 * time.Second

// feed is one reader of GET /v1/events.
type feed struct {
	api     *API
	out     *stream
	sse     bool
	follow  bool
	changes bool
	from    cursor
}

// getEvents streams the log from a cursor: to its end, or on and on. A reader that comes again with the
// last cursor it saw gets everything at least once.
func (a *API) getEvents(w http.ResponseWriter, r *http.Request) {
	f, p := a.feed(r)
	if p != nil {
		writeProblem(w, p)
		return
	}
	// The first page is read before the header is written, so that a fault still has its status.
	changed := a.cfg.Log.Changed()
	page, err := a.cfg.Log.Events(r.Context(), f.from.after(), eventsPage)
	if err != nil {
		writeProblem(w, a.problemOf("events", err))
		return
	}
	mediaType := ndjsonType
	if f.sse {
		mediaType = sseType
	}
	if f.out, err = newStream(w, mediaType); err != nil {
		return
	}
	if err := f.run(r.Context(), page, changed); err != nil && r.Context().Err() == nil {
		_ = a.problemOf("events", err)
	}
}

func (a *API) feed(r *http.Request) (*feed, *Problem) {
	q := r.URL.Query()
	if p := knownQuery(q, "after", "follow", "only"); p != nil {
		return nil, p
	}
	f := &feed{api: a, sse: strings.Contains(r.Header.Get("Accept"), sseType)}
	after := q.Get("after")
	if last := r.Header.Get("Last-Event-ID"); f.sse && last != "" {
		after = last
	}
	var err error
	if f.from, err = parseCursor(after); err != nil {
		return nil, badQuery("after", err.Error())
	}
	switch q.Get("only") {
	case "":
	case "changes":
		f.changes = true
	default:
		return nil, badQuery("only", "want changes")
	}
	var p *Problem
	f.follow, p = boolQuery(q, "follow")
	return f, p
}

// run sends pages until the log's end, or while it grows.
func (f *feed) run(ctx context.Context, page []LogEntry, changed <-chan struct{}) (err error) {
	for {
		if f.sendPage(page) != nil {
			return nil // the reader is gone
		}
		if len(page) == 0 && (!f.follow || !f.wait(ctx, changed)) {
			return nil
		}
		changed = f.api.cfg.Log.Changed()
		if page, err = f.api.cfg.Log.Events(ctx, f.from.after(), eventsPage); err != nil {
			return err
		}
	}
}

// wait returns when the log has grown; false when the stream is over.
func (f *feed) wait(ctx context.Context, changed <-chan struct{}) bool {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-changed:
			return true
		case <-tick.C:
			if f.sse && f.beat() != nil {
				return false
			}
		case <-f.api.ended:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

func (f *feed) sendPage(page []LogEntry) error {
	for _, e := range page {
		entry, ok := f.from.unseen(e)
		f.from = cursor{Seq: e.Record.Seq, N: -1}
		if !ok || f.changes && !changes(entry) {
			continue
		}
		if err := f.sendEvent(f.api.render.event(entry)); err != nil {
			return err
		}
	}
	return f.out.flush()
}

func (f *feed) sendEvent(e Event) error {
	if !f.sse {
		return f.out.send(e)
	}
	if _, err := fmt.Fprintf(f.out, "id: %d\nevent: %s\ndata: ", e.Seq, e.Type); err != nil {
		return err
	}
	if err := f.out.send(e); err != nil {
		return err
	}
	_, err := f.out.Write([]byte("\n"))
	return err
}

func (f *feed) beat() error {
	if _, err := f.out.Write([]byte(":\n\n")); err != nil {
		return err
	}
	return f.out.flush()
}

// changes reports whether a record moved a message.
func changes(e LogEntry) bool {
	for i := range e.Decisions {
		if e.Decisions[i].From != e.Decisions[i].To {
			return true
		}
	}
	return false
}
