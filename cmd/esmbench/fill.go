package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"esmed/receipt"
	"esmed/statemachine"
	"esmed/store"
)

// How an SMSC's ids are written.
const (
	idsUUID = "uuid" // random
	idsHex  = "hex"  // counted from 1, upper case: what comes later should begin behind them
)

// The configuration's own values where it says nothing: with these rules in force a daemon finds nothing to
// judge again.
const (
	deliveryWindow = 72 * time.Hour
	receiptGrace   = time.Hour
)

// fillGC lets the heap grow to some hundred megabytes, for a tenth less CPU.
const fillGC = 400

// filling says what fill makes.
type filling struct {
	dir      string
	smsc     string
	ids      string
	messages int
	queued   int     // more of them, which wait to be sent
	days     float64 // over which they were accepted, up to now
	open     float64 // share of those without a receipt
}

func fillCommand() *cobra.Command {
	var f filling
	c := &cobra.Command{
		Use:   "fill --dir DIR",
		Short: "Make a data_dir with many messages",
		Long: `Makes a data_dir as messages leave it that were accepted, sent, answered and reported over some days up to now,
many of them under way at a time. It goes the way of every record, through the store's writer and applier, but
without fsync until it ends: what it leaves when it is interrupted is of no use, and no daemon takes it.

Of the share that --open names no receipt came: the newest are still waited for, the others were given up when
their window was over. Receipts of the rest say DELIVRD, and now and then UNDELIV or EXPIRED.`,
		Example: "  esmbench fill --dir /var/tmp/million --messages 1000000 --open 0.01",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return usageError{err}
			}
			debug.SetGCPercent(fillGC)
			began := time.Now()
			if err := f.fill(c.Context()); err != nil {
				return err
			}
			took := time.Since(began)
			fmt.Fprintf(c.OutOrStdout(), "%d messages in %.1f s, %.0f a second\n",
				f.messages+f.queued, took.Seconds(), float64(f.messages+f.queued)/took.Seconds())
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.dir, "dir", "", "where; made, or empty")
	flags.IntVar(&f.messages, "messages", 100_000, "how many that were sent")
	flags.IntVar(&f.queued, "queued", 0, "how many more that wait to be sent")
	flags.StringVar(&f.ids, "ids", idsUUID, "the SMSC's ids: uuid (random) or hex (1, 2, ... A, B, ...)")
	flags.Float64Var(&f.days, "days", 30, "over how many days up to now they were accepted")
	flags.Float64Var(&f.open, "open", 0, "share that no receipt came for")
	flags.StringVar(&f.smsc, "smsc", "alpha", "name of the SMSC, and of its account")
	return c
}

func (f *filling) check() error {
	switch {
	case f.dir == "":
		return errors.New("--dir is needed")
	case f.ids != idsUUID && f.ids != idsHex:
		return fmt.Errorf("--ids: uuid or hex (got %q)", f.ids)
	case f.messages < 0 || f.queued < 0 || f.days <= 0 || f.open < 0 || f.open > 1:
		return errors.New("numbers must not be negative, --days more than 0, --open from 0 to 1")
	}
	return nil
}

func (f *filling) rules() statemachine.Rules {
	return statemachine.Rules{Parser: receipt.ParserVersion, SMSCs: []statemachine.SMSCRules{{
		SMSC: f.smsc, Account: f.smsc, Receipt: receipt.DefaultRules(), DeliveryWindow: deliveryWindow, ReceiptGrace: receiptGrace,
	}}}
}

// fill makes the store. One that it does not finish is refused by whoever opens it; it stays open until the
// process ends.
func (f *filling) fill(ctx context.Context) error {
	end := time.Now()
	var clock atomic.Int64 // nanoseconds
	start := end.Add(-time.Duration(f.days * float64(24*time.Hour)))
	clock.Store(start.UnixNano())
	s, err := store.Open(store.Config{
		Dir: f.dir, Decode: decodePDU, TextSpans: textSpans, Unsynced: true,
		Now: func() time.Time { return time.Unix(0, clock.Load()) },
	})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.Background())
	defer stop()
	var g errgroup.Group
	g.Go(func() error { return s.Run(running) })
	err = newPlayer(f, s, &clock, start, end).play(ctx)
	stop()
	if err = errors.Join(err, g.Wait()); err != nil {
		return err // and not closed: what there is must not pass for a whole one
	}
	return s.Close()
}
