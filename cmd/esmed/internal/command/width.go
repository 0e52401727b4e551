package command

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// columns is the width of the terminal that a person looks at; 0 where there is none, or it does not say. COLUMNS goes
// first, as with other programs.
func (o output) columns() int {
	s, ok := o.w.(*stdout)
	if !ok || !s.terminal {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return s.size()
}

// size asks stty, which POSIX has everywhere, how wide the terminal is; 0 = it does not know.
func (s *stdout) size() int {
	if s.file == nil {
		return 0
	}
	cmd := exec.Command("stty", "size")
	cmd.Stdin = s.file
	said, err := cmd.Output()
	if err != nil {
		return 0
	}
	var rows, columns int
	if _, err := fmt.Sscan(string(said), &rows, &columns); err != nil {
		return 0
	}
	return columns
}

// columnGap is how many blanks stand behind a column.
const columnGap = 2

// fit gives each column its width in a table that is to be as wide as a terminal: the widest gives way first, and none
// becomes narrower than its longest word, so that ids, numbers and addresses stay whole. A table that is too wide even
// so stays too wide. nil = every column is as wide as it likes.
func fit(lines [][]string, terminal int) []int {
	if terminal == 0 {
		return nil
	}
	width, least := make([]int, len(lines[0])), make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], text.StringWidth(cell))
			for _, word := range strings.Fields(cell) {
				least[i] = max(least[i], text.StringWidth(word))
			}
		}
	}
	over := columnGap*(len(width)-1) - terminal
	for _, w := range width {
		over += w
	}
	if over <= 0 {
		return nil
	}
	for ; over > 0; over-- {
		widest := -1
		for i := range width {
			if width[i] > least[i] && (widest < 0 || width[i] > width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		width[widest]--
	}
	return width
}
