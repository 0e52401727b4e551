package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/smscsim/lives"
	"esmed/smpp/smpptest"
)

// serving is what serve was told beside the simulation.
type serving struct {
	cfg                         smpptest.Config
	addrFile, truth, statusFile string
	passwordFile                string
	tls                         tlsFiles
	statsEvery                  time.Duration
	untilDrained                uint64
	stdout, stderr              io.Writer
}

func serveCommand() *cobra.Command {
	var s serving
	c := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Be an SMSC (the default command)",
		Long: `Listens for ESMEs, takes what they submit, and sends receipts and whatever else the flags ask for.
The first line on stdout is the address. What is not acknowledged is sent again after the next bind.
Equal seeds do the same to equal submits. Without --truth only counts are kept: memory does not grow.`,
		Example: `  smscsim serve --addr 127.0.0.1:2775 --truth truth.ndjson
  smscsim --state DELIVRD=0.9,UNDELIV=0.1 --duplicates 0.05 --contradictions 0.01 --before-response 0.1
  smscsim --id hex --id-tlv hex --id-text decimal --data-sm 0.2 --receipt-delay 2s --receipt-jitter 3s
  smscsim --refuse ESME_RTHROTTLED=0.02 --no-answer 0.001 --drop-every 500 --drop-how reset,mid
  smscsim --throttle-after 10s --throttle-for 5s --bind-at-most 2 --bind-linger 30s
  smscsim --tls-cert server.crt --tls-key server.key --tls-client-ca ca.crt --also [::1]:2775`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s.stdout, s.stderr = c.OutOrStdout(), c.ErrOrStderr()
			return s.run(c.Context())
		},
	}
	groups := []flagGroup{group("Server", s.flags)}
	addGroups(c, append(groups, simulationFlags(&s.cfg)...)...)
	return c
}

func (s *serving) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.cfg.Addr, "addr", "127.0.0.1:2775", "address to listen on; port 0: a free one")
	f.StringSliceVar(&s.cfg.More, "also", nil, "further addresses at which the same account is reached; may be repeated")
	f.StringVar(&s.addrFile, "addr-file", "", "write the address to this file too")
	f.StringVar(&s.truth, "truth", "", "write the ground truth to this file as NDJSON")
	f.StringVar(&s.statusFile, "status-file", "", "keep statistics as JSON in this file; all is out when submits is what was sent and pending is 0")
	f.DurationVar(&s.statsEvery, "stats", 0, "print a line of statistics on stderr at this interval")
	f.Uint64Var(&s.untilDrained, "until-drained", 0, "end when n submits have come and all that was due is acknowledged")
	f.Uint64Var(&s.cfg.Seed, "seed", 1, "of all that is left to chance")
	f.StringVar(&s.passwordFile, "password-file", "", "file with the password that a bind must bring; any by default")
	s.tls.flags(c)
	f.BoolP("help", "h", false, "this help")
}

// serveGC lets the heap of a simulator, which is small, grow to some ten megabytes: it shares the cores with
// the ESME that it is there for.
const serveGC = 400

func (s *serving) run(ctx context.Context) error {
	debug.SetGCPercent(serveGC)
	if s.passwordFile != "" {
		password, err := os.ReadFile(s.passwordFile)
		if err != nil {
			return err
		}
		s.cfg.Password = strings.TrimRight(string(password), "\r\n")
	}
	var err error
	if s.cfg.TLS, err = s.tls.config(); err != nil {
		return err
	}
	if err := s.cfg.Validate(); err != nil {
		return usageError{err}
	}
	s.cfg.CountOnly = s.truth == ""
	if s.truth != "" {
		f, err := os.Create(s.truth)
		if err != nil {
			return err
		}
		defer f.Close() // written by the server before; an error in writing has shown there
		s.cfg.Truth = f
	}
	server, err := smpptest.New(s.cfg)
	if err != nil {
		return err
	}
	return s.serve(ctx, server)
}

// serve runs the server with what watches it, until ctx ends or it is drained.
func (s *serving) serve(ctx context.Context, server *smpptest.Server) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Run(ctx) })
	if s.addrFile != "" {
		if err := replaceFile(s.addrFile, []byte(server.Addr()+"\n")); err != nil {
			stop()
			_ = g.Wait()
			return err
		}
	}
	fmt.Fprintln(s.stdout, server.Addr())
	if s.untilDrained > 0 {
		g.Go(func() error {
			defer stop()
			// An error is ctx's end, which is none of ours.
			_ = server.Await(ctx, func(st smpptest.Stats) bool { return st.Submits >= s.untilDrained && st.Pending == 0 })
			return nil
		})
	}
	if s.statsEvery > 0 {
		g.Go(func() error {
			return lives.Every(ctx, s.statsEvery, func() error { return s.line(server.Stats()) })
		})
	}
	if s.statusFile != "" {
		g.Go(func() error {
			return lives.Every(ctx, lives.StatusEvery, func() error { return s.status(server, false) })
		})
	}
	err := g.Wait()
	if s.statusFile != "" && err == nil {
		err = s.status(server, true)
	}
	if err == nil {
		err = s.line(server.Stats())
	}
	return err
}

// line prints the statistics for people.
func (s *serving) line(st smpptest.Stats) error {
	_, err := fmt.Fprintf(s.stderr, "links %d submits %d accepted %d refused %d answered %d | deliveries %d sent %d acknowledged %d refused %d pending %d | to the acknowledgement p50 %s p99 %s max %s\n",
		st.Bound, st.Submits, st.Accepted, st.Refused, st.Answered, st.Deliveries, st.Sent, st.Acked, st.RefusedDeliveries, st.Pending, st.AckP50, st.AckP99, st.AckMax)
	return err
}

// status replaces the status file. The truth is written out after the snapshot is taken, so that it
// holds at least what the file says.
func (s *serving) status(server *smpptest.Server, ended bool) error {
	st := server.Stats()
	if err := server.Flush(); err != nil {
		return err
	}
	b, err := json.Marshal(struct {
		Addr  string `json:"addr"`
		PID   int    `json:"pid"`
		Ended bool   `json:"ended"`
		smpptest.Stats
	}{server.Addr(), os.Getpid(), ended, st})
	if err != nil {
		return err
	}
	return replaceFile(s.statusFile, append(b, '\n'))
}

// replaceFile puts a file in place as a whole: a reader sees the old one or the new one.
func replaceFile(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing there once it is renamed
	if _, err := f.Write(content); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
