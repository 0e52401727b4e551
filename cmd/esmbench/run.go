package main

import (
	"cmp"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// places are flags of all commands that run cases.
type places struct {
	bin, dir, filled, results string
}

func (p *places) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&p.bin, "bin", "bin", "directory of esmed and smscsim")
	f.StringVar(&p.dir, "dir", "", "where cases work, on the disk that is to be measured; default the system's temporary directory")
	f.StringVar(&p.filled, "filled", "", "keep filled data_dirs here, and copy them")
	f.StringVar(&p.results, "results", "", "append results to this file, one JSON object a case")
}

func (p *places) bench(out io.Writer) *bench {
	return &bench{bin: p.bin, dir: cmp.Or(p.dir, os.TempDir()), filled: p.filled, out: out}
}

func runCommand() *cobra.Command {
	var p places
	s := setting{Name: "run"}
	c := &cobra.Command{
		Use:   "run",
		Short: "Run one case: a daemon and a simulator, whole lives",
		Long: `Starts a simulated SMSC and a daemon with a data_dir of its own, filled with --stored messages, puts whole lives on
it, and prints what that cost, beside what a plain file does with the same records.`,
		Example: `  esmbench run --lives 100000
  esmbench run --stored 1000000 --ids hex --duration 20s --rate 2000 --probes 20 --reads --idle 10s`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b := p.bench(c.OutOrStdout())
			return b.runAll(c.Context(), []setting{s}, p.results)
		},
	}
	p.flags(c)
	f := c.Flags()
	f.IntVar(&s.Stored, "stored", 0, "messages in the store before")
	f.StringVar(&s.IDs, "ids", idsUUID, "the SMSC's ids: uuid or hex")
	f.IntVar(&s.Window, "window", 1000, "of each session")
	f.IntVar(&s.Sessions, "sessions", 1, "sessions")
	f.IntVar(&s.Lives, "lives", 0, "how many; 0: as --duration allows")
	f.DurationVar(&s.Duration, "duration", 0, "of submitting; 0: until all --lives are submitted")
	f.IntVar(&s.Rate, "rate", 0, "submissions a second; 0: as many as are taken")
	f.IntVar(&s.Clients, "clients", 0, "so many clients send single requests; 0: one batch")
	f.IntVar(&s.Ahead, "ahead", 0, "hold back while so many lives are under way; 0: do not")
	f.IntVar(&s.Probes, "probes", 0, "lives a second that are asked for until they are final")
	f.BoolVar(&s.Reads, "reads", false, "time queries, and starts after a stop and after a kill")
	f.DurationVar(&s.Idle, "idle", 0, "watch the idle daemon for so long; 0: do not")
	f.StringVar(&s.Profile, "profile", "", "write here, as go tool pprof reads it, what the daemon spends its time on")
	return c
}

// matrix are the cases of the standard run: as fast as it goes at any number stored, and then what is asked
// of a store that is nearly empty: rates up to and beyond what can be done, single requests, a window of 1.
func matrix(stored []int, each time.Duration) []setting {
	base := setting{IDs: idsUUID, Window: 1000, Sessions: 1, Duration: each}
	with := func(name string, change func(*setting)) setting {
		s := base
		s.Name = name
		change(&s)
		return s
	}
	var all []setting
	for _, n := range stored {
		for _, ids := range []string{idsUUID, idsHex} {
			all = append(all, with("full", func(s *setting) {
				s.Stored, s.IDs, s.Ahead = n, ids, fullAhead
				if ids == idsUUID {
					s.Reads, s.Idle = true, idleFor
				}
			}))
		}
	}
	for _, rate := range []int{1000, 2000, 5000, 10000, 15000, 20000} {
		all = append(all, with("paced", func(s *setting) { s.Rate, s.Probes = rate, 20 }))
	}
	return append(all,
		with("overload", func(s *setting) { s.Rate = overload }),
		with("sessions", func(s *setting) { s.Sessions, s.Ahead = 3, fullAhead }),
		with("window1", func(s *setting) { s.Window, s.Ahead = 1, windowAhead }),
		with("posts", func(s *setting) { s.Clients = 64 }),
	)
}

const (
	fullAhead   = 20000            // lives under way: some windows, and no queue that grows
	windowAhead = 200              // the same where a window of 1 has them wait for each other
	overload    = 60000            // submissions a second, more than any daemon takes here
	idleFor     = 10 * time.Second //
)

func benchCommand() *cobra.Command {
	var p places
	var stored []int
	var each time.Duration
	c := &cobra.Command{
		Use:     "bench",
		Short:   "Run the standard cases",
		Long:    "Runs, one after another, what the documentation's figures come from: see \"esmed help performance\".",
		Example: "  esmbench bench --stored 0,100000,1000000 --filled /var/tmp/filled --results results.json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.bench(c.OutOrStdout()).runAll(c.Context(), matrix(stored, each), p.results)
		},
	}
	p.flags(c)
	c.Flags().IntSliceVar(&stored, "stored", []int{0, 100_000, 1_000_000}, "numbers of stored messages")
	c.Flags().DurationVar(&each, "each", 10*time.Second, "how long each case submits")
	return c
}
