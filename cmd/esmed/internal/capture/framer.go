package capture

import (
	"time"

	"esmed/smpp"
)

const (
	// maxPDU is how much of a PDU is kept: what the daemon keeps of one by default (max_pdu).
	maxPDU = 131072
	// maxSought is how much of a stream is looked through for a first PDU before the stream is taken for something else.
	maxSought = 64 << 10
)

// frame is what was captured of one PDU.
type frame struct {
	octets  []byte // the PDU, or its first octets; at least a header
	length  uint32 // command_length
	at      time.Time
	skipped int  // octets before it, since the last PDU, that belong to none
	cut     bool // the rest was not captured, rather than left out for being over maxPDU
}

// framer cuts one direction of a TCP connection into PDUs. It may begin anywhere: a PDU is where a header can be
// believed and what follows it bears that out.
type framer struct {
	emit  func(frame)
	begun bool   // the stream's first octet was captured and is still in buf
	step  bool   // in step with command_length
	final bool   // nothing follows what is in buf
	buf   []byte // what is not a whole PDU yet
	past  int    // octets still to be read past of a PDU whose beginning was kept

	skipped int // octets since the last PDU that belong to none
	found   int // PDUs
	passed  int // octets of all skips
	lost    int // octets that were not captured
}

// write takes the next octets of the stream.
func (f *framer) write(b []byte, at time.Time) {
	n := min(f.past, len(b))
	f.past -= n
	f.buf = append(f.buf, b[n:]...)
	for f.next(at) {
	}
	if len(f.buf) == 0 {
		f.buf = nil
	}
}

// next takes one PDU, or what is none, from the buffer; false when there is not enough left to tell.
func (f *framer) next(at time.Time) bool {
	if !f.step && !f.seek() || len(f.buf) < smpp.HeaderLen {
		return false
	}
	h := smpp.ParseHeader(f.buf)
	if !credible(h) {
		f.step = false
		return true
	}
	keep := min(int(h.CommandLength), maxPDU)
	if len(f.buf) < keep {
		return false
	}
	f.give(h, keep, false, at)
	n := min(int(h.CommandLength)-keep, len(f.buf))
	f.buf, f.past = f.buf[n:], int(h.CommandLength)-keep-n
	return true
}

// give hands the first keep octets of the buffer out as a PDU, or the beginning of one.
func (f *framer) give(h smpp.Header, keep int, cut bool, at time.Time) {
	f.found++
	octets := append([]byte(nil), f.buf[:keep]...)
	f.buf = f.buf[keep:]
	skipped := f.skipped
	f.skipped, f.begun = 0, false
	f.emit(frame{octets: octets, length: h.CommandLength, at: at, skipped: skipped, cut: cut})
}

// credible says whether a stream that is in step may go on with this header. A command that nobody knows is one of
// a vendor's, if it is of a size that PDUs have.
func credible(h smpp.Header) bool {
	return h.CommandLength >= smpp.HeaderLen &&
		(h.CommandID.Known() && h.CommandLength <= smpp.MaxCommandLength || h.CommandLength <= maxPDU)
}

// likely says whether octets that may be anything begin with a header.
func likely(h smpp.Header) bool {
	const maxStatus = 0xFFFF // vendors' are from 0x400 on
	return h.CommandLength >= smpp.HeaderLen && h.CommandLength <= maxPDU && h.CommandID.Known() &&
		(h.CommandStatus == 0 || h.CommandID.IsResponse() && h.CommandStatus <= maxStatus)
}

// evidence says what octets tell about their being a PDU.
type evidence int

const (
	no evidence = iota
	yes
	undecided // more octets would tell
)

// judge says whether a PDU begins b: a likely header, and a body that can be taken apart or another header behind.
func judge(b []byte) evidence {
	h := smpp.ParseHeader(b)
	if !likely(h) {
		return no
	}
	n := int(h.CommandLength)
	if len(b) < n {
		return undecided
	}
	if rest := b[n:]; len(rest) >= smpp.HeaderLen {
		if likely(smpp.ParseHeader(rest)) {
			return yes
		}
		return no
	}
	if _, err := smpp.Decode(b[:n]); err != nil {
		return no
	}
	return yes
}

// seek drops octets until a PDU begins the buffer; false when more of them are needed to tell.
func (f *framer) seek() bool {
	if f.begun && len(f.buf) >= smpp.HeaderLen && likely(smpp.ParseHeader(f.buf)) {
		f.step = true
		return true
	}
	i := 0
	for ; len(f.buf)-i >= smpp.HeaderLen; i++ {
		e := judge(f.buf[i:])
		if e == no || e == undecided && f.final {
			continue
		}
		f.skip(i)
		f.step = e == yes
		return f.step
	}
	f.skip(i)
	return false
}

// skip drops octets that belong to no PDU.
func (f *framer) skip(n int) {
	if n == 0 {
		return
	}
	f.buf, f.begun = f.buf[n:], false
	f.skipped += n
	f.passed += n
}

// hopeless says whether so much was looked through without a PDU that there will be none.
func (f *framer) hopeless() bool { return f.found == 0 && f.passed+len(f.buf) > maxSought }

// gap takes that n octets of the stream were not captured. In step, what a PDU's header announced is counted
// down, so that a hole inside one PDU costs no other.
func (f *framer) gap(n int, at time.Time) {
	f.lost += n
	f.final = true
	for f.next(at) {
	}
	f.final = false
	left := f.past // of the PDU that the hole begins in
	f.past = 0
	switch {
	case left > 0:
	case f.step && len(f.buf) >= smpp.HeaderLen:
		h := smpp.ParseHeader(f.buf)
		left = int(h.CommandLength) - len(f.buf)
		f.give(h, len(f.buf), true, at)
	default:
		f.skip(len(f.buf))
	}
	f.buf, f.begun = nil, false
	if n <= left {
		f.past = left - n
		return
	}
	f.step = false
}

// end takes that nothing more comes.
func (f *framer) end(at time.Time) { f.gap(0, at) }
