package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/statemachine"
	"esmed/store"
)

// begin starts what comes before the sessions. It is false when that failed, and without an error when the
// daemon was told to stop meanwhile.
func (d *daemon) begin(ctx, failed context.Context) (started bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(failed, cancel)()
	var g errgroup.Group
	done := make(chan struct{})
	g.Go(func() error {
		defer close(done)
		return d.start(ctx)
	})
	d.awaitBegun(done, cancel)
	if err = g.Wait(); errors.Is(err, context.Canceled) {
		return false, nil
	}
	return err == nil, err
}

// awaitBegun waits until what comes before the sessions is done, and says meanwhile what it waits for. A signal to stop
// cancels it.
func (d *daemon) awaitBegun(done <-chan struct{}, cancel context.CancelFunc) {
	status := time.NewTicker(statusEvery)
	defer status.Stop()
	for {
		select {
		case <-done:
			return
		case <-status.C:
			d.systemd.says(d.startText())
		case s := <-d.signals.stop:
			cancel()
			select {
			case d.signals.stop <- s: // for whoever comes next, if the start was quicker
			default:
			}
			return
		}
	}
}

// rulesRecord is what of a configuration decides anything in the fold.
func rulesRecord(cfg *config.Config) statemachine.Rules {
	r := statemachine.Rules{Parser: receipt.ParserVersion, SMSCs: make([]statemachine.SMSCRules, len(cfg.SMSCs))}
	for i := range cfg.SMSCs {
		r.SMSCs[i] = FoldRules(&cfg.SMSCs[i])
	}
	return r
}

// FoldRules is what of one SMSC's configuration decides anything in the fold.
func FoldRules(s *config.SMSC) statemachine.SMSCRules {
	return statemachine.SMSCRules{
		SMSC: s.Name, Account: s.Account, Receipt: s.ReceiptRules(),
		DeliveryWindow: s.DeliveryWindow, ReceiptGrace: s.ReceiptGrace, InDoubtResend: s.InDoubt == "resend",
	}
}

// setRules puts a configuration's rules in force.
func (d *daemon) setRules(ctx context.Context, cfg *config.Config) error {
	rules := rulesRecord(cfg)
	if _, err := d.store.SetRules(ctx, rules); err != nil {
		return err
	}
	d.rules.Store(&rules)
	return nil
}

func (d *daemon) checkFirstAccounts(ctx context.Context) error { return d.checkAccounts(ctx, d.cfg) }

func (d *daemon) setFirstRules(ctx context.Context) error { return d.setRules(ctx, d.cfg) }

// apiSMSCs is what of a configuration a submission needs.
func apiSMSCs(cfg *config.Config) []control.SMSC {
	all := make([]control.SMSC, len(cfg.SMSCs))
	for i := range cfg.SMSCs {
		s := &cfg.SMSCs[i]
		all[i] = control.SMSC{
			Name: s.Name, Account: s.Account, InterfaceVersion: s.InterfaceVersion,
			Source:  receipt.Address{Addr: s.Source.Addr, TON: s.Source.TON, NPI: s.Source.NPI},
			DestTON: s.Dest.TON, DestNPI: s.Dest.NPI, Country: s.Dest.Country,
			RegisteredDelivery: s.RegisteredDelivery.Octet(), DefaultAlphabet: s.DefaultAlphabet,
			LongMessages: s.LongMessages, LongReceipts: s.LongReceipts,
			DeliveryWindow: s.DeliveryWindow, OwnTLVs: ownTLVs(s),
		}
	}
	return all
}

// ownTLVs are the tags that submits to an SMSC carry by its configuration.
func ownTLVs(s *config.SMSC) []uint16 {
	var tags []uint16
	if s.UserMessageReference {
		tags = append(tags, receipt.TagUserMessageReference)
	}
	if s.ClientRefTLV != 0 {
		tags = append(tags, s.ClientRefTLV)
	}
	return tags
}

// crashBatch is how many doubts are recorded at once.
const crashBatch = 1000

// recordCrash records in doubt what an earlier process left unanswered: it may have been written.
func (d *daemon) recordCrash(ctx context.Context) error {
	left, err := d.store.Unanswered(ctx, "")
	if err != nil {
		return fmt.Errorf("unanswered submits: %w", err)
	}
	now := time.Now()
	for n := 0; n < len(left); n += crashBatch {
		var facts []statemachine.Fact
		for _, u := range left[n:min(n+crashBatch, len(left))] {
			facts = append(facts, &statemachine.AttemptInDoubt{
				Message: u.Ref.Message, Part: u.Ref.Part, Attempt: u.Ref.Attempt,
				SMSC: u.SMSC, Session: u.Session, Cause: causeCrash, RetryAt: now,
			})
		}
		if _, err := d.store.Append(ctx, facts...); err != nil {
			return fmt.Errorf("unanswered submits: %w", err)
		}
	}
	if len(left) > 0 {
		d.log.Warn("submits in doubt: an earlier process ended before their answers", zap.Int("attempts", len(left)))
	}
	return nil
}

// checkAccounts refuses another account for an SMSC that has open messages: their ids would be looked
// for in a scope that they were not given in. That it was not configured for a while changes nothing.
func (d *daemon) checkAccounts(ctx context.Context, cfg *config.Config) error {
	_, before, err := d.store.Rules(ctx)
	if before == nil {
		return err
	}
	var open map[string]int64
	for i := range cfg.SMSCs {
		now := &cfg.SMSCs[i]
		if was := rulesFor(before, now.Name); was != nil && was.Account == now.Account {
			continue
		}
		if open == nil {
			if open, err = d.openMessages(ctx); err != nil {
				return err
			}
		}
		if open[now.Name] == 0 {
			continue
		}
		was, err := d.accountOfOpen(ctx, now)
		if err != nil {
			return err
		}
		if was != "" {
			return &ConfigError{fmt.Errorf("smscs: %s: account changes from %q to %q while %d messages are open",
				now.Name, was, now.Account, open[now.Name])}
		}
	}
	return nil
}

// accountOfOpen finds another account among those of an SMSC's open messages; "" when there is none.
func (d *daemon) accountOfOpen(ctx context.Context, smsc *config.SMSC) (string, error) {
	f := store.Filter{States: slices.DeleteFunc(statemachine.States(), statemachine.State.Closed), SMSC: smsc.Name, Limit: 1000}
	for {
		page, next, err := d.store.Messages(ctx, f)
		if err != nil {
			return "", err
		}
		for _, m := range page {
			if m.Account != smsc.Account && !m.Closed() {
				return m.Account, nil
			}
		}
		if f.After = next; next == "" {
			return "", nil
		}
	}
}

// openMessages counts the messages that are not closed, by SMSC.
func (d *daemon) openMessages(ctx context.Context) (map[string]int64, error) {
	rows, err := d.store.Report(ctx, time.Time{}, time.Now().Add(time.Hour))
	if err != nil {
		return nil, err
	}
	open := map[string]int64{}
	for _, r := range rows {
		open[r.SMSC] += r.Open
	}
	return open, nil
}
