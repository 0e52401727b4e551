package command

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFit(t *testing.T) {
	id := strings.Repeat("x", 26)
	lines := [][]string{{"id", "n", "why"}, {id, "12", "it was sent and nobody knows"}}
	for _, tt := range []struct {
		name     string
		terminal int
		want     []int
	}{
		{"no terminal, or one that does not say how wide it is", 0, nil},
		{"there is room", 60, nil},
		{"just", 26 + 2 + 2 + 2 + 28, nil},
		{"the widest that can gives way", 50, []int{26, 2, 18}},
		{"no word is broken, and an id is one", 20, []int{26, 2, 6}},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, fit(lines, tt.terminal)) })
	}
}

func TestPrintTable_fitsTheTerminal(t *testing.T) {
	var b bytes.Buffer
	out := &stdout{Writer: bufio.NewWriter(&b), terminal: true}
	t.Setenv("COLUMNS", "24")
	print := func() string {
		b.Reset()
		output{w: out}.printTable([]string{"id", "times", "why"}, [][]string{{"x18411841", "3", "nobody knows it"}}, 2)
		require.NoError(t, out.Flush())
		return b.String()
	}
	require.Equal(t, "ID         TIMES  WHY\nx18411841      3  nobody\n                  knows\n                  it\n", print())
	t.Setenv("COLUMNS", "80")
	require.Equal(t, "ID         TIMES  WHY\nx18411841      3  nobody knows it\n", print())
	t.Setenv("COLUMNS", "24")
	out.terminal = false
	require.Equal(t, "ID         TIMES  WHY\nx18411841      3  nobody knows it\n", print(), "a file has no width")
}
