package daemon

import (
	"context"
	"slices"

	"esmed/cmd/esmed/internal/control"
	"esmed/statemachine"
	"esmed/store"
)

// Operate implements control.Operator.
func (b *backend) Operate(ctx context.Context, facts ...*statemachine.Operator) ([]control.Judged, error) {
	judged, err := b.operate(ctx, facts)
	return judged, apiError(err)
}

func (b *backend) operate(ctx context.Context, facts []*statemachine.Operator) ([]control.Judged, error) {
	if len(facts) == 0 {
		return nil, nil
	}
	all := make([]statemachine.Fact, len(facts))
	for i, f := range facts {
		all[i] = f
	}
	return b.judge(ctx, all)
}

// Retry implements control.Operator.
func (b *backend) Retry(ctx context.Context, rows ...statemachine.InboxKey) (matched int, err error) {
	facts := make([]statemachine.Fact, len(rows))
	for i, key := range rows {
		facts[i] = &statemachine.Retry{Row: key}
	}
	judged, err := b.judge(ctx, facts)
	for _, j := range judged {
		if slices.ContainsFunc(j.Decisions, func(d statemachine.Decision) bool { return d.Correlation == statemachine.Matched }) {
			matched++
		}
	}
	return matched, apiError(err)
}

// Reprocess implements control.Operator.
func (b *backend) Reprocess(ctx context.Context, by string, see func(control.ReprocessPage) error) error {
	return b.passes.Reprocess(ctx, by, see)
}

// judge records those of some facts that would do something now, and says what came of all. What they rest
// on may change before they are recorded: then the record says that they did nothing.
func (b *backend) judge(ctx context.Context, facts []statemachine.Fact) ([]control.Judged, error) {
	tried, err := b.store.Try(ctx, facts...)
	if err != nil {
		return nil, err
	}
	judged := make([]control.Judged, len(facts))
	var worth []statemachine.Fact
	var at []int
	for i, t := range tried {
		if t.NoEffect != "" {
			judged[i].NoEffect = t.NoEffect
			continue
		}
		worth, at = append(worth, facts[i]), append(at, i)
	}
	var came []store.Judgement
	if len(worth) > 0 {
		if came, err = b.store.Judge(ctx, worth...); err != nil {
			return nil, err
		}
	}
	for i, j := range came {
		judged[at[i]] = control.Judged{Record: j.Record.Seq, Decisions: j.Decisions, NoEffect: j.NoEffect}
	}
	return judged, nil
}
