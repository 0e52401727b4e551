package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"esmed/cmd/smscsim/lives"
)

// loading is what load was told.
type loading struct {
	lives.Load
	tokenFile, output string
	within            time.Duration
}

// errWrong ends a load whose counts do not add up; its output has said which.
var errWrong = errors.New("what was accepted, sent and reported does not add up")

func loadCommand() *cobra.Command {
	var l loading
	c := &cobra.Command{
		Use:   "load --socket F --smsc-status F (--lives N | --duration D) [flags]",
		Short: "Put whole lives on an esmed and measure them",
		Long: `Submits messages through esmed's HTTP API, waits until the simulator has had an answer to every receipt
and esmed's report shows every message final, and prints how fast that was and what it cost.

It fails if anything is lost or doubled: what the API accepted, what the SMSC took on (by number and by a sum
over destinations and texts) and what the report counts have to be the same. Nothing else may be submitted
meanwhile. Every receipt must be a final one, so "serve" is to be started without refusals and drops.

CPU is the daemon's own. Loader and simulator share the machine with it, so what they use is told beside.`,
		Example: `  smscsim serve --addr 127.0.0.1:2775 --status-file smsc.json
  smscsim load --socket /run/esmed/esmed.sock --smsc-status smsc.json --lives 100000 --pid $(pidof esmed) --data-dir /var/lib/esmed
  smscsim load --socket esmed.sock --smsc-status smsc.json --duration 5m --ahead 20000 -o json
  smscsim load --socket esmed.sock --smsc-status smsc.json --duration 30s --rate 2000 --probes 20
  smscsim load --listen 127.0.0.1:8080 --token-file token --smsc-status smsc.json --lives 10000 --clients 64`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return l.run(c) },
	}
	addGroups(c, group("Where", l.where), group("How much", l.howMuch), group("What is measured", l.measured))
	return c
}

func (l *loading) where(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&l.Socket, "socket", "", "esmed's socket")
	f.StringVar(&l.Listen, "listen", "", "or the address of its API, with --token-file")
	f.StringVar(&l.tokenFile, "token-file", "", "file with a token that may send and read")
	f.StringVar(&l.Status, "smsc-status", "", "what \"smscsim serve --status-file\" writes")
	f.IntVar(&l.PID, "pid", 0, "process of esmed, for its CPU, memory and octets written")
	f.StringVar(&l.DataDir, "data-dir", "", "esmed's data_dir, for octets stored")
	f.BoolP("help", "h", false, "this help")
}

func (l *loading) howMuch(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&l.Lives, "lives", 0, "how many; 0: as --duration allows")
	f.DurationVar(&l.Duration, "duration", 0, "of submitting; 0: until all --lives are submitted")
	f.IntVar(&l.Rate, "rate", 0, "submissions a second; 0: as many as are taken")
	f.IntVar(&l.Clients, "clients", 0, "so many clients send single requests, each waiting for its answer; 0: one batch")
	f.IntVar(&l.Unanswered, "unanswered", 4096, "submissions of the batch that may wait for their results")
	f.IntVar(&l.Ahead, "ahead", 0, "hold back while so many accepted lives are not done; 0: do not")
	f.DurationVar(&l.within, "within", time.Hour, "end, and fail, after so long")
}

func (l *loading) measured(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&l.Probes, "probes", 0, "lives a second that are asked for until they are final")
	f.DurationVar(&l.Scrape, "scrape", time.Second, "between looks at esmed's metrics during the run; 0: none")
	f.DurationVar(&l.Quiet, "quiet", 30*time.Second, "give up when no life has ended for so long")
	f.StringVarP(&l.output, "output", "o", "table", "table or json")
}

func (l *loading) run(c *cobra.Command) error {
	if l.output != "table" && l.output != "json" {
		return usageError{fmt.Errorf("--output: table or json, not %q", l.output)}
	}
	if l.tokenFile != "" {
		token, err := os.ReadFile(l.tokenFile)
		if err != nil {
			return err
		}
		l.Token = strings.TrimSpace(string(token))
	}
	if err := l.Validate(); err != nil {
		return usageError{err}
	}
	// One thread is enough, and cheaper: with more, waiting clients wake one another's. The cores are the ESME's.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ctx, stop := context.WithTimeout(c.Context(), l.within)
	defer stop()
	r, err := l.Run(ctx)
	if err != nil {
		return err
	}
	if l.output == "json" {
		err = json.NewEncoder(c.OutOrStdout()).Encode(&r)
	} else {
		err = r.Print(c.OutOrStdout())
	}
	if err == nil && len(r.Wrong) > 0 {
		err = errWrong
	}
	return err
}
