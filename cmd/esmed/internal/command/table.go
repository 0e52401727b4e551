package command

import (
	"os"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printTable prints rows under a header, cells cleaned; "none" when there are none. right lists the columns of numbers, from 1.
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
	configs := make([]table.ColumnConfig, len(right))
	for i, n := range right {
		configs[i] = table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(cells(header))
	for _, row := range rows {
		t.AppendRow(cells(row))
	}
	t.Render()
}

func cells(values []string) table.Row {
	row := make(table.Row, len(values))
	for i, v := range values {
		row[i] = clean(v)
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
