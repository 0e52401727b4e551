package smpptest_test

import (
	"testing"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutext"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutlv"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// piece is a submit_sm of a message.
type piece struct {
	class, coding byte
	text          string // octets, a header among them
	tlvs          pdutlv.Fields
}

func udh8(ref, of, n byte, text string) piece {
	return piece{class: 0x40, text: string([]byte{5, 0, 3, ref, of, n}) + text}
}

func udh16(ref uint16, of, n byte, text string) piece {
	return piece{class: 0x40, text: string([]byte{6, 8, 4, byte(ref >> 8), byte(ref), of, n}) + text}
}

func sar(ref uint16, of, n byte, text string) piece {
	return piece{text: text, tlvs: pdutlv.Fields{
		pdutlv.TagSarMsgRefNum:     []byte{byte(ref >> 8), byte(ref)},
		pdutlv.TagSarTotalSegments: []byte{of},
		pdutlv.TagSarSegmentSeqnum: []byte{n},
	}}
}

func payload(text string) piece {
	return piece{tlvs: pdutlv.Fields{pdutlv.TagMessagePayload: []byte(text)}}
}

func (p piece) in(coding byte) piece { p.coding = coding; return p }

func (p piece) pdu() pdu.Body {
	s := pdu.NewSubmitSM(p.tlvs)
	f := s.Fields()
	_ = f.Set(pdufield.SourceAddr, "ACME")
	_ = f.Set(pdufield.DestinationAddr, "393331234567")
	_ = f.Set(pdufield.ESMClass, p.class)
	_ = f.Set(pdufield.ShortMessage, pdutext.Raw(p.text))
	_ = f.Set(pdufield.DataCoding, p.coding)
	return s
}

func TestJoin(t *testing.T) {
	hello := smpptest.Joined{By: smpptest.UDH16, Ref: 0x1234, Parts: 2, Text: "Hello, world", Octets: []byte("Hello, world"), Submits: []uint64{1, 2}}
	tests := []struct {
		name   string
		pieces []piece
		want   []smpptest.Joined
	}{
		{"a short one", []piece{{text: "Hello"}}, []smpptest.Joined{{By: smpptest.Single, Parts: 1, Text: "Hello", Octets: []byte("Hello"), Submits: []uint64{1}}}},
		{"a payload", []piece{payload("\x02 \x1b\x65")}, []smpptest.Joined{{By: smpptest.Payload, Parts: 1, Text: "$ €", Octets: []byte("\x02 \x1b\x65"), Submits: []uint64{1}}}},
		{"a header with 16 bits", []piece{udh16(0x1234, 2, 1, "Hello, "), udh16(0x1234, 2, 2, "world")}, []smpptest.Joined{hello}},
		{"in any order", []piece{udh16(0x1234, 2, 2, "world"), udh16(0x1234, 2, 1, "Hello, ")}, []smpptest.Joined{hello}},
		{"a header with 8 bits", []piece{udh8(7, 2, 1, "a"), udh8(7, 2, 2, "b")},
			[]smpptest.Joined{{By: smpptest.UDH8, Ref: 7, Parts: 2, Text: "ab", Octets: []byte("ab"), Submits: []uint64{1, 2}}}},
		{"TLVs", []piece{sar(0x1234, 2, 1, "\x00\xd8").in(8), sar(0x1234, 2, 2, "\xd8\x3d\xde\x00").in(8)},
			[]smpptest.Joined{{By: smpptest.SAR, Ref: 0x1234, Parts: 2, DataCoding: 8, Text: "Ø😀", Octets: []byte("\x00\xd8\xd8\x3d\xde\x00"), Submits: []uint64{1, 2}}}},
		{"messages that cross", []piece{udh16(1, 2, 1, "a"), udh16(2, 2, 1, "c"), udh16(1, 2, 2, "b"), udh16(2, 2, 2, "d")}, []smpptest.Joined{
			{By: smpptest.UDH16, Ref: 1, Parts: 2, Text: "ab", Octets: []byte("ab"), Submits: []uint64{1, 3}},
			{By: smpptest.UDH16, Ref: 2, Parts: 2, Text: "cd", Octets: []byte("cd"), Submits: []uint64{2, 4}}}},
		{"a part that is missing", []piece{udh16(1, 3, 1, "a"), udh16(1, 3, 3, "c")},
			[]smpptest.Joined{{By: smpptest.UDH16, Ref: 1, Parts: 3, Text: "ac", Octets: []byte("ac"), Submits: []uint64{1, 2}, Missing: []int{2}}}},
		{"a part that came again", []piece{udh16(1, 2, 1, "a"), udh16(1, 2, 2, "b"), udh16(1, 2, 2, "b")},
			[]smpptest.Joined{{By: smpptest.UDH16, Ref: 1, Parts: 2, Text: "ab", Octets: []byte("ab"), Submits: []uint64{1, 2, 3}, Repeated: []int{2}}}},
		{"a reference that was used before", []piece{udh8(1, 2, 1, "a"), udh8(1, 2, 2, "b"), udh8(1, 2, 1, "c"), udh8(1, 2, 2, "d")}, []smpptest.Joined{
			{By: smpptest.UDH8, Ref: 1, Parts: 2, Text: "ab", Octets: []byte("ab"), Submits: []uint64{1, 2}},
			{By: smpptest.UDH8, Ref: 1, Parts: 2, Text: "cd", Octets: []byte("cd"), Submits: []uint64{3, 4}}}},
		{"a divided escape", []piece{udh16(1, 2, 1, "a\x1b"), udh16(1, 2, 2, "\x65")}, []smpptest.Joined{{
			By: smpptest.UDH16, Ref: 1, Parts: 2, Text: "a\x1be", Octets: []byte("a\x1b\x65"), Submits: []uint64{1, 2},
			Faults: []string{"part 1: an escape with nothing after it"}}}},
		{"a divided pair", []piece{udh16(1, 2, 1, "\xd8\x3d").in(8), udh16(1, 2, 2, "\xde\x00").in(8)}, []smpptest.Joined{{
			By: smpptest.UDH16, Ref: 1, Parts: 2, DataCoding: 8, Text: "\uFFFD\uFFFD", Octets: []byte("\xd8\x3d\xde\x00"), Submits: []uint64{1, 2},
			Faults: []string{"part 1: half a character in UCS-2", "part 2: half a character in UCS-2"}}}},
		{"Latin-1", []piece{{text: "\xe9\x80", coding: 3}}, []smpptest.Joined{{By: smpptest.Single, DataCoding: 3, Parts: 1, Text: "é\u0080", Octets: []byte("\xe9\x80"), Submits: []uint64{1}}}},
		{"a flash one", []piece{{text: "\x01", coding: 0x10}}, []smpptest.Joined{{By: smpptest.Single, DataCoding: 0x10, Parts: 1, Text: "£", Octets: []byte("\x01"), Submits: []uint64{1}}}},
		{"binary, with a header of its own", []piece{{class: 0x40, coding: 4, text: "\x06\x05\x04\x0b\x84\x23\xf0data"}}, []smpptest.Joined{{
			By: smpptest.Single, DataCoding: 4, Parts: 1, Octets: []byte("\x05\x04\x0b\x84\x23\xf0data"), Submits: []uint64{1}}}},
		{"alphabets that differ", []piece{udh16(1, 2, 1, "a"), udh16(1, 2, 2, "b").in(3)}, []smpptest.Joined{{
			By: smpptest.UDH16, Ref: 1, Parts: 2, Text: "ab", Octets: []byte("ab"), Submits: []uint64{1, 2},
			Faults: []string{"part 2 has data_coding 0x3, the first that came 0x0"}}}},
		{"a header that lies about its length", []piece{{class: 0x40, text: "\x09\x00"}}, []smpptest.Joined{{
			By: smpptest.Single, Parts: 1, Submits: []uint64{1}, Faults: []string{"a user data header that is longer than its text"}}}},
		{"a part over the number of all", []piece{udh8(1, 2, 3, "a")}, []smpptest.Joined{{
			By: smpptest.UDH8, Ref: 1, Parts: 2, Submits: []uint64{1}, Missing: []int{1, 2}, Faults: []string{"part 3 of 2"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, smpptest.Config{})
			e := bound(t, s)
			for _, p := range tt.pieces {
				e.send(p.pdu())
				e.want(pdu.SubmitSMRespID)
			}
			for i := range tt.want {
				tt.want[i].Source, tt.want[i].Dest = "ACME", "393331234567"
			}
			got := smpptest.Join(s.Submits(), "")
			for i := range got {
				if len(got[i].Octets) == 0 {
					got[i].Octets = nil
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestJoin_leaves_out_what_was_refused_and_reads_as_the_SMSC_does(t *testing.T) {
	s := start(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		if sub.N == 1 {
			a.Status = smpp.StatusThrottled
		}
		return a
	}})
	e := bound(t, s)
	for range 2 {
		e.send(piece{text: "$"}.pdu())
		e.want(pdu.SubmitSMRespID)
	}
	got := smpptest.Join(s.Submits(), smpptest.Latin1)
	require.Len(t, got, 1)
	require.Equal(t, []uint64{2}, got[0].Submits)
	require.Equal(t, "$", got[0].Text)
	require.True(t, got[0].Whole())
}

func TestCompareTexts(t *testing.T) {
	one := smpptest.Sent{Dest: "1", Text: "a"}
	got := smpptest.Joined{Dest: "1", Text: "a", Submits: []uint64{1}, Parts: 1}
	with := func(change func(*smpptest.Joined)) smpptest.Joined { j := got; change(&j); return j }
	tests := []struct {
		name     string
		sent     []smpptest.Sent
		received []smpptest.Joined
		want     []smpptest.DifferenceKind
	}{
		{"the same", []smpptest.Sent{one, one}, []smpptest.Joined{got, got}, nil},
		{"lost", []smpptest.Sent{one, one}, []smpptest.Joined{got}, []smpptest.DifferenceKind{smpptest.Lost}},
		{"never whole", []smpptest.Sent{one}, []smpptest.Joined{with(func(j *smpptest.Joined) { j.Missing = []int{2} })}, []smpptest.DifferenceKind{smpptest.Lost}},
		{"more often", []smpptest.Sent{one}, []smpptest.Joined{got, got}, []smpptest.DifferenceKind{smpptest.Doubled}},
		{"a part more often", []smpptest.Sent{one}, []smpptest.Joined{with(func(j *smpptest.Joined) { j.Repeated = []int{1} })}, []smpptest.DifferenceKind{smpptest.Doubled}},
		{"another text", []smpptest.Sent{one}, []smpptest.Joined{got, with(func(j *smpptest.Joined) { j.Text = "b" })}, []smpptest.DifferenceKind{smpptest.Altered}},
		{"to another", []smpptest.Sent{one}, []smpptest.Joined{with(func(j *smpptest.Joined) { j.Dest = "2" })}, []smpptest.DifferenceKind{smpptest.Altered, smpptest.Lost}},
		{"cannot be read", nil, []smpptest.Joined{with(func(j *smpptest.Joined) { j.Faults = []string{"x"} })}, []smpptest.DifferenceKind{smpptest.Altered}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var kinds []smpptest.DifferenceKind
			for _, d := range smpptest.CompareTexts(tt.sent, tt.received) {
				kinds = append(kinds, d.Kind)
			}
			require.Equal(t, tt.want, kinds)
		})
	}
}
