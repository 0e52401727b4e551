package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"esmed/smpp/smpptest"
)

func rateCommand() *cobra.Command {
	var truth string
	c := &cobra.Command{
		Use:   "rate --truth F",
		Short: "Say how fast the submits of a truth came",
		Long: `Prints how many submit_sm the truth of serve holds, refused ones included, how many came in the fullest
second (any second, wherever it begins) and how many a second on the average, by the simulator's clock.`,
		Example: `  smscsim rate --truth truth.ndjson`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if truth == "" {
				return usageError{errors.New("--truth is needed")}
			}
			lines, err := readFile(truth, smpptest.ReadTruth)
			if err != nil {
				return err
			}
			r := smpptest.RateOf(lines)
			fmt.Fprintf(c.OutOrStdout(), "%d submits in %s: at most %d in a second, %.1f on the average\n", r.Submits, r.Elapsed.Round(time.Millisecond), r.Most, r.Average)
			return nil
		},
	}
	c.Flags().StringVar(&truth, "truth", "", "what smscsim serve --truth wrote")
	return c
}
