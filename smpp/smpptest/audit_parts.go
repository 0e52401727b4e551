package smpptest

import (
	"cmp"
	"fmt"
	"slices"
)

// joinedBy is what a handset puts parts together by.
type joinedBy struct {
	source, dest, by string
	parts            int
}

// span is where the submits of one message stand among all.
type span struct {
	message     string
	first, last uint64 // Line.N
}

// part is which of its message the submit carried, from 1.
func (s *truthSubmit) part() int { return max(1, s.Part) }

// carried checks that a part's submits carried it, and that a second one that was taken on is admitted to.
func (a *audit) carried(m *AuditMessage, p *AuditPart, submits []*truthSubmit) {
	accepted := 0
	for _, s := range submits {
		if s.accepted() {
			accepted++
		}
		if s.part() != p.Part || max(1, s.Parts) != len(m.Parts) {
			a.differ(Difference{Kind: WrongPart, Message: m.ID, N: s.N, Detail: fmt.Sprintf("part %d of %d, and the submit carried part %d of %d", p.Part, len(m.Parts), s.part(), max(1, s.Parts))})
		}
	}
	if accepted > 1 && !m.MaybeDoubled {
		a.differ(Difference{Kind: Doubled, Message: m.ID, N: firstN(submits), Detail: fmt.Sprintf("part %d was taken on %d times, and the message does not say that it may be doubled", p.Part, accepted)})
	}
}

// together notes what a message's submits are joined by, which must be one thing.
func (a *audit) together(m *AuditMessage) {
	if len(m.Parts) < 2 {
		return
	}
	spans := map[joinedBy]span{}
	for _, s := range a.truth.byDest[m.Destination.Addr] {
		if a.owners[s.N].message != m.ID || !s.accepted() {
			continue
		}
		key := joinedBy{s.Source, s.Dest, s.JoinedBy, s.Parts}
		sp, ok := spans[key]
		if !ok {
			sp = span{m.ID, s.N, s.N}
		}
		sp.first, sp.last = min(sp.first, s.N), max(sp.last, s.N)
		spans[key] = sp
	}
	if len(spans) > 1 {
		a.differ(Difference{Kind: Mixed, Message: m.ID, Detail: fmt.Sprintf("its parts are joined by %d different references", len(spans))})
	}
	for key, sp := range spans {
		a.spans[key] = append(a.spans[key], sp)
	}
}

// mixed finds messages of one reference whose parts came between each other's.
func (a *audit) mixed() {
	for key, spans := range a.spans {
		slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.first, y.first) })
		for i, s := range spans[1:] {
			if before := spans[i]; s.first < before.last {
				a.differ(Difference{Kind: Mixed, Message: s.message, N: s.first, Detail: fmt.Sprintf("joined by %s, as %s is, to the same destination at the same time", key.by, before.message)})
			}
		}
	}
}
