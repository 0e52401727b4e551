package store

import (
	"time"

	"esmed/statemachine"
)

// Ids of ours are ULIDs: ten digits of base 32 that count milliseconds, most significant first, then chance. So what
// is accepted at some time has an id of about that time; how far they part is known of each partition (lag), and a
// list that asks for times need not look at ids that none of its messages can have.

// idDigits are Crockford's, in the order of their octets.
const idDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// timeDigits is how many digits of an id tell its time.
const timeDigits = 10

// idTime is an id's time in milliseconds, false of one that tells none. Of two ids that tell it, the lesser one's is
// not later.
func idTime(id statemachine.ID) (ms int64, ok bool) {
	if len(id) <= timeDigits {
		return 0, false
	}
	for i := range timeDigits {
		digit := idDigit(id[i])
		if digit < 0 {
			return 0, false
		}
		ms = ms<<5 | int64(digit)
	}
	return ms, true
}

func idDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'H':
		return int(c-'A') + 10
	case c == 'J' || c == 'K':
		return int(c-'J') + 18
	case c == 'M' || c == 'N':
		return int(c-'M') + 20
	case c >= 'P' && c <= 'T':
		return int(c-'P') + 22
	case c >= 'V' && c <= 'Z':
		return int(c-'V') + 27
	}
	return -1
}

// idsFrom is less than all ids of a time or later, and greater than all before it, of those that tell their time. "" is
// for a time that is none of an id.
func idsFrom(ms int64) statemachine.ID {
	if ms < 0 || ms >= 1<<(5*timeDigits) {
		return ""
	}
	var b [timeDigits]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = idDigits[ms&31]
		ms >>= 5
	}
	return statemachine.ID(b[:])
}

// idLag is by how many milliseconds messages were accepted behind the times of their ids. What it tells follows from
// the messages, in whichever order they are added.
type idLag struct {
	none        bool // there is an id that tells no time: nothing follows from any
	least, most int64
}

// add takes a message; first is for the first one.
func (l *idLag) add(id statemachine.ID, acceptedAt time.Time, first bool) {
	of, ok := idTime(id)
	if l.none || !ok {
		*l = idLag{none: true}
		return
	}
	lag := acceptedAt.UnixMilli() - of
	if first {
		l.least, l.most = lag, lag
	}
	l.least, l.most = min(l.least, lag), max(l.most, lag)
}

func appendIDLag(b []byte, l idLag) []byte {
	b = putInt(b, 8, l.least)
	b = putInt(b, 9, l.most)
	return putBool(b, 10, l.none)
}

// idBounds is what ids of messages lie between that may have been accepted since one time and until another (zero: no
// bound): greater than low and less than high, "" being no bound.
func (l *idLag) idBounds(since, until time.Time) (low, high statemachine.ID) {
	if l.none {
		return "", ""
	}
	if !since.IsZero() {
		low = idsFrom(since.UnixMilli() - l.most)
	}
	if !until.IsZero() {
		high = idsFrom(until.UnixMilli() - l.least + 1)
	}
	return low, high
}
