package statemachine

import (
	"fmt"
	"time"
)

// holdQueue keeps, or no longer keeps, an SMSC's queue from being sent. What waits in it does not change, and expires
// as ever.
func (s *step) holdQueue(o *Operator) error {
	if o.SMSC == "" {
		return s.noEffect("it names no SMSC")
	}
	was, err := s.view.Hold(o.SMSC)
	if err != nil {
		return err
	}
	change := HoldChange{SMSC: o.SMSC}
	switch held := was != (Hold{}); {
	case held && o.Action == ActionHold:
		return s.noEffect(fmt.Sprintf("the queue of %s is held already, by %s since %s, record %d", o.SMSC, was.By, was.At.UTC().Format(time.RFC3339), was.Seq))
	case !held && o.Action == ActionRelease:
		return s.noEffect(fmt.Sprintf("the queue of %s is not held", o.SMSC))
	case !held:
		change.Hold = Hold{Seq: s.rec.Seq, At: s.rec.At, By: o.By, Reason: o.Reason}
	}
	s.eff.Hold = &change
	return nil
}
