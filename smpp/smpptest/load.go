package smpptest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"esmed/smpp"
)

// Load is an ESME that submits as fast as an SMSC takes it, or at a rate, as one transceiver. Its
// destinations are 393330000000 and the numbers after it.
type Load struct {
	Addr               string // host:port
	SystemID, Password string
	Submits            int           // how many
	Window             int           // outstanding submit_sm; 0 = 100
	Rate               int           // submit_sm a second; 0 = no limit
	Source, Text       string        // "" = 15550100 and a short text
	RegisteredDelivery byte          // as in the submit_sm
	Quiet              time.Duration // ends when nothing more has come for so long; 0 = 5s
}

// LoadResult is what a Load saw.
type LoadResult struct {
	Submitted, Accepted, Refused int
	Deliveries                   int           // deliver_sm and data_sm, each answered ESME_ROK
	Receipts                     int           // of these, receipts by their esm_class, repeats included
	Answered                     time.Duration // from the first submit to the last submit_sm_resp
	Elapsed                      time.Duration // to the last of anything
	ResponseP50, ResponseP99     time.Duration
}

const (
	loadDest   = 393330000000
	loadWindow = 100
	loadQuiet  = 5 * time.Second
)

// loader is a Load at work.
type loader struct {
	Load
	nc    net.Conn
	in    *bufio.Reader
	slots chan struct{} // one for each submit_sm that may be outstanding

	mu      sync.Mutex // guards what is below
	out     *bufio.Writer
	sent    []time.Time // by sequence_number - first
	res     LoadResult
	latency Histogram
	started time.Time
}

const firstSubmit = 2 // sequence_number, after the bind's

// afterwards is how long a Load that has all it can expect waits for repeats and other traffic.
const afterwards = 500 * time.Millisecond

// Run binds, submits, answers what comes and unbinds. It ends when every submit has its answer, as many
// receipts have come as were asked for and accepted, and then nothing more for half a second; or when
// nothing has come for Quiet, which is no error: the result says what is missing. ctx ends it early.
func (l Load) Run(ctx context.Context) (LoadResult, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr)
	if err != nil {
		return LoadResult{}, fmt.Errorf("smpptest: load: %w", err)
	}
	defer nc.Close()
	l.Window, l.Quiet = cmp.Or(l.Window, loadWindow), cmp.Or(l.Quiet, loadQuiet)
	l.Source, l.Text = cmp.Or(l.Source, "15550100"), cmp.Or(l.Text, "The quick brown fox jumps over the lazy dog")
	w := &loader{Load: l, nc: nc, in: bufio.NewReaderSize(nc, 1<<16), out: bufio.NewWriterSize(nc, 1<<16), slots: make(chan struct{}, l.Window)}
	for range l.Window {
		w.slots <- struct{}{}
	}
	if err := w.bind(); err != nil {
		return LoadResult{}, fmt.Errorf("smpptest: load: %w", err)
	}
	return w.run(ctx)
}

func (l *loader) bind() error {
	b := appendHeader(nil, smpp.CommandBindTransceiver, smpp.StatusOK, 1)
	b = appendCString(appendCString(appendCString(b, l.SystemID), l.Password), "")
	b = append(b, 0x34, 0, 0, 0)
	if _, err := l.nc.Write(endPDU(b, 0)); err != nil {
		return err
	}
	if err := l.nc.SetReadDeadline(time.Now().Add(l.Quiet)); err != nil {
		return err
	}
	h, _, err := l.pdu()
	if err == nil && h.status != smpp.StatusOK {
		err = &smpp.StatusError{CommandID: h.command, CommandStatus: h.status}
	}
	return err
}

func (l *loader) run(ctx context.Context) (LoadResult, error) {
	l.started = time.Now()
	g, ctx := errgroup.WithContext(ctx)
	stop := context.AfterFunc(ctx, func() { l.nc.Close() })
	defer stop()
	over, finish := context.WithCancel(ctx)
	g.Go(func() error { return l.submitAll(over) })
	g.Go(func() error { defer finish(); return l.receive() })
	err := g.Wait()
	finish()
	l.res.ResponseP50, l.res.ResponseP99 = l.latency.Quantile(0.5), l.latency.Quantile(0.99)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("smpptest: load: %w", err)
	}
	return l.res, err
}

// submitAll writes the submits; what is gathered goes out when the window is full or the rate asks for
// a pause.
func (l *loader) submitAll(ctx context.Context) error {
	for n := range l.Submits {
		if l.Rate > 0 {
			if wait := time.Until(l.started.Add(time.Duration(n) * time.Second / time.Duration(l.Rate))); wait > time.Millisecond {
				if err := l.flush(); err != nil {
					return err
				}
				time.Sleep(wait)
			}
		}
		select {
		case <-l.slots:
		default:
			if err := l.flush(); err != nil {
				return err
			}
			select {
			case <-l.slots:
			case <-ctx.Done():
				return nil
			}
		}
		if err := l.submit(n); err != nil {
			return err
		}
	}
	return l.flush()
}

func (l *loader) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Flush()
}

func (l *loader) submit(n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := appendHeader(l.out.AvailableBuffer(), smpp.CommandSubmitSM, smpp.StatusOK, uint32(firstSubmit+n))
	b = appendCString(b, "")
	b = appendAddress(b, Address{Addr: l.Source})
	b = appendAddress(b, Address{Addr: strconv.Itoa(loadDest + n), TON: 1, NPI: 1})
	b = append(b, 0, 0, 0, 0, 0, l.RegisteredDelivery, 0, 0, 0, byte(len(l.Text)))
	b = endPDU(append(b, l.Text...), 0)
	l.sent = append(l.sent, time.Now())
	l.res.Submitted++
	_, err := l.out.Write(b)
	return err
}

func (l *loader) pdu() (header, []byte, error) {
	front, err := l.in.Peek(headerLen)
	if err != nil {
		return header{}, nil, err
	}
	h := readHeader(front)
	if h.length < headerLen || h.length > maxFrame {
		return h, nil, errors.New("broken framing")
	}
	b := make([]byte, h.length)
	_, err = io.ReadFull(l.in, b)
	return h, b[headerLen:], err
}

// receive takes what comes until nothing more does.
func (l *loader) receive() error {
	for {
		if l.in.Buffered() == 0 {
			quiet := l.Quiet
			if l.done() {
				quiet = min(quiet, afterwards)
			}
			if err := errors.Join(l.flush(), l.nc.SetReadDeadline(time.Now().Add(quiet))); err != nil {
				return err
			}
		}
		h, octets, err := l.pdu()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return l.unbind()
		}
		if err != nil && l.done() {
			return nil // an SMSC may end when all is done
		}
		if err != nil {
			return err
		}
		l.take(h, octets)
	}
}

func (l *loader) unbind() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(appendEmptyPDU(nil, smpp.CommandUnbind, smpp.StatusOK, uint32(firstSubmit+l.Submits)))
	return errors.Join(err, l.out.Flush())
}

func (l *loader) done() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &l.res
	return r.Accepted+r.Refused == l.Submits && (l.RegisteredDelivery&1 == 0 || r.Receipts >= r.Accepted)
}

func (l *loader) take(h header, octets []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.res.Elapsed = time.Since(l.started)
	switch h.command {
	case smpp.CommandSubmitSMResp:
		l.answered(h)
	case smpp.CommandDeliverSM, smpp.CommandDataSM:
		l.res.Deliveries++
		b := body{rest: octets}
		b.cstring()
		b.address()
		b.address()
		if b.octet()&0x3C == ClassReceipt {
			l.res.Receipts++
		}
		l.reply(append(appendHeader(nil, h.command.Response(), smpp.StatusOK, h.seq), 0))
	default:
		if !h.command.IsResponse() {
			l.reply(appendHeader(nil, h.command.Response(), smpp.StatusOK, h.seq))
		}
	}
}

func (l *loader) reply(b []byte) {
	_, _ = l.out.Write(endPDU(b, 0)) // a bufio.Writer keeps its error for Flush
}

func (l *loader) answered(h header) {
	n := int(h.seq) - firstSubmit
	if n < 0 || n >= len(l.sent) || l.sent[n].IsZero() {
		return
	}
	l.latency.Add(time.Since(l.sent[n]))
	l.sent[n] = time.Time{}
	l.res.Answered = time.Since(l.started)
	if h.status == smpp.StatusOK {
		l.res.Accepted++
	} else {
		l.res.Refused++
	}
	l.slots <- struct{}{}
}
