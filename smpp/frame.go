package smpp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Frame is one PDU as it came off the wire.
type Frame struct {
	Header
	// PDU is the PDU's octets, the header included, in memory of its own. Of one longer than the
	// reader's maximum it is the beginning only.
	PDU []byte
}

// Oversize says whether octets of the PDU were left out.
func (f Frame) Oversize() bool { return int(f.CommandLength) > len(f.PDU) }

// FrameReader cuts a stream into PDUs by their command_length. It reads ahead.
type FrameReader struct {
	r      *bufio.Reader
	maxPDU int
}

// readAhead is one read's worth of a busy link: some hundreds of responses in one system call.
const readAhead = 64 << 10

// NewFrameReader reads from r. Of PDUs longer than maxPDU octets (at least HeaderLen) only the first
// maxPDU are kept.
func NewFrameReader(r io.Reader, maxPDU int) *FrameReader {
	return &FrameReader{r: bufio.NewReaderSize(r, readAhead), maxPDU: max(maxPDU, HeaderLen)}
}

// Next blocks for the next PDU. Its errors are io.EOF between two PDUs, io.ErrUnexpectedEOF within one,
// one that wraps ErrFraming for a command_length that cannot be (the Frame then holds the header), and
// the stream's own. After an error the stream cannot be read further.
func (fr *FrameReader) Next() (Frame, error) {
	head, err := fr.r.Peek(HeaderLen)
	if err != nil {
		switch {
		case isTLSAlert(head): // shorter than any PDU
			err = fmt.Errorf("%w: this is TLS", ErrFraming)
		case errors.Is(err, io.EOF) && len(head) > 0:
			err = io.ErrUnexpectedEOF
		}
		return Frame{}, err
	}
	f := Frame{Header: ParseHeader(head)}
	if err := checkLength(f.CommandLength); err != nil {
		return f, err
	}
	f.PDU = make([]byte, min(int(f.CommandLength), fr.maxPDU))
	if _, err := io.ReadFull(fr.r, f.PDU); err != nil {
		return Frame{}, midPDU(err)
	}
	if _, err := fr.r.Discard(int(f.CommandLength) - len(f.PDU)); err != nil {
		return Frame{}, midPDU(err)
	}
	return f, nil
}

// Ready says whether Next will not have to wait: the whole next PDU, or a header that is broken, has
// been read ahead.
func (fr *FrameReader) Ready() bool {
	if fr.r.Buffered() < HeaderLen {
		return false
	}
	head, err := fr.r.Peek(HeaderLen)
	if err != nil {
		return true
	}
	n := ParseHeader(head).CommandLength
	return checkLength(n) != nil || fr.r.Buffered() >= int(n)
}

// isTLSAlert says whether a stream ended with an alert of TLS (RFC 8446 §5.1), which is what a server sends
// whose client does not speak it. As a command_length it would be too large.
func isTLSAlert(b []byte) bool { return len(b) == 7 && b[0] == 21 && b[1] == 3 }

func midPDU(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("smpp: read: %w", err)
}
