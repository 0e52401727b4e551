package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"esmed/smpp/smpptest"
)

func wireCommand() *cobra.Command {
	l := smpptest.Load{RegisteredDelivery: 1}
	var passwordFile string
	var within time.Duration
	c := &cobra.Command{
		Use:   "wire [flags]",
		Short: "Be an ESME that submits as fast as it can: what the wire can do",
		Long: `Binds as transceiver, submits, answers every receipt ESME_ROK at once (and keeps none), and prints rates.
Against "smscsim serve" this is what the wire can do, to compare an ESME with.`,
		Example: `  smscsim wire --addr 127.0.0.1:2775 --submits 100000 --window 1000`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if passwordFile != "" {
				password, err := os.ReadFile(passwordFile)
				if err != nil {
					return err
				}
				l.Password = strings.TrimRight(string(password), "\r\n")
			}
			ctx, stop := context.WithTimeout(c.Context(), within)
			defer stop()
			res, err := l.Run(ctx)
			if err == nil || ctx.Err() != nil {
				printWire(c, res)
			}
			if ctx.Err() == context.DeadlineExceeded {
				return fmt.Errorf("not done within %s", within)
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&l.Addr, "addr", "127.0.0.1:2775", "address of the SMSC")
	f.StringVar(&l.SystemID, "system-id", "load", "system_id of the bind")
	f.StringVar(&passwordFile, "password-file", "", "file with the password of the bind")
	f.IntVar(&l.Submits, "submits", 10000, "how many")
	f.IntVar(&l.Window, "window", 100, "outstanding submit_sm")
	f.IntVar(&l.Rate, "rate", 0, "submit_sm a second; 0: no limit")
	f.StringVar(&l.Text, "text", "", "of every message; a short one by default")
	f.Uint8Var(&l.RegisteredDelivery, "registered-delivery", 1, "as in submit_sm; 0: no receipts are waited for")
	f.DurationVar(&l.Quiet, "quiet", 5*time.Second, "end when nothing more has come for so long")
	f.DurationVar(&within, "within", 10*time.Minute, "end, and fail, after so long")
	return c
}

func printWire(c *cobra.Command, r smpptest.LoadResult) {
	out := c.OutOrStdout()
	fmt.Fprintf(out, "submitted %d, accepted %d, refused %d, unanswered %d\n", r.Submitted, r.Accepted, r.Refused, r.Submitted-r.Accepted-r.Refused)
	fmt.Fprintf(out, "answers %.0f/s in %s, p50 %s p99 %s\n", rate(r.Accepted+r.Refused, r.Answered), r.Answered.Round(time.Millisecond), r.ResponseP50, r.ResponseP99)
	fmt.Fprintf(out, "delivered to us %d, of these %d receipts: %.0f/s in %s\n", r.Deliveries, r.Receipts, rate(r.Deliveries, r.Elapsed), r.Elapsed.Round(time.Millisecond))
}

func rate(n int, in time.Duration) float64 {
	if in <= 0 {
		return 0
	}
	return float64(n) / in.Seconds()
}
