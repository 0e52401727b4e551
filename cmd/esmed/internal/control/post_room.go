package control

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// postRoom is room for the body of one POST /v1/messages and for its answer. What is read into it, or written, is valid
// until the handler returns.
type postRoom struct{ in, out []byte }

// postRooms are those that nobody uses.
type postRooms struct{ pool sync.Pool }

// maxKeptRoom is the largest room that is kept: far more than a common submission needs, in octets.
const maxKeptRoom = 16 << 10

func (p *postRooms) get() *postRoom {
	if room, ok := p.pool.Get().(*postRoom); ok {
		return room
	}
	return &postRoom{in: make([]byte, 1<<10), out: make([]byte, 0, 2<<10)}
}

func (p *postRooms) put(room *postRoom) {
	if len(room.in) <= maxKeptRoom && cap(room.out) <= maxKeptRoom {
		p.pool.Put(room)
	}
}

// readSubmission reads the body of a request.
func (room *postRoom) readSubmission(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	if r.ContentLength <= 0 || r.ContentLength > maxSubmission {
		return readUnmeasured(w, r)
	}
	n := int(r.ContentLength)
	if n > len(room.in) {
		room.in = make([]byte, n)
	}
	if _, err := io.ReadFull(r.Body, room.in[:n]); err != nil {
		return nil, unreadable()
	}
	return room.in[:n], nil
}

// maxUnread is how much of a body that is too long is read all the same: a client that still writes when the
// connection closes never reads why.
const maxUnread = 16 << 20

// readUnmeasured reads a body whose length is not known, or too long.
func readUnmeasured(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSubmission)) // it also closes the connection afterwards
	if err == nil {
		return body, nil
	}
	var long *http.MaxBytesError
	if !errors.As(err, &long) {
		return nil, unreadable()
	}
	_, _ = io.CopyN(io.Discard, r.Body, maxUnread) // what comes of it changes nothing
	return nil, tooLong()
}

func unreadable() *Problem { return newProblem(http.StatusBadRequest, "the body cannot be read", "") }

func tooLong() *Problem {
	return newProblem(http.StatusRequestEntityTooLarge, "a submission has at most 256 KiB", "")
}
