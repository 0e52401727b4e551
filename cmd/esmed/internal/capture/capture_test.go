package capture_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/netip"
	"testing"

	"esmed/cmd/esmed/internal/capture"
	"esmed/smpp"
	"esmed/statemachine"

	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// encoded writes a PDU.
func encoded(t testing.TB, p smpp.PDU) []byte {
	pdu, err := smpp.Append(nil, p)
	require.NoError(t, err)
	return pdu
}

// submit is a submit_sm to a number that asks for a receipt.
func submit(t testing.TB, sequence uint32, to string) []byte {
	return encoded(t, &smpp.SubmitSM{
		Header: smpp.Header{SequenceNumber: sequence}, Dest: smpp.Address{TON: 1, NPI: 1, Addr: to}, RegisteredDelivery: 1,
		ShortMessage: []byte("Your code is 4711"),
	})
}

func accepted(t testing.TB, sequence uint32, id string) []byte {
	return encoded(t, &smpp.SubmitSMResp{Header: smpp.Header{SequenceNumber: sequence}, MessageID: id})
}

func delivered(t testing.TB, sequence uint32, id, from string) []byte {
	return encoded(t, &smpp.DeliverSM{
		Header: smpp.Header{SequenceNumber: sequence}, Source: smpp.Address{TON: 1, NPI: 1, Addr: from}, ESMClass: 0x04,
		ShortMessage: []byte("id:" + id + " stat:DELIVRD err:000 text:"),
	})
}

const (
	alice = "393331230001"
	bob   = "393331230002"
)

// A message's whole life, below every link type and in every format.
func TestTell_everyLinkType(t *testing.T) {
	tests := []struct {
		name string
		link layers.LinkType
		vlan uint16
		ends [2]string
		file func(*wire) []byte
	}{
		{"Ethernet", layers.LinkTypeEthernet, 0, [2]string{"10.0.0.1:40112", "10.0.0.2:2775"}, (*wire).pcap},
		{"Ethernet with a VLAN tag", layers.LinkTypeEthernet, 42, [2]string{"10.0.0.1:40112", "10.0.0.2:2775"}, (*wire).pcap},
		{"IPv6", layers.LinkTypeEthernet, 0, [2]string{"[fd00::1]:40112", "[fd00::2]:2775"}, (*wire).pcap},
		{"a Linux cooked capture", layers.LinkTypeLinuxSLL, 0, [2]string{"10.0.0.1:40112", "10.0.0.2:2775"}, (*wire).pcap},
		{"a Linux cooked capture, v2, of IPv6", layers.LinkTypeLinuxSLL2, 0, [2]string{"[fd00::1]:40112", "[fd00::2]:2775"}, (*wire).pcap},
		{"raw IP", layers.LinkTypeRaw, 0, [2]string{"10.0.0.1:40112", "10.0.0.2:2775"}, (*wire).pcap},
		{"loopback of BSD", layers.LinkTypeNull, 0, [2]string{"127.0.0.1:40112", "127.0.0.1:2775"}, (*wire).pcap},
		{"pcapng, from a port that nobody knows", layers.LinkTypeEthernet, 0, [2]string{"10.0.0.1:1024", "10.0.0.2:60001"}, (*wire).pcapng},
		{"compressed", layers.LinkTypeEthernet, 0, [2]string{"10.0.0.1:40112", "10.0.0.2:2775"}, func(w *wire) []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write(w.pcapng())
			require.NoError(w.t, err)
			require.NoError(w.t, z.Close())
			return b.Bytes()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWire(t, tt.link)
			w.vlan = tt.vlan
			w.ends = [2]netip.AddrPort{netip.MustParseAddrPort(tt.ends[0]), netip.MustParseAddrPort(tt.ends[1])}
			w.open()
			w.send(client, submit(t, 1, alice))
			w.send(server, accepted(t, 1, "a1"))
			w.send(server, delivered(t, 1, "a1", alice))
			w.send(client, encoded(t, &smpp.DeliverSMResp{Header: smpp.Header{SequenceNumber: 1}}))
			w.close()
			got, story := tell(t, tt.file(w))
			require.Equal(t, 4, story.PDUs)
			require.Len(t, got.rows, 1)
			require.Equal(t, "DELIVERED", got.rows[0].State)
			require.Equal(t, "reported DELIVRD in PDU 3, matched by text_id", got.rows[0].Reason)
			require.Equal(t, []string{"message 1: applied, matched by text_id"}, got.pdus[2].Conclusion)
			require.Equal(t, tt.ends[0], got.links[0].ESME.String())
			require.True(t, got.links[0].Begun && got.links[0].Ended)
		})
	}
}

// A capture that begins in the middle of a PDU goes on with the next one.
func TestTell_beginsInMidStream(t *testing.T) {
	w := newWire(t, layers.LinkTypeEthernet)
	first := submit(t, 1, alice)
	w.send(client, append(bytes.Clone(first[20:]), submit(t, 2, bob)...))
	w.send(server, append(bytes.Clone(accepted(t, 1, "a1")[7:]), accepted(t, 2, "a2")...))
	got, story := tell(t, w.pcap())
	require.Equal(t, 2, story.PDUs)
	require.Contains(t, got.pdus[0].Notes, fmt.Sprintf("%d octets before it in its stream belong to no PDU", len(first)-20))
	require.Equal(t, "SUBMITTED", got.rows[0].State)
	require.Equal(t, len(first)-20+len(accepted(t, 1, "a1"))-7, got.links[0].Skipped)
	require.False(t, got.links[0].Begun)
}

// What was lost inside one PDU costs that one only; what was lost over its end costs the next ones, until one begins.
func TestTell_lostSegments(t *testing.T) {
	tests := []struct {
		name      string
		lost      [2]int // of the three submits' octets
		whole     int
		cut       int
		skipped   int
		lastIsBob bool
	}{
		{"inside the first, behind its header", [2]int{30, 40}, 2, 1, 0, true},
		{"its header too", [2]int{10, 40}, 2, 0, -1, true},
		{"over the end of the first", [2]int{30, 80}, 1, 1, -1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := append(append(submit(t, 1, alice), submit(t, 2, alice)...), submit(t, 3, bob)...)
			w := newWire(t, layers.LinkTypeEthernet)
			w.open()
			w.send(client, all[:tt.lost[0]])
			w.lose(client, all[tt.lost[0]:tt.lost[1]])
			w.send(client, all[tt.lost[1]:])
			w.close()
			got, _ := tell(t, w.pcap())
			whole, cut := 0, 0
			for _, e := range got.pdus {
				if e.Error == nil {
					whole++
				} else {
					cut++
				}
			}
			require.Equal(t, []int{tt.whole, tt.cut}, []int{whole, cut})
			require.Equal(t, tt.lost[1]-tt.lost[0], got.links[0].Lost)
			if tt.skipped >= 0 {
				require.Equal(t, tt.skipped, got.links[0].Skipped)
			}
			require.Equal(t, bob, got.rows[len(got.rows)-1].To)
		})
	}
}

// Who never answered is told, and what became of a submit that a cut left without an answer.
func TestTell_neverAnswered(t *testing.T) {
	w := newWire(t, layers.LinkTypeEthernet)
	w.open()
	w.send(client, submit(t, 1, alice))
	w.send(client, submit(t, 2, bob))
	w.send(server, accepted(t, 2, "a2"))
	w.send(server, delivered(t, 77, "a2", bob))
	w.close()
	got, _ := tell(t, w.pcap())
	require.Equal(t, []string{"IN_DOUBT", "DELIVERED"}, []string{got.rows[0].State, got.rows[1].State})
	require.Equal(t, "the connection ended without an answer", got.rows[0].Reason)
	open := got.links[0].Unanswered
	require.Len(t, open, 2)
	require.Equal(t, []any{"submit_sm", true}, []any{open[0].CommandID, open[0].FromESME})
	require.Equal(t, []any{"deliver_sm", uint32(77), false}, []any{open[1].CommandID, open[1].SequenceNumber, open[1].FromESME})
}

// Receipts are judged by the state machine: what fits nothing, somebody else or nobody is told, and why.
func TestTell_verdicts(t *testing.T) {
	w := newWire(t, layers.LinkTypeEthernet)
	w.open()
	w.send(server, delivered(t, 1, "a1", alice)) // before the response
	w.send(client, submit(t, 1, alice))
	w.send(server, accepted(t, 1, "a1"))
	w.send(server, delivered(t, 2, "a1", alice))
	w.send(server, delivered(t, 3, "zz", alice))
	w.send(client, submit(t, 2, alice))
	w.send(server, accepted(t, 2, "b1"))
	w.send(server, delivered(t, 4, "b1", bob))
	w.close()
	got, story := tell(t, w.pcap())
	require.Equal(t, "DELIVERED", got.rows[0].State)
	require.Len(t, got.rows[0].Receipts, 2)
	require.Equal(t, "the same event as in PDU 1", got.rows[0].Receipts[1].Why)
	require.Equal(t, "SUBMITTED", got.rows[1].State)
	require.Len(t, got.strays, 2)
	require.Equal(t, []string{"unmatched", "address_mismatch"}, []string{got.strays[0].Correlation, got.strays[1].Correlation})
	require.Equal(t, 1, story.Exceptions[statemachine.KindAddressMismatch])
}

// Parts of a message are one message; they may share an id.
func TestTell_parts(t *testing.T) {
	w := newWire(t, layers.LinkTypeEthernet)
	w.open()
	for i := range byte(2) {
		w.send(client, encoded(t, &smpp.SubmitSM{
			Header: smpp.Header{SequenceNumber: uint32(i) + 1}, Dest: smpp.Address{TON: 1, NPI: 1, Addr: alice}, RegisteredDelivery: 1,
			ESMClass: 0x40, ShortMessage: append([]byte{5, 0, 3, 9, 2, i + 1}, "text"...),
		}))
	}
	w.send(server, accepted(t, 1, "a1"))
	w.send(server, accepted(t, 2, "a2"))
	w.send(server, delivered(t, 1, "a2", alice))
	w.close()
	got, story := tell(t, w.pcap())
	require.Equal(t, 1, story.Messages)
	require.Len(t, got.rows, 2)
	require.Equal(t, []string{"SUBMITTED", "DELIVERED"}, []string{got.rows[0].State, got.rows[1].State})
	require.Equal(t, "text", got.pdus[0].Text.Text)
}

// What is held is bounded: the older messages are told of, and what comes for them later finds nothing.
func TestBook_letsGo(t *testing.T) {
	const messages = 400
	w := newWire(t, layers.LinkTypeEthernet)
	w.open()
	for i := range uint32(messages) {
		w.send(client, submit(t, i+1, alice))
		w.send(server, accepted(t, i+1, fmt.Sprintf("id%d", i)))
	}
	w.send(server, delivered(t, 1, "id0", alice))
	w.send(server, delivered(t, 2, fmt.Sprintf("id%d", messages-1), alice))
	w.close()

	book := capture.NewBook(rules())
	book.MaxRecords = 200
	var rows []capture.Row
	var strays []capture.Judged
	book.Row = func(r capture.Row) error { rows = append(rows, r); return nil }
	book.Stray = func(j capture.Judged) error { strays = append(strays, j); return nil }
	_, err := capture.Read(bytes.NewReader(w.pcap()), func(p *capture.PDU) error {
		_, err := book.Take(p)
		return err
	}, book.Close)
	require.NoError(t, err)
	sum, err := book.Finish()
	require.NoError(t, err)
	require.Equal(t, messages, sum.Messages)
	require.Greater(t, sum.LetGo, messages/2)
	require.Len(t, rows, messages)
	for i := range rows {
		require.Equal(t, 2*i+1, rows[i].Message)
	}
	require.Equal(t, "DELIVERED", rows[messages-1].State)
	require.Len(t, strays, 1)
	require.Equal(t, "id0", strays[0].ID)
}

func TestRead_whatIsNoCapture(t *testing.T) {
	for _, file := range []string{"", "hello, this is no capture at all", "\x0a\x0d\x0d\x0a"} {
		_, err := capture.Read(bytes.NewReader([]byte(file)), nil, nil)
		require.Error(t, err)
	}
	w := newWire(t, layers.LinkTypeEthernet)
	w.open()
	w.send(client, []byte("GET / HTTP/1.1\r\nHost: example.net\r\n\r\n"))
	w.send(server, bytes.Repeat([]byte("<html>"), 20_000))
	w.close()
	got, story := tell(t, w.pcap())
	require.Empty(t, got.pdus)
	require.Equal(t, []int{1, 0}, []int{story.Connections, story.SMPP})
}

// No file makes the reader panic, or say of a PDU what is not in it.
func FuzzTell(f *testing.F) {
	w := newWire(f, layers.LinkTypeEthernet)
	w.open()
	w.send(client, submit(f, 1, alice))
	w.lose(server, accepted(f, 1, "a1"))
	w.send(server, delivered(f, 1, "a1", alice))
	w.close()
	f.Add(w.pcap())
	f.Add(w.pcapng())
	f.Fuzz(func(t *testing.T, file []byte) {
		var got told
		if _, err := capture.Tell(bytes.NewReader(file), rules(), &got); err != nil {
			return
		}
		for i, e := range got.pdus {
			require.Equal(t, i+1, e.Line)
			require.GreaterOrEqual(t, len(e.PDU), smpp.HeaderLen)
		}
	})
}

// A stream of any octets never loses one: each is in a PDU, skipped, or behind what is kept of a long PDU.
func FuzzRead_octets(f *testing.F) {
	f.Add(append([]byte("noise"), submit(f, 1, alice)...), uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, piece uint8) {
		if len(stream) > 8<<10 {
			return
		}
		w := newWire(t, layers.LinkTypeRaw)
		for rest := stream; len(rest) > 0; {
			n := min(int(piece)+1, len(rest))
			w.send(client, rest[:n])
			rest = rest[n:]
		}
		var got told
		if len(w.packets) == 0 {
			return
		}
		_, err := capture.Tell(bytes.NewReader(w.pcap()), rules(), &got)
		require.NoError(t, err)
		octets := 0
		for _, e := range got.pdus {
			octets += len(e.PDU)
		}
		for _, c := range got.links {
			require.Equal(t, len(stream), octets+c.Skipped)
		}
	})
}
