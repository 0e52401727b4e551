package capture_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"esmed/smpp"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"
)

// wire writes a TCP connection as packets, a millisecond apart.
type wire struct {
	t    testing.TB
	link layers.LinkType
	ends [2]netip.AddrPort
	seq  [2]uint32
	at   time.Time
	vlan uint16

	packets []packet
}

type packet struct {
	at   time.Time
	data []byte
}

const (
	client = 0 // it opens the connection
	server = 1
)

func newWire(t testing.TB, link layers.LinkType) *wire {
	return &wire{
		t: t, link: link, at: time.Date(2026, 12, 1, 5, 0, 0, 0, time.UTC), seq: [2]uint32{0xFFFFFF00, 1000},
		ends: [2]netip.AddrPort{netip.MustParseAddrPort("10.0.0.1:40112"), netip.MustParseAddrPort("10.0.0.2:9999")},
	}
}

// open writes the handshake.
func (w *wire) open() {
	w.packet(client, func(tcp *layers.TCP) { tcp.SYN = true }, nil)
	w.seq[client]++
	w.packet(server, func(tcp *layers.TCP) { tcp.SYN, tcp.ACK = true, true }, nil)
	w.seq[server]++
	w.packet(client, func(tcp *layers.TCP) { tcp.ACK = true }, nil)
}

// close writes the end of both sides.
func (w *wire) close() {
	for _, from := range []int{client, server} {
		w.packet(from, func(tcp *layers.TCP) { tcp.FIN, tcp.ACK = true, true }, nil)
		w.seq[from]++
	}
	w.packet(client, func(tcp *layers.TCP) { tcp.ACK = true }, nil)
}

// send writes octets of one side as one segment.
func (w *wire) send(from int, octets []byte) {
	w.packet(from, func(tcp *layers.TCP) { tcp.ACK, tcp.PSH = true, true }, octets)
	w.lose(from, octets)
}

// lose lets a segment be sent that is not captured.
func (w *wire) lose(from int, octets []byte) { w.seq[from] += uint32(len(octets)) }

func (w *wire) packet(from int, flags func(*layers.TCP), payload []byte) {
	src, dst := w.ends[from], w.ends[1-from]
	tcp := &layers.TCP{SrcPort: layers.TCPPort(src.Port()), DstPort: layers.TCPPort(dst.Port()), Seq: w.seq[from], Window: 65535}
	if flags(tcp); tcp.ACK {
		tcp.Ack = w.seq[1-from]
	}
	var ip gopacket.SerializableLayer
	kind := layers.EthernetTypeIPv4
	if src.Addr().Is4() {
		v4 := &layers.IPv4{Version: 4, IHL: 5, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: src.Addr().AsSlice(), DstIP: dst.Addr().AsSlice()}
		require.NoError(w.t, tcp.SetNetworkLayerForChecksum(v4))
		ip = v4
	} else {
		v6 := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolTCP, SrcIP: src.Addr().AsSlice(), DstIP: dst.Addr().AsSlice()}
		require.NoError(w.t, tcp.SetNetworkLayerForChecksum(v6))
		ip, kind = v6, layers.EthernetTypeIPv6
	}
	below := w.below(kind)
	buf := gopacket.NewSerializeBuffer()
	options := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	all := []gopacket.SerializableLayer{ip, tcp, gopacket.Payload(payload)}
	if ether, ok := below.([]gopacket.SerializableLayer); ok {
		all = append(ether, all...)
		below = []byte(nil)
	}
	require.NoError(w.t, gopacket.SerializeLayers(buf, options, all...))
	w.packets = append(w.packets, packet{w.at, append(below.([]byte), buf.Bytes()...)})
	w.at = w.at.Add(time.Millisecond)
}

// below is what the link type has in front of IP: layers, or octets that gopacket does not write.
func (w *wire) below(kind layers.EthernetType) any {
	hi, lo := byte(kind>>8), byte(kind)
	switch w.link {
	case layers.LinkTypeEthernet:
		ether := &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: kind}
		if w.vlan == 0 {
			return []gopacket.SerializableLayer{ether}
		}
		ether.EthernetType = layers.EthernetTypeDot1Q
		return []gopacket.SerializableLayer{ether, &layers.Dot1Q{VLANIdentifier: w.vlan, Type: kind}}
	case layers.LinkTypeLinuxSLL:
		return []byte{0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, hi, lo}
	case layers.LinkTypeLinuxSLL2:
		return []byte{hi, lo, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0}
	case layers.LinkTypeNull:
		if kind == layers.EthernetTypeIPv4 {
			return []byte{2, 0, 0, 0}
		}
		return []byte{30, 0, 0, 0}
	}
	return []byte(nil) // raw IP
}

// pcap is the packets as a file.
func (w *wire) pcap() []byte {
	var b bytes.Buffer
	file := pcapgo.NewWriter(&b)
	require.NoError(w.t, file.WriteFileHeader(65535, w.link))
	for _, p := range w.packets {
		require.NoError(w.t, file.WritePacket(gopacket.CaptureInfo{Timestamp: p.at, CaptureLength: len(p.data), Length: len(p.data)}, p.data))
	}
	return b.Bytes()
}

// pcapng is the packets as a file of that format.
func (w *wire) pcapng() []byte {
	var b bytes.Buffer
	file, err := pcapgo.NewNgWriter(&b, w.link)
	require.NoError(w.t, err)
	for _, p := range w.packets {
		require.NoError(w.t, file.WritePacket(gopacket.CaptureInfo{Timestamp: p.at, CaptureLength: len(p.data), Length: len(p.data)}, p.data))
	}
	require.NoError(w.t, file.Flush())
	return b.Bytes()
}

// chunk is what one side of a real connection wrote.
type chunk struct {
	from   int
	octets []byte
}

// replay writes what was said in a real connection, each side's octets cut anew: mostly small pieces and some that
// hold many PDUs, a few of them twice, and neighbours of one side in the wrong order.
func (w *wire) replay(said []chunk, rnd *rand.Rand, may func(octets []byte, at int) bool) {
	w.open()
	for _, c := range joined(said) {
		start := len(w.packets)
		for octets := c.octets; len(octets) > 0; {
			n := min(1+rnd.IntN(1400), len(octets))
			if rnd.IntN(2) == 0 {
				n = min(1+rnd.IntN(40), len(octets))
			}
			for !may(octets, n) {
				n++
			}
			w.send(c.from, octets[:n])
			if rnd.IntN(8) == 0 {
				w.packets = append(w.packets, w.packets[len(w.packets)-1])
			}
			octets = octets[n:]
		}
		for i := start + 1; i < len(w.packets); i++ {
			if rnd.IntN(4) == 0 {
				a, b := &w.packets[i-1], &w.packets[i]
				a.data, b.data = b.data, a.data
			}
		}
	}
	w.close()
}

// anywhere lets a stream be cut at every octet.
func anywhere([]byte, int) bool { return true }

// behindHeaders lets a stream of whole PDUs not be cut within a header: tshark does not know one that is cut there.
// It is asked for growing places of what is left, so it keeps count of the PDU that the last cut fell into.
func behindHeaders() func(octets []byte, at int) bool {
	left := 0 // octets at the beginning that belong to a PDU whose header is gone
	return func(octets []byte, at int) bool {
		next := left
		if at == len(octets) {
			left = 0
			return true
		}
		for next < at {
			if at-next < smpp.HeaderLen {
				return false
			}
			next += int(smpp.ParseHeader(octets[next:]).CommandLength)
		}
		left = next - at
		return true
	}
}

// joined puts together what one side wrote before the other said something.
func joined(said []chunk) []chunk {
	var all []chunk
	for _, c := range said {
		if n := len(all); n > 0 && all[n-1].from == c.from {
			all[n-1].octets = append(all[n-1].octets, c.octets...)
			continue
		}
		all = append(all, chunk{c.from, bytes.Clone(c.octets)})
	}
	return all
}

// tap is a listener that hands its one connection on to addr and notes what passes.
type tap struct {
	ln   net.Listener
	said chan chunk
}

func newTap(t *testing.T, addr string) *tap {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &tap{ln: ln, said: make(chan chunk, 1<<16)}
	go func() {
		defer close(p.said)
		in, err := ln.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", addr)
		if err != nil {
			in.Close()
			return
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.pass(out, in, client)
		}()
		p.pass(in, out, server)
		<-done
	}()
	return p
}

// pass notes octets before it hands them on: what answers them is noted after them.
func (p *tap) pass(to io.WriteCloser, from io.Reader, side int) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			p.said <- chunk{side, bytes.Clone(buf[:n])}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// all is what was said, once the connection is over.
func (p *tap) all() []chunk {
	p.ln.Close()
	var all []chunk
	for c := range p.said {
		all = append(all, c)
	}
	return all
}
