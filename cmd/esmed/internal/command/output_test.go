package command

import (
	"bytes"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"alpha":                 "alpha",
		"Grüße €":               "Grüße €",
		"\x1b[31mred":           `\x1b[31mred`,
		"two\nlines":            `two\nlines`,
		"\u202Egnirts":          `\u202egnirts`,
		"\xff":                  `\xff`,
		`C:\dir "x"`:            `C:\dir "x"`,
		"bell\a and \u0085":     `bell\a and \u0085`,
		"zero\u200Bwidth\u00AD": `zero\u200bwidth\u00ad`,
	} {
		require.Equal(t, want, clean(in))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := clean(string(rapid.SliceOf(rapid.Byte()).Draw(t, "octets")))
		for _, r := range s {
			require.True(t, unicode.IsPrint(r), "%U", r)
		}
	})
}

func TestPrintTable_cleansCells(t *testing.T) {
	var b bytes.Buffer
	o := output{w: &b}
	o.printTable([]string{"id", "times"}, [][]string{{"\x1b]0;title\a", "3"}, {"b", "12"}}, 2)
	require.Equal(t, "ID              TIMES\n\\x1b]0;title\\a      3\nb                  12\n", b.String())
	b.Reset()
	o.printTable([]string{"id"}, nil)
	require.Equal(t, "none\n", b.String())
}

func TestState_hasNoColourAwayFromATerminal(t *testing.T) {
	var b bytes.Buffer
	require.Equal(t, "DELIVERED", output{w: &b}.state("DELIVERED"))
	tty := output{w: &stdout{terminal: true}}
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	require.Contains(t, tty.state("DELIVERED"), "\x1b[")
	require.Equal(t, "QUEUED", tty.state("QUEUED"))
	t.Setenv("NO_COLOR", "1")
	require.Equal(t, "DELIVERED", tty.state("DELIVERED"))
}
