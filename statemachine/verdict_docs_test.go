package statemachine

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

// documented says for each row of the table that operators read whether it fits.
var documented = map[string]func(e *evidence, p *Part) bool{
	"has no message": func(_ *evidence, p *Part) bool { return p == nil },
	"is an event that the part knows already":                                  func(e *evidence, p *Part) bool { return p.event(e.event) != nil },
	"names no state, or a word that no rule maps":                              func(e *evidence, _ *Part) bool { return e.state == NoState },
	"is an intermediate notification with a final word":                        func(e *evidence, _ *Part) bool { return e.intermediate && e.final },
	"has a parameter and a text that name different states, one of them final": func(e *evidence, _ *Part) bool { return e.differ },
	"is intermediate, and the part is final":                                   func(e *evidence, p *Part) bool { return !e.final && p.Final() },
	"is final, and the part has that state":                                    func(e *evidence, p *Part) bool { return e.final && p.Final() && p.State == e.state },
	"is final, and the part has another final state":                           func(e *evidence, p *Part) bool { return e.final && p.Final() && p.State != e.state },
	"is final, and the part is not":                                            func(e *evidence, p *Part) bool { return e.final && !p.Final() },
	"is intermediate, and the window is over":                                  func(e *evidence, p *Part) bool { return !e.final && p.CutoffSeq != 0 },
	"names the state that was reported before, and is not newer": func(e *evidence, p *Part) bool {
		return e.state == p.Reported.State && compare(e.reported, p.Reported.DoneDate) != newer
	},
	"is the first, or newer than what was reported": func(e *evidence, p *Part) bool {
		return p.Reported.State == NoState || compare(e.reported, p.Reported.DoneDate) == newer
	},
	"is older":                    func(e *evidence, p *Part) bool { return compare(e.reported, p.Reported.DoneDate) == older },
	"has no date that would tell": func(e *evidence, p *Part) bool { return compare(e.reported, p.Reported.DoneDate) != newer },
}

// The table of verdicts that operators read is that of judge: of its rows the first that fits decides.
func TestJudge_isTheTableOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../cmd/esmed/docs/reading-receipts.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "\n| the receipt | verdict | effect |\n|---|---|---|\n")
	require.True(t, ok)
	table, _, ok = strings.Cut(table, "\n\n")
	require.True(t, ok)
	var rows [][]string
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "|\n"), " | ")
		require.Len(t, cells, 3, row)
		cells[0] = strings.TrimSpace(cells[0])
		require.Contains(t, documented, cells[0])
		rows = append(rows, cells)
	}
	require.Len(t, rows, len(documented))

	seen := map[string]bool{}
	for _, p := range everyPart() {
		for _, e := range everyEvidence() {
			got, _ := judge(e, p)
			for _, row := range rows {
				if documented[row[0]](e, p) {
					require.Equal(t, "`"+string(got)+"`", row[1], "%s: %+v for %+v", row[0], e, p)
					seen[row[0]] = true
					break
				}
			}
		}
	}
	require.Len(t, seen, len(rows), "each row decides something")
}

var knownEvent = receipt.Fingerprint{1}

func everyPart() []*Part {
	parts := []*Part{
		{State: Submitted}, {State: InDoubt}, {State: Failed}, {State: Unreported, Asked: true, CutoffSeq: 7},
		{State: Submitted, Partial: true, CutoffSeq: 7}, reportedPart(Enroute, false), reportedPart(Accepted, false),
		reportedPart(Unknown, true), reportedPart(Delivered, true),
	}
	for _, p := range parts {
		p.Events = []Event{{Fingerprint: knownEvent, Seq: 9, Count: 1}}
	}
	return append(parts, nil)
}

func everyEvidence() (all []*evidence) {
	both := []bool{false, true}
	for _, state := range []State{NoState, Enroute, Accepted, Unknown, Delivered, Expired} {
		for _, final := range both {
			if final != state.Final() && state != Accepted && state != Unknown {
				continue
			}
			for _, when := range []receipt.Date{{}, at(4), at(5), at(6), zoned(6)} {
				for _, intermediate := range both {
					for _, differ := range both {
						for _, event := range []receipt.Fingerprint{{2}, knownEvent} {
							all = append(all, &evidence{event: event, state: state, final: final, reported: when, intermediate: intermediate, differ: differ})
						}
					}
				}
			}
		}
	}
	return all
}
