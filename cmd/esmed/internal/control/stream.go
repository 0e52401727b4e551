package control

import (
	"encoding/json"
	"net/http"
	"time"
)

// stream writes an answer value by value. Each write has streamStall to be taken, the whole has no limit.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	enc     *json.Encoder
	until   time.Time // the connection's write deadline
	pending bool      // something was sent since the last flush
}

// streamStall is how long a reader may take nothing before its connection is given up.
const streamStall = time.Minute

// newStream begins an answer, whose header is on its way when it returns. The request's read deadline is
// taken off: what a stream answers may come for as long as it likes.
func newStream(w http.ResponseWriter, mediaType string) (*stream, error) {
	s := &stream{w: w, control: http.NewResponseController(w), pending: true}
	s.enc = json.NewEncoder(s)
	s.enc.SetEscapeHTML(false)
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-store")
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	w.WriteHeader(http.StatusOK)
	return s, s.flush()
}

// send writes a value and the end of its line. It may stay in a buffer until flush.
func (s *stream) send(v any) error { return s.enc.Encode(v) }

// Write writes octets, likewise.
func (s *stream) Write(p []byte) (int, error) {
	s.pending = true
	if err := s.allow(); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}

func (s *stream) flush() error {
	if !s.pending {
		return nil
	}
	s.pending = false
	if err := s.allow(); err != nil {
		return err
	}
	return s.control.Flush()
}

// allow puts the write deadline off, not for every single line.
func (s *stream) allow() error {
	now := time.Now()
	if s.until.Sub(now) > streamStall/2 {
		return nil
	}
	s.until = now.Add(streamStall)
	return s.control.SetWriteDeadline(s.until)
}
