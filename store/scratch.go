package store

import (
	"context"

	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

const (
	// aheadSteps bounds how many steps lie ready to be folded while others are, and aheadBytes what the
	// records of one take in the log.
	aheadSteps = 16
	aheadBytes = 256 << 10
)

// decodedStep are records to be folded.
type decodedStep struct {
	records   []statemachine.Record
	textsGone int // receptions among them whose text is
}

// fold brings the scratch projection up to a record. Records are read and decoded while those before are folded.
func (c *comparison) fold(ctx context.Context, to uint64) error {
	if c.scratch.cursor >= to {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	steps, from := make(chan decodedStep, aheadSteps), c.scratch.cursor+1
	g.Go(func() error {
		defer close(steps)
		return c.readSteps(ctx, from, to, steps)
	})
	g.Go(func() error { return c.foldSteps(to, steps) })
	return g.Wait()
}

func (c *comparison) readSteps(ctx context.Context, from, to uint64, steps chan<- decodedStep) error {
	for from <= to {
		step, err := c.readStep(from, to)
		if err != nil || len(step.records) == 0 {
			return err
		}
		from = step.records[len(step.records)-1].Seq + 1
		select {
		case steps <- step:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *comparison) readStep(from, to uint64) (step decodedStep, err error) {
	step.records = make([]statemachine.Record, 0, applyStep)
	size := 0
	err = c.v.s.journal.readFrom(from, func(seq uint64, value []byte) (bool, error) {
		if seq > to {
			return false, nil
		}
		e, err := c.v.s.decode(seq, value)
		if err != nil {
			return false, err
		}
		if e.receptionWithoutText() {
			step.textsGone++
		}
		step.records = append(step.records, e.Record)
		size += len(value)
		return len(step.records) < applyStep && size < aheadBytes, nil
	})
	return step, err
}

// foldSteps folds until there are no more steps.
func (c *comparison) foldSteps(to uint64, steps <-chan decodedStep) error {
	for more := true; more; {
		n := 0
		err := c.scratch.run(func(uint64) ([]statemachine.Record, error) {
			if n >= applyBatch {
				return nil, nil
			}
			var step decodedStep
			step, more = <-steps
			c.gone += step.textsGone
			c.v.result.TakenStored += uint64(step.textsGone)
			for i := range step.records {
				c.taken.see(&step.records[i])
			}
			n += len(step.records)
			return step.records, nil
		}, nil)
		if err != nil {
			return err
		}
		c.v.progress(VerifyProgress{"fold", c.scratch.cursor, to})
	}
	return nil
}
