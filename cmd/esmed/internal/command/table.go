package command

import (
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printTable prints rows under a header, cells cleaned and no wider than the terminal where
// that can be; "none" when there are none. right lists the columns of numbers, from 1.
func (o output) printTable(header []string, rows [][]string, right ...int) {
	if len(rows) == 0 {
		o.printf("none\n")
		return
	}
	t := table.NewWriter()
	t.SetOutputMirror(o.w)
	t.SetStyle(table.Style{
		Name:    "plain",
		Box:     table.BoxStyle{PaddingRight: "  "},
		Format:  table.FormatOptions{Header: text.FormatUpper, Footer: text.FormatDefault, Row: text.FormatDefault},
		Options: table.Options{},
	})
	t.SuppressTrailingSpaces()
	lines := [][]string{cells(header)}
	for _, row := range rows {
		lines = append(lines, cells(row))
	}
	widths := fit(lines, o.columns())
	configs := make([]table.ColumnConfig, len(header))
	for i := range configs {
		configs[i].Number = i + 1
		if widths != nil {
			configs[i].WidthMax, configs[i].WidthMaxEnforcer = widths[i], text.WrapSoft
		}
		if slices.Contains(right, i+1) {
			configs[i].Align, configs[i].AlignHeader = text.AlignRight, text.AlignRight
		}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(tableRow(lines[0]))
	for _, line := range lines[1:] {
		t.AppendRow(tableRow(line))
	}
	t.Render()
}

func cells(values []string) []string {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = clean(v)
	}
	return row
}

func tableRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, cell := range cells {
		row[i] = cell
	}
	return row
}

// stateColours are those of states that want attention, and of the one that wants none.
var stateColours = map[string]text.Color{
	"DELIVERED": text.FgGreen,
	"EXPIRED":   text.FgRed, "DELETED": text.FgRed, "UNDELIVERABLE": text.FgRed, "REJECTED": text.FgRed,
	"SKIPPED": text.FgRed, "FAILED": text.FgRed,
	"IN_DOUBT": text.FgYellow, "UNREPORTED": text.FgYellow,
}

// state is a state in its colour, on a terminal that wants colours (https://no-color.org).
func (o output) state(name string) string {
	colour, ok := stateColours[name]
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !terminal(o.w) {
		return clean(name)
	}
	return text.Colors{colour, text.Bold}.Sprint(clean(name))
}
