package capture_test

import (
	"bytes"
	"slices"
	"testing"

	"esmed/cmd/esmed/internal/capture"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// cut sends the last packet in fragments of at most n octets of its payload, below which is IPv4 alone.
func (w *wire) cut(id uint16, n int) []packet {
	whole := w.packets[len(w.packets)-1]
	ip := gopacket.NewPacket(whole.data, layers.LinkTypeRaw, gopacket.Default).Layer(layers.LayerTypeIPv4).(*layers.IPv4)
	var all []packet
	for at := 0; at < len(ip.Payload); at += n {
		part := *ip
		part.Id, part.FragOffset = id, uint16(at/8)
		end := min(at+n, len(ip.Payload))
		if part.Flags = 0; end < len(ip.Payload) {
			part.Flags = layers.IPv4MoreFragments
		}
		buf := gopacket.NewSerializeBuffer()
		require.NoError(w.t, gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
			&part, gopacket.Payload(ip.Payload[at:end])))
		all = append(all, packet{whole.at, buf.Bytes()})
	}
	w.packets = w.packets[:len(w.packets)-1]
	return all
}

// Segments that IP cut come in any order, and more than once. What lacks a fragment is lost, as any segment is.
func TestRead_fragments(t *testing.T) {
	one, two, three := submit(t, 1, alice), submit(t, 2, bob), submit(t, 3, alice)
	for _, tt := range []struct {
		name   string
		arrive func([]packet) []packet // of the second submit
		want   [][]byte
		joined int
	}{
		{"in order", func(f []packet) []packet { return f }, [][]byte{one, two, three}, 1},
		{"in reverse", func(f []packet) []packet { slices.Reverse(f); return f }, [][]byte{one, two, three}, 1},
		{"one twice", func(f []packet) []packet { return append([]packet{f[1]}, f...) }, [][]byte{one, two, three}, 1},
		{"one is missing", func(f []packet) []packet { return f[1:] }, [][]byte{one, three}, 0},
		{"they contradict each other", func(f []packet) []packet {
			other := bytes.Clone(f[0].data)
			other[6], other[7] = other[6]&0xE0, 1 // eight octets on
			return append([]packet{f[0], {f[0].at, other}}, f[1:]...)
		}, [][]byte{one, three}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWire(t, layers.LinkTypeRaw)
			w.open()
			w.send(client, one)
			w.send(client, two)
			cut := tt.arrive(w.cut(7, 24))
			w.packets = append(w.packets, cut...)
			w.send(client, three)
			w.close()
			var got [][]byte
			sum, err := capture.Read(bytes.NewReader(w.pcap()), func(p *capture.PDU) error {
				got = append(got, bytes.Clone(p.Octets))
				return nil
			}, func(*capture.Connection) error { return nil })
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, len(cut), sum.Fragments)
			require.Equal(t, tt.joined, sum.Joined)
		})
	}
}
