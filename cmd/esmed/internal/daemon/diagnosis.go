package daemon

import (
	"context"
	"errors"

	"esmed/statemachine"
	"esmed/store"
)

// diagnosisPage is how many rows or messages are read at a time.
const diagnosisPage = 1000

// openStates are those of messages that a receipt may still be about.
var openStates = []statemachine.State{
	statemachine.Queued, statemachine.Submitting, statemachine.InDoubt, statemachine.Submitted, statemachine.Scheduled,
	statemachine.Enroute, statemachine.Accepted, statemachine.Unknown, statemachine.Unreported,
}

// reportedStates are those of messages that a receipt has closed.
var reportedStates = []statemachine.State{
	statemachine.Delivered, statemachine.Expired, statemachine.Deleted, statemachine.Undeliverable, statemachine.Rejected,
	statemachine.Skipped,
}

// Diagnose implements control.Diagnoser. It reads page by page, while all else goes on.
func (b *backend) Diagnose(ctx context.Context, smsc string) ([]*statemachine.SMSCDiagnosis, error) {
	_, rules, err := b.store.Rules(ctx)
	if err != nil {
		return nil, apiError(err)
	}
	d := statemachine.NewDiagnosis(statemachine.Fold{Decode: DecodePDU}, rules, func(seq uint64) (statemachine.Record, error) {
		rec, err := b.store.Record(ctx, seq)
		if errors.Is(err, store.ErrNotFound) {
			return statemachine.Record{}, nil
		}
		return rec, err
	})
	if err := b.diagnoseRows(ctx, d, smsc); err != nil {
		return nil, apiError(err)
	}
	if err := b.diagnoseMessages(ctx, d, store.Filter{States: openStates, Limit: diagnosisPage}, 0); err != nil {
		return nil, apiError(err)
	}
	if rules != nil {
		for i := range rules.SMSCs {
			name := rules.SMSCs[i].SMSC
			if smsc != "" && smsc != name {
				continue
			}
			f := store.Filter{States: reportedStates, SMSC: name, Limit: diagnosisPage}
			if err := b.diagnoseMessages(ctx, d, f, statemachine.MaxControls); err != nil {
				return nil, apiError(err)
			}
		}
	}
	found, err := d.Conclude(ctx)
	return only(found, smsc), apiError(err)
}

func (b *backend) diagnoseRows(ctx context.Context, d *statemachine.Diagnosis, smsc string) error {
	for after := ""; ; {
		rows, next, err := b.store.Inbox(ctx, smsc, after, diagnosisPage)
		if err != nil {
			return err
		}
		for _, row := range rows {
			d.Wait(row)
		}
		if after = next; next == "" {
			return nil
		}
	}
}

// diagnoseMessages adds messages, newest first, until there are enough of them; 0 = as many as there is
// room for.
func (b *backend) diagnoseMessages(ctx context.Context, d *statemachine.Diagnosis, f store.Filter, enough int) error {
	for n := 0; ; {
		page, next, err := b.store.Messages(ctx, f)
		if err != nil {
			return err
		}
		for _, m := range page {
			if !d.Add(m) {
				return nil
			}
		}
		if n += len(page); next == "" || enough > 0 && n >= enough {
			return nil
		}
		f.After = next
	}
}

// only gives what was found about one SMSC; "" = all.
func only(found []*statemachine.SMSCDiagnosis, smsc string) []*statemachine.SMSCDiagnosis {
	if smsc == "" {
		return found
	}
	for _, d := range found {
		if d.SMSC == smsc {
			return []*statemachine.SMSCDiagnosis{d}
		}
	}
	return nil
}
