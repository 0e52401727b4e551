package smpp

import "time"

// maxBatch is how many PDUs the reader hands over at once: enough that a busy link costs few switches
// between goroutines, few enough that the handler's bound is not overrun by much.
const maxBatch = 128

type batch struct {
	frames []Frame
	err    error  // after frames; the stream has ended
	header Header // of the frame that is broken
}

type written struct {
	buf []byte
	n   int
	err error
}

// read hands over what comes in. Once the loop has ended it goes on reading, for nobody, until the
// connection is closed: unread octets would turn the close into a reset, and that can take our last
// words with it.
func (s *session) read() {
	fr := NewFrameReader(s.conn, s.cfg.MaxPDU)
	var room, before []Frame // the loop works on before until it takes the next batch
	for {
		b := nextBatch(fr, room[:0])
		room, before = before, b.frames
		select {
		case s.frames <- b:
		case <-s.done:
		}
		if b.err != nil {
			return
		}
	}
}

// nextBatch waits for one PDU and takes with it, into room, those that have come already.
func nextBatch(fr *FrameReader, room []Frame) batch {
	b := batch{frames: room}
	for len(b.frames) == 0 || len(b.frames) < maxBatch && fr.Ready() {
		f, err := fr.Next()
		if err != nil {
			b.err, b.header = err, f.Header
			return b
		}
		b.frames = append(b.frames, f)
	}
	return b
}

func (s *session) write() {
	for buf := range s.writes {
		err := s.conn.SetWriteDeadline(time.Now().Add(s.cfg.WriteTimeout))
		n := 0
		if err == nil {
			n, err = s.conn.Write(buf)
		}
		s.written <- written{buf, n, err}
		if err != nil {
			return
		}
	}
}
