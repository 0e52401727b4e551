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
}

// streamStall is how long a reader may take nothing before its connection is given up.
const streamStall = time.Minute

// newStream begins an answer, whose header is on its way when it returns.
func newStream(w http.ResponseWriter, mediaType string) (*stream, error) {
	s := &stream{w: w, control: http.NewResponseController(w), enc: json.NewEncoder(w)}
	s.enc.SetEscapeHTML(false)
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	return s, s.flush()
}

// send writes a value and the end of its line. It may stay in a buffer until flush.
func (s *stream) send(v any) error {
	if err := s.allow(); err != nil {
		return err
	}
	return s.enc.Encode(v)
}

func (s *stream) flush() error {
	if err := s.allow(); err != nil {
		return err
	}
	return s.control.Flush()
}

func (s *stream) allow() error { return s.control.SetWriteDeadline(time.Now().Add(streamStall)) }
