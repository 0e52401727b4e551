package capture_test

import (
	"bytes"
	"fmt"
	"testing"

	"esmed/cmd/esmed/internal/capture"

	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// silent asks for explanations or for none, and keeps nothing.
type silent struct{ explain bool }

func (s silent) PDU(explain func() capture.Explanation) error {
	if s.explain {
		explain()
	}
	return nil
}
func (silent) Message(capture.Row) error            { return nil }
func (silent) Stray(capture.Judged) error           { return nil }
func (silent) Connection(*capture.Connection) error { return nil }

// BenchmarkTell reads a capture of whole lives, a segment a PDU.
func BenchmarkTell(b *testing.B) {
	w := newWire(b, layers.LinkTypeEthernet)
	w.open()
	const lives = 5000
	for i := range uint32(lives) {
		to, id := fmt.Sprint(393331000000+int(i)), fmt.Sprintf("%016x", i)
		w.send(client, submit(b, 2*i+1, to))
		w.send(server, accepted(b, 2*i+1, id))
		w.send(server, delivered(b, i+1, id, to))
	}
	file := w.pcap()
	for name, l := range map[string]silent{"summary": {}, "explained": {explain: true}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				story, err := capture.Tell(bytes.NewReader(file), rules(), l)
				require.NoError(b, err)
				require.Equal(b, lives, story.Messages)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/lives, "µs/life")
		})
	}
}
