package main

import (
	"context"
	"fmt"
)

// runAll runs cases one after another and tells and keeps each one's outcome. It ends at the first that fails.
func (b *bench) runAll(ctx context.Context, cases []setting, results string) error {
	for _, s := range cases {
		o, err := b.run(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", &s, err)
		}
		if err := o.print(b.out); err != nil {
			return err
		}
		if results == "" {
			continue
		}
		if err := appendOutcome(results, o); err != nil {
			return err
		}
	}
	return nil
}
