package capture

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"esmed/smpp"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/ip4defrag"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/gopacket/gopacket/reassembly"
)

// ErrFormat: the input is neither pcap nor pcapng.
var ErrFormat = errors.New("capture: this is neither a pcap nor a pcapng file")

// PDU is one PDU of a capture.
type PDU struct {
	Number   int // in the order in which their last octets were captured, over all connections, from 1
	At       time.Time
	From, To netip.AddrPort
	Octets   []byte // of one over 128 KiB the beginning only
	Length   uint32 // its command_length
	Skipped  int    // octets before it in its stream, since the last PDU, that belong to none
	Cut      bool   // the rest of it was not captured
	Answers  int    // number of the request that it answers; 0 = none, or none that is known

	conn *conn
	side int // of From in conn
}

// Header is the PDU's.
func (p *PDU) Header() smpp.Header { return smpp.ParseHeader(p.Octets) }

const (
	fileBuffer = 1 << 20 // a read of a file that may be gigabytes

	// Segments that wait for one before them: of a connection about 240 KiB, in all about 30 MiB.
	pagesEach = 128
	pagesAll  = 16 << 10

	// lateAfter is how long a segment is waited for that others have overtaken.
	lateAfter = 30 * time.Second
	// idleAfter is when a connection of which nothing is heard is over. One that goes on is found again.
	idleAfter = time.Hour
	// flushEach is how often, by the capture's clock, the two above are looked after.
	flushEach = 10 * time.Second
)

// packets is a file's packets, of pcap or pcapng.
type packets interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// Read reads a capture to its end: pcap or pcapng, also compressed by gzip. Each PDU is given to see as it is
// complete, with the connections that end to close; their errors end it. Memory does not grow with the capture but
// by its connections.
func Read(r io.Reader, see func(*PDU) error, ended func(*Connection) error) (Summary, error) {
	src, link, err := open(r)
	if err != nil {
		return Summary{}, err
	}
	a := newAssembly(see, ended)
	for {
		data, ci, err := src.ReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, io.ErrUnexpectedEOF) { // a capture that was interrupted: what there is of it counts
			a.sum.CutShort = true
			break
		}
		if err != nil {
			return a.sum, fmt.Errorf("capture: packet %d: %w", a.sum.Packets+1, err)
		}
		a.packet(data, ci, linkOf(ci, link))
		if a.err != nil {
			return a.sum, a.err
		}
	}
	a.finish()
	return a.sum, a.err
}

// open finds out which format r has.
func open(r io.Reader) (packets, layers.LinkType, error) {
	br, err := unzip(bufio.NewReaderSize(r, fileBuffer))
	if err != nil {
		return nil, 0, err
	}
	magic, err := br.Peek(4)
	if err != nil {
		return nil, 0, ErrFormat
	}
	if [4]byte(magic) == [4]byte{0x0A, 0x0D, 0x0D, 0x0A} {
		ng, err := pcapgo.NewNgReader(br, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
		if err != nil {
			return nil, 0, fmt.Errorf("capture: pcapng: %w", err)
		}
		return ng, 0, nil
	}
	file, err := pcapgo.NewReader(br)
	if err != nil {
		return nil, 0, fmt.Errorf("%w (%v)", ErrFormat, err)
	}
	return file, file.LinkType(), nil
}

// unzip gives what r holds when it is compressed by gzip, else r.
func unzip(r *bufio.Reader) (*bufio.Reader, error) {
	if magic, err := r.Peek(2); err != nil || magic[0] != 0x1F || magic[1] != 0x8B {
		return r, nil
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	return bufio.NewReaderSize(z, fileBuffer), nil
}

// linkOf is the link type of a packet's own interface, where the file has several.
func linkOf(ci gopacket.CaptureInfo, link layers.LinkType) layers.LinkType {
	if len(ci.AncillaryData) > 0 {
		if own, ok := ci.AncillaryData[0].(layers.LinkType); ok {
			return own
		}
	}
	return link
}

// Summary says what a capture held beside its PDUs.
type Summary struct {
	Packets     int       `json:"packets"`
	TCP         int       `json:"tcp_packets"`
	Fragments   int       `json:"ip_fragments"`      // those of IPv6 are left out
	Joined      int       `json:"joined_packets"`    // put together from fragments of IPv4
	Truncated   int       `json:"truncated_packets"` // of which the capture did not keep all
	Connections int       `json:"connections"`       // of TCP
	SMPP        int       `json:"smpp_connections"`
	TLS         int       `json:"tls_connections"` // of which nothing can be read
	PDUs        int       `json:"pdus"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	CutShort    bool      `json:"cut_short"` // the file ends within a packet
}

// assembly puts packets together to connections. reassembly calls it back, on the same goroutine.
type assembly struct {
	see       func(*PDU) error
	ended     func(*Connection) error
	assembler *reassembly.Assembler
	fragments *ip4defrag.IPv4Defragmenter
	sum       Summary
	flushed   time.Time
	err       error // of see or ended, the first
}

func newAssembly(see func(*PDU) error, ended func(*Connection) error) *assembly {
	a := &assembly{see: see, ended: ended, fragments: ip4defrag.NewIPv4Defragmenter()}
	a.assembler = reassembly.NewAssembler(reassembly.NewStreamPool(a))
	a.assembler.MaxBufferedPagesPerConnection, a.assembler.MaxBufferedPagesTotal = pagesEach, pagesAll
	return a
}

// taken is what reassembly asks of a packet.
type taken gopacket.CaptureInfo

// GetCaptureInfo implements reassembly.AssemblerContext.
func (t *taken) GetCaptureInfo() gopacket.CaptureInfo { return gopacket.CaptureInfo(*t) }

// packet takes the next one. What is no TCP is passed over; a tunnel or tag around it does not matter.
func (a *assembly) packet(data []byte, ci gopacket.CaptureInfo, link layers.LinkType) {
	a.sum.Packets++
	if a.sum.First.IsZero() {
		a.sum.First, a.flushed = ci.Timestamp, ci.Timestamp
	}
	if ci.Timestamp.After(a.sum.Last) {
		a.sum.Last = ci.Timestamp
	}
	if ci.CaptureLength < ci.Length {
		a.sum.Truncated++
	}
	p := gopacket.NewPacket(data, link, packetOptions)
	ip, tcp := p.NetworkLayer(), p.TransportLayer()
	if p.Layer(gopacket.LayerTypeFragment) != nil {
		if ip, tcp = a.join(p, ci.Timestamp); ip == nil {
			return
		}
	}
	segment, ok := tcp.(*layers.TCP)
	const header = 20
	if !ok || len(segment.Contents) < header || ip == nil { // cut within it: gopacket gives what it had read
		return
	}
	a.sum.TCP++
	a.assembler.AssembleWithContext(ip.NetworkFlow(), segment, (*taken)(&ci))
	if a.sum.Last.Sub(a.flushed) >= flushEach {
		a.flushed = a.sum.Last
		a.fragments.DiscardOlderThan(a.sum.Last.Add(-lateAfter))
		a.assembler.FlushWithOptions(reassembly.FlushOptions{T: a.sum.Last.Add(-lateAfter), TC: a.sum.Last.Add(-idleAfter)})
	}
}

var packetOptions = gopacket.DecodeOptions{Lazy: true, NoCopy: true}

// join gives the packet that a fragment was the last missing one of; nil while others are missing, and for IPv6.
func (a *assembly) join(p gopacket.Packet, at time.Time) (gopacket.NetworkLayer, gopacket.TransportLayer) {
	a.sum.Fragments++
	var cut *layers.IPv4
	for _, layer := range p.Layers() { // the innermost, where there are several
		if ip, ok := layer.(*layers.IPv4); ok {
			cut = ip
		}
	}
	if cut == nil {
		return nil, nil
	}
	whole, err := a.fragments.DefragIPv4WithTimestamp(cut, at)
	if whole == nil || err != nil { // those that contradict each other are given up, as a host does
		return nil, nil
	}
	a.sum.Joined++
	return whole, gopacket.NewPacket(whole.Payload, whole.NextLayerType(), packetOptions).TransportLayer()
}

// finish ends all connections that are left.
func (a *assembly) finish() { a.assembler.FlushAll() }

// fail keeps the first error.
func (a *assembly) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}
