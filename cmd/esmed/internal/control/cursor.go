package control

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"esmed/statemachine"
)

// cursor is a place in the log's events: after a record (N -1), or after one of its decisions.
type cursor struct {
	Seq uint64
	N   int
}

// parseCursor reads "", "1841" or "1841.2". "" is before the first record.
func parseCursor(s string) (cursor, error) {
	c := cursor{N: -1}
	if s == "" {
		return c, nil
	}
	seq, n, decision := strings.Cut(s, ".")
	var err error
	if c.Seq, err = strconv.ParseUint(seq, 10, seqBits); err != nil {
		return c, fmt.Errorf("want seq or seq.n")
	}
	if decision {
		m, err := strconv.ParseUint(n, 10, 31)
		if err != nil {
			return c, fmt.Errorf("want seq or seq.n")
		}
		c.N = int(m)
	}
	return c, nil
}

// seqBits leaves room behind every seq that is read: no log has as many records.
const seqBits = 63

// after is the seq to read the log from: a record of which only some decisions were seen is read again.
func (c cursor) after() uint64 {
	if c.N >= 0 && c.Seq > 0 {
		return c.Seq - 1
	}
	return c.Seq
}

// unseen leaves the decisions of an entry that are after the cursor. ok is false when nothing of it is.
func (c cursor) unseen(e LogEntry) (LogEntry, bool) {
	if c.N < 0 || e.Record.Seq != c.Seq {
		return e, true
	}
	for i := range e.Decisions {
		if e.Decisions[i].Pos.N > c.N {
			e.Decisions = e.Decisions[i:]
			return e, true
		}
	}
	return e, false
}

// parseMessageCursor reads a list's cursor, which is the id of the last message of the page before.
func parseMessageCursor(s string) (statemachine.ID, error) {
	if s == "" {
		return "", nil
	}
	if _, err := ulid.ParseStrict(s); err != nil {
		return "", badQuery("cursor", "is none that a list gave")
	}
	return statemachine.ID(s), nil
}

// listError blames the cursor for what a list did not find: it takes nothing else that must be there.
func listError(err error) error {
	if errors.Is(err, ErrNotFound) {
		return badQuery("cursor", "is none that a list gave")
	}
	return err
}

// An inbox row's cursor is its key, which is opaque and may hold any octet.
func inboxCursor(k statemachine.InboxKey) string {
	return base64.RawURLEncoding.EncodeToString([]byte(k))
}

func parseInboxCursor(s string) (statemachine.InboxKey, error) {
	k, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return "", badQuery("cursor", "is none that a list gave")
	}
	return statemachine.InboxKey(k), nil
}

// inboxID names a row by its first reception, which belongs to no other row.
func inboxID(row *statemachine.InboxRow) string {
	if len(row.Receptions) == 0 {
		return ""
	}
	return "i" + strconv.FormatUint(row.Receptions[0], 10)
}
