package command

import (
	"fmt"
	"strings"

	"esmed/cmd/esmed/internal/control"
)

// partStates counts parts by their states, in the order in which these come first.
func (s *story) partStates(parts []control.Part) string {
	var states []string
	count := map[string]int{}
	for _, p := range parts {
		if count[p.State]++; count[p.State] == 1 {
			states = append(states, p.State)
		}
	}
	words := make([]string, len(states))
	for i, state := range states {
		words[i] = fmt.Sprintf("%d %s", count[state], s.state(state))
	}
	return strings.Join(words, ", ")
}

// toldParts are the parts of a message that are told one by one, in their order: all when there are few of
// them, and else the first ones that stand where the message stands, since they are why it does.
func toldParts(m *control.Message) (told, rest []control.Part) {
	if len(m.Parts) <= maxTold {
		return m.Parts, nil
	}
	for _, p := range m.Parts {
		if p.State == m.State && len(told) < maxTold {
			told = append(told, p)
		} else {
			rest = append(rest, p)
		}
	}
	return told, rest
}
