package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"esmed/smpp/text"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const family = "👨‍👩‍👧‍👦" // four of them in one grapheme cluster: 11 units of UTF-16

func TestSplit(t *testing.T) {
	a, ya := func(n int) string { return strings.Repeat("a", n) }, func(n int) string { return strings.Repeat("я", n) }
	accents := "e" + strings.Repeat("\u0301", 99) // one cluster that no part holds
	tests := []struct {
		name     string
		alphabet text.Alphabet
		text     string
		want     []string
	}{
		{"nothing is one part", text.GSM7, "", []string{""}},
		{"152 septets beside the header", text.GSM7, a(152), []string{a(152)}},
		{"one more", text.GSM7, a(153), []string{a(152), "a"}},
		{"an escape stays with its character", text.GSM7, a(151) + "€" + a(150), []string{a(151), "€" + a(150)}},
		{"an extension that just fits", text.GSM7, a(150) + "€" + "a", []string{a(150) + "€", "a"}},
		{"the end of a line stays one", text.GSM7, a(151) + "\r\n" + "a", []string{a(151), "\r\na"}},
		{"ends of lines of other kinds", text.GSM7, a(151) + "\n\r", []string{a(151) + "\n", "\r"}},
		{"133 octets", text.Latin1, strings.Repeat("ç", 134), []string{strings.Repeat("ç", 133), "ç"}},
		{"133 characters of ASCII", text.ASCII, a(267), []string{a(133), a(133), "a"}},
		{"66 characters", text.UCS2, ya(67), []string{ya(66), "я"}},
		{"a surrogate pair stays together", text.UCS2, ya(65) + "😀" + ya(64), []string{ya(65), "😀" + ya(64)}},
		{"an accent stays with its letter", text.UCS2, ya(65) + "и\u0306" + "я", []string{ya(65), "и\u0306я"}},
		{"a family stays together", text.UCS2, ya(56) + family, []string{ya(56), family}},
		{"a family that just fits", text.UCS2, ya(55) + family + "я", []string{ya(55) + family, "я"}},
		{"flags are two letters each", text.UCS2, ya(61) + "🇮🇹🇩🇪", []string{ya(61) + "🇮🇹", "🇩🇪"}},
		{"a skin stays with its hand", text.UCS2, ya(63) + "👍🏽", []string{ya(63), "👍🏽"}},
		{"a cluster longer than a part is cut between characters", text.UCS2, ya(6) + accents + "я", []string{ya(6) + "e" + strings.Repeat("\u0301", 59), strings.Repeat("\u0301", 40) + "я"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.alphabet.Split(tt.text, tt.alphabet.Room(text.HeaderLen)))
		})
	}
}

func TestRoom(t *testing.T) {
	tests := []struct {
		name                       string
		header                     int
		gsm7, ascii, ucs2, nothing int
	}{
		{"no header", 0, 160, 140, 140, 140},
		{"a reference of 8 bits", 6, 153, 134, 134, 134},
		{"a reference of 16 bits", text.HeaderLen, 152, 133, 132, 133},
		{"nothing but a header", 140, 0, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.gsm7, text.GSM7.Room(tt.header))
			require.Equal(t, tt.ascii, text.ASCII.Room(tt.header))
			require.Equal(t, tt.ascii, text.Latin1.Room(tt.header))
			require.Equal(t, tt.ucs2, text.UCS2.Room(tt.header))
			require.Equal(t, tt.nothing, text.Alphabet("").Room(tt.header))
		})
	}
}

func TestAppendHeader(t *testing.T) {
	header := text.AppendHeader([]byte("x"), 0xABCD, 255, 3)
	require.Equal(t, []byte{'x', 6, 8, 4, 0xAB, 0xCD, 255, 3}, header)
	require.Len(t, header, 1+text.HeaderLen)
}

// checkSplit holds a split against what it promises.
func checkSplit(t require.TestingT, a text.Alphabet, s string, room int) {
	parts := a.Split(s, room)
	require.Equal(t, s, strings.Join(parts, ""))
	require.Equal(t, parts, a.Split(s, room), "the same again")
	clusters := map[int]int{} // by the offset where they end, their sizes
	longest, at, rest, state := 0, 0, s, -1
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		size, err := a.Size(cluster)
		require.NoError(t, err)
		at += len(cluster)
		clusters[at] = size
		longest = max(longest, size)
	}
	end := 0
	for i, part := range parts {
		require.True(t, utf8.ValidString(part))
		size, err := a.Size(part)
		require.NoError(t, err)
		require.LessOrEqual(t, size, room)
		if end += len(part); i == len(parts)-1 {
			break
		}
		require.NotEmpty(t, part)
		if _, whole := clusters[end]; !whole {
			require.Greater(t, longest, room, "a cluster that a part holds is not cut")
		}
		require.Greater(t, size, room-min(longest, room), "no more is left free than a cluster takes")
	}
}

func TestSplit_properties(t *testing.T) {
	pieces := map[text.Alphabet][]string{
		text.GSM7:   {"a", "é", "Ω", "€", "[", "\r\n", "\r", "\n", " "},
		text.ASCII:  {"a", "[", "\r\n", "\n", "\x00"},
		text.Latin1: {"a", "ç", "\u00AD", "\r\n"},
		text.UCS2:   {"a", "я", "€", "😀", "и\u0306", "👍🏽", "🇮🇹", "\r\n", "\u200D", "\u0301", "각", "क्षि", family},
	}
	alphabets := []text.Alphabet{text.GSM7, text.ASCII, text.Latin1, text.UCS2}
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(alphabets).Draw(t, "alphabet")
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces[a]), 0, 400).Draw(t, "pieces"), "")
		checkSplit(t, a, s, rapid.SampledFrom([]int{4, 10, a.Room(text.HeaderLen)}).Draw(t, "room"))
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("Your code is 4711", byte(152))
	f.Add(strings.Repeat("я", 65)+"😀\r\n", byte(132))
	f.Add(family+"e\u0301\u0301\u0301", byte(4))
	f.Fuzz(func(t *testing.T, s string, room byte) {
		for _, a := range []text.Alphabet{text.GSM7, text.ASCII, text.Latin1, text.UCS2} {
			if _, err := a.Size(s); err == nil {
				checkSplit(t, a, s, max(int(room), 4))
			}
		}
	})
}
