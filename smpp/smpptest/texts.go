package smpptest

import (
	"fmt"
	"slices"
	"strings"
)

// Sent is a text that an ESME was told to send once.
type Sent struct {
	Dest string // destination_addr
	Text string
}

// CompareTexts says how what was received differs from what was sent: texts that were never sent to
// their destination, that never came whole, or that came more often than they were sent. Texts are not in
// the differences.
func CompareTexts(sent []Sent, received []Joined) []Difference {
	times := map[Sent]int{}
	for _, s := range sent {
		times[s]--
	}
	var out []Difference
	for i := range received {
		j := &received[i]
		d := Difference{N: j.Submits[0]}
		text := Sent{j.Dest, j.Text}
		_, known := times[text]
		switch {
		case len(j.Missing) > 0:
			continue // and so lost
		case len(j.Faults) > 0:
			d.Kind, d.Detail = Altered, j.Faults[0]
		case !known:
			d.Kind, d.Detail = Altered, fmt.Sprintf("a text of %d octets, joined as %s, was not sent to this destination", len(j.Octets), j.By)
		case len(j.Repeated) > 0:
			d.Kind, d.Detail = Doubled, fmt.Sprintf("parts %v came again", j.Repeated)
			times[text]++
		default:
			if times[text]++; times[text] <= 0 {
				continue
			}
			d.Kind, d.Detail = Doubled, "a text came more often than it was sent"
		}
		out = append(out, d)
	}
	var lost []Difference
	for s, n := range times {
		if n < 0 {
			lost = append(lost, Difference{Kind: Lost, Detail: fmt.Sprintf("a text of %d octets did not come whole, %d times", len(s.Text), -n)})
		}
	}
	slices.SortFunc(lost, func(x, y Difference) int { return strings.Compare(x.Detail, y.Detail) })
	return append(out, lost...)
}
