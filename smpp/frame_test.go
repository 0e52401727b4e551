package smpp

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestFrameReader(t *testing.T) {
	small := encode(t, &Empty{Header: Header{CommandID: CommandEnquireLink, SequenceNumber: 1}})
	large := encode(t, &Other{Header: Header{CommandID: CommandDeliverSM, SequenceNumber: 2}, Body: make([]byte, 100_000)})
	tooLong := AppendHeader(nil, Header{CommandLength: MaxCommandLength + 1, SequenceNumber: 3})
	tests := []struct {
		name   string
		stream [][]byte
		kept   []int // octets of each frame
		end    error
	}{
		{"nothing", nil, nil, io.EOF},
		{"one after the other", [][]byte{small, large, small}, []int{16, 1000, 16}, io.EOF},
		{"cut within a header", [][]byte{small, small[:3]}, []int{16}, io.ErrUnexpectedEOF},
		{"cut within a body", [][]byte{large[:500]}, nil, io.ErrUnexpectedEOF},
		{"cut within what is read past", [][]byte{large[:5000]}, nil, io.ErrUnexpectedEOF},
		{"too long to be true", [][]byte{small, tooLong, small}, []int{16}, ErrFraming},
		{"too short to be true", [][]byte{small, make([]byte, 16), small}, []int{16}, ErrFraming},
	}
	for _, tt := range tests {
		for _, oneByOne := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				var r io.Reader = bytes.NewReader(bytes.Join(tt.stream, nil))
				if oneByOne {
					r = iotest.OneByteReader(r)
				}
				fr := NewFrameReader(r, 1000)
				for i, want := range tt.kept {
					f, err := fr.Next()
					require.NoError(t, err)
					require.Equal(t, tt.stream[i][:want], f.PDU)
					require.EqualValues(t, len(tt.stream[i]), f.CommandLength)
					require.Equal(t, len(tt.stream[i]) > want, f.Oversize())
				}
				_, err := fr.Next()
				require.ErrorIs(t, err, tt.end)
			})
		}
	}
}

func TestFrameReader_aHeaderThatCannotBeIsTold(t *testing.T) {
	fr := NewFrameReader(bytes.NewReader(AppendHeader(nil, Header{CommandLength: 3, SequenceNumber: 9})), 1000)
	f, err := fr.Next()
	require.ErrorIs(t, err, ErrFraming)
	require.EqualValues(t, 9, f.SequenceNumber)
}

func TestFrameReader_ready(t *testing.T) {
	small := encode(t, &Empty{Header: Header{CommandID: CommandEnquireLink}})
	fr := NewFrameReader(bytes.NewReader(append(append(bytes.Clone(small), small...), small[:10]...)), 1000)
	require.False(t, fr.Ready(), "nothing has been read ahead")
	_, err := fr.Next()
	require.NoError(t, err)
	require.True(t, fr.Ready())
	_, err = fr.Next()
	require.NoError(t, err)
	require.False(t, fr.Ready(), "the rest may be long in coming")
}

func TestFrameReader_allocatesOnlyThePDU(t *testing.T) {
	small := encode(t, &Empty{Header: Header{CommandID: CommandEnquireLink}})
	fr := NewFrameReader(bytes.NewReader(bytes.Repeat(small, 200)), 1000)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = fr.Next() }), 1.0)
}

func FuzzFrameReader(f *testing.F) {
	var all []byte
	for _, pdu := range corpus(f) {
		f.Add(pdu, 50)
		all = append(all, pdu...)
	}
	f.Add(all, 1<<16)
	f.Fuzz(func(t *testing.T, stream []byte, maxPDU int) {
		fr := NewFrameReader(bytes.NewReader(stream), maxPDU)
		for rest := stream; ; {
			frame, err := fr.Next()
			if err != nil {
				require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrFraming))
				require.Equal(t, errors.Is(err, io.EOF), len(rest) == 0)
				return
			}
			require.LessOrEqual(t, len(frame.PDU), max(maxPDU, HeaderLen))
			require.Equal(t, rest[:len(frame.PDU)], frame.PDU)
			rest = rest[frame.CommandLength:]
		}
	})
}
