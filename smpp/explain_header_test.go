package smpp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplainHeader(t *testing.T) {
	tests := []struct {
		name, text, want string
		n                int
	}{
		{"a reference of 16 bits", "\x06\x08\x04\x9C\xFD\x03\x01abc", "part 1 of 3, reference 40189", 7},
		{"a reference of 8 bits", "\x05\x00\x03\x2A\x02\x02abc", "part 2 of 2, reference 42", 6},
		{"ports beside it", "\x0B\x05\x04\x15\x8A\x00\x00\x00\x03\x01\x02\x01", "element 0x05: 158a0000; part 1 of 2, reference 1", 12},
		{"nothing but a header", "\x02\x70\x00", "element 0x70: ", 3},
		{"an element without its length", "\x01\x08", "broken: 08", 2},
		{"an element longer than the header", "\x03\x08\x04\x00abc", "broken: 080400", 4},
		{"a header longer than the text", "\x06\x08\x04", "", 0},
		{"an empty header", "\x00abc", "", 0},
		{"no text", "", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			words, n := explainHeader([]byte(tt.text))
			require.Equal(t, tt.want, words)
			require.Equal(t, tt.n, n)
		})
	}
}
