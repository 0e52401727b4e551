package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// backend makes a store what the API works on.
type backend struct {
	store   *store.Store
	dataDir string    // where it is
	room    *diskRoom // nil without a daemon, as passes
	keep    *config.Retention
	passes  *reprocessor
	// reload reads the configuration as it is now; nil = there is none, and the rules in force stand for it.
	reload func() (*config.Config, error)
	rules  sync.Map // of rules records that were asked for, by seq (uint64, *statemachine.Rules)
}

// readers are the parts of a control.Backend that a store without a daemon has too.
func (b *backend) readers() control.Backend {
	return control.Backend{
		Messages: b, Log: b, Inbox: b, Exceptions: b, Evidence: b, Report: b, Verify: b, Backup: b, Diagnose: b, Rehearse: b,
		Queues: b.queues, Store: b.storeStat,
	}
}

// apiError gives an error of the store the name that the API answers with a status of its own.
func apiError(err error) error {
	if err == nil {
		return nil
	}
	for _, name := range []struct{ ours, theirs error }{
		{store.ErrObstructed, control.ErrUnavailable}, // its reason is among those below
		{store.ErrNotFound, control.ErrNotFound},
		{store.ErrNoRoom, control.ErrNoRoom},
		{store.ErrRefConflict, control.ErrRefConflict},
		{store.ErrNoFiles, control.ErrUnavailable},
		{store.ErrDiskFull, control.ErrDiskFull}, // to which that one counts too
		{store.ErrClosed, control.ErrUnavailable},
	} {
		if errors.Is(err, name.ours) {
			return fmt.Errorf("%w: %w", name.theirs, err)
		}
	}
	if damaged, ok := errors.AsType[*store.DamagedError](err); ok {
		return fmt.Errorf("%w: %w", control.ErrDamaged, damaged)
	}
	return err
}

// Accept implements control.Submitter.
func (b *backend) Accept(ctx context.Context, m *statemachine.MessageAccepted) (control.Accepted, error) {
	if err := b.room.admit(); err != nil {
		return control.Accepted{}, err
	}
	a, err := b.store.Accept(ctx, m)
	b.room.wrote(err)
	return control.Accepted(a), apiError(err)
}

// AcceptNow implements control.Submitter.
func (b *backend) AcceptNow(ctx context.Context, m *statemachine.MessageAccepted) (control.Accepted, error) {
	if err := b.room.admit(); err != nil {
		return control.Accepted{}, err
	}
	a, err := b.store.AcceptNow(ctx, m)
	b.room.wrote(err)
	return control.Accepted(a), apiError(err)
}

// AcceptPost implements control.Submitter.
func (b *backend) AcceptPost(ctx context.Context, m *statemachine.MessageAccepted, done func(control.Accepted, error)) error {
	if err := b.room.admit(); err != nil {
		return err
	}
	return apiError(b.store.AcceptPost(ctx, m, func(a store.Acceptance, err error) {
		done(control.Accepted(a), apiError(err))
	}))
}

// Message implements control.MessageReader.
func (b *backend) Message(ctx context.Context, id statemachine.ID) (*statemachine.Message, error) {
	m, err := b.store.Message(ctx, id)
	return m, apiError(err)
}

// Messages implements control.MessageReader.
func (b *backend) Messages(ctx context.Context, f control.MessageFilter) ([]*statemachine.Message, statemachine.ID, error) {
	page, next, err := b.store.Messages(ctx, store.Filter{
		States: f.States, SMSC: f.SMSC, To: f.To, Since: f.Since, Until: f.Until, After: f.After, Limit: f.Limit,
	})
	return page, next, apiError(err)
}

// MessagesByRef implements control.MessageReader.
func (b *backend) MessagesByRef(ctx context.Context, ref string) ([]*statemachine.Message, error) {
	ms, err := b.store.MessageByRef(ctx, "", ref)
	return ms, apiError(err)
}

// MessagesByMessageID implements control.MessageReader.
func (b *backend) MessagesByMessageID(ctx context.Context, smsc, messageID string) ([]*statemachine.Message, error) {
	account := ""
	if smsc != "" {
		_, rules, err := b.store.Rules(ctx)
		if err != nil {
			return nil, apiError(err)
		}
		r := rulesFor(rules, smsc)
		if r == nil {
			return nil, nil
		}
		account = r.Account
	}
	ms, err := b.store.MessagesByExternalID(ctx, account, messageID)
	return ms, apiError(err)
}

// rulesFor is an SMSC's part of a rules record; nil when it has none.
func rulesFor(rules *statemachine.Rules, smsc string) *statemachine.SMSCRules {
	if rules == nil {
		return nil
	}
	for i := range rules.SMSCs {
		if rules.SMSCs[i].SMSC == smsc {
			return &rules.SMSCs[i]
		}
	}
	return nil
}

// reception implements control.ReadReception.
func (b *backend) reception(rules uint64, r *statemachine.Reception) *receipt.Receipt {
	return readReception(b.rulesOf(rules), r)
}

// rulesOf are the rules of a record, 0 for those in force now; nil when they cannot be had, so that a
// reception shows as the default rules read it rather than not at all.
func (b *backend) rulesOf(seq uint64) *statemachine.Rules {
	if known, ok := b.rules.Load(seq); ok {
		return known.(*statemachine.Rules)
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	if seq == 0 {
		_, rules, _ := b.store.Rules(ctx)
		return rules
	}
	rec, err := b.store.Record(ctx, seq)
	rules, ok := rec.Fact.(*statemachine.Rules)
	if err != nil || !ok {
		return nil
	}
	b.rules.Store(seq, rules)
	return rules
}

// readReception reads a PDU under rules; nil when it is no delivery.
func readReception(rules *statemachine.Rules, r *statemachine.Reception) *receipt.Receipt {
	d := DecodePDU(r.PDU)
	switch smpp.CommandID(d.CommandID) {
	case smpp.CommandDeliverSM, smpp.CommandDataSM:
	default:
		return nil
	}
	reading := receipt.Decode(d, receiptRules(rules, r.SMSC))
	return &reading
}

// receiptRules are an SMSC's reading rules; nil, which is the default ones, when there are none for it.
func receiptRules(rules *statemachine.Rules, smsc string) *receipt.Rules {
	if r := rulesFor(rules, smsc); r != nil {
		return &r.Receipt
	}
	return nil
}

// History implements control.LogReader.
func (b *backend) History(ctx context.Context, id statemachine.ID) ([]control.LogEntry, error) {
	events, err := b.store.History(ctx, id)
	return logEntries(events), apiError(err)
}

// Events implements control.LogReader.
func (b *backend) Events(ctx context.Context, after uint64, limit int) ([]control.LogEntry, error) {
	events, err := b.store.Events(ctx, after, limit)
	return logEntries(events), apiError(err)
}

func logEntries(events []store.Event) []control.LogEntry {
	entries := make([]control.LogEntry, len(events))
	for i, e := range events {
		entries[i] = control.LogEntry{Record: e.Record, Decisions: e.Decisions}
	}
	return entries
}

// Changed implements control.LogReader.
func (b *backend) Changed() <-chan struct{} { return b.store.Changed() }

// Inbox implements control.InboxReader.
func (b *backend) Inbox(ctx context.Context, smsc string, after statemachine.InboxKey, limit int) ([]control.InboxEntry, statemachine.InboxKey, error) {
	rows, next, err := b.store.Inbox(ctx, smsc, string(after), limit)
	entries := make([]control.InboxEntry, len(rows))
	now := time.Now()
	for i, r := range rows {
		entries[i] = inboxEntry(r, now)
	}
	return entries, statemachine.InboxKey(next), apiError(err)
}

func inboxEntry(r *statemachine.InboxRow, now time.Time) control.InboxEntry {
	e := control.InboxEntry{Row: r}
	e.Attempts, e.NextTryAt = looked(r.ReceivedAt, now)
	return e
}

// InboxRow implements control.InboxReader.
func (b *backend) InboxRow(ctx context.Context, seq uint64) (control.InboxEntry, error) {
	row, err := b.store.InboxRowBySeq(ctx, seq)
	if err != nil {
		return control.InboxEntry{}, apiError(err)
	}
	return inboxEntry(row, time.Now()), nil
}

// Exceptions implements control.ExceptionReader.
func (b *backend) Exceptions(ctx context.Context, f control.ExceptionFilter) ([]*statemachine.Exception, string, error) {
	page, next, err := b.store.Exceptions(ctx, store.ExceptionFilter(f))
	return page, next, apiError(err)
}

// Exception implements control.ExceptionReader.
func (b *backend) Exception(ctx context.Context, id string) (*statemachine.Exception, error) {
	e, err := b.store.Exception(ctx, id)
	return e, apiError(err)
}

// Report implements control.Reporter.
func (b *backend) Report(ctx context.Context, since, until time.Time) ([]control.HourTally, error) {
	rows, err := b.store.Report(ctx, since, until)
	tallies := make([]control.HourTally, len(rows))
	for i, r := range rows {
		tallies[i] = control.HourTally(r)
	}
	return tallies, apiError(err)
}

// InboxSizes implements control.Reporter.
func (b *backend) InboxSizes(ctx context.Context) (map[string]int64, error) {
	stats, err := b.store.InboxStats(ctx)
	sizes := make(map[string]int64, len(stats))
	for _, s := range stats {
		sizes[s.SMSC] = s.Waiting
	}
	return sizes, apiError(err)
}

// Verify implements control.Verifier.
func (b *backend) Verify(ctx context.Context, progress func(control.VerifyProgress)) (control.VerifyResult, error) {
	r, err := b.store.Verify(ctx, func(p store.VerifyProgress) {
		progress(control.VerifyProgress{Step: p.Phase, Done: p.Done, Total: p.Total})
	})
	if err != nil {
		return control.VerifyResult{}, apiError(err)
	}
	stat, err := b.store.Stat(ctx)
	result := control.VerifyResult{OK: r.Difference == nil, Records: r.Records, Messages: uint64(stat.Messages), TakenStored: r.TakenStored}
	if d := r.Difference; d != nil {
		result.Difference = &control.VerifyDifference{File: d.File, Seq: d.Seq, Detail: d.Err.Error()}
	}
	return result, apiError(err)
}
