package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// Words of finding.Status.
const (
	doctorOK   = "OK"
	doctorWarn = "WARN"
	doctorFail = "FAIL"
)

// finding is what one check of doctor found.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what to do about it
}

// diagnosis is what doctor prints as JSON.
type diagnosis struct {
	OK     bool      `json:"ok"`
	Checks []finding `json:"checks"`
}

func (d *diagnosis) add(check, status, detail, hint string) {
	d.Checks = append(d.Checks, finding{check, status, detail, hint})
	d.OK = d.OK && status != doctorFail
}

// result adds a finding: OK with a detail, or a failure with what to do about it.
func (d *diagnosis) result(check string, err error, detail, hint string) {
	if err == nil {
		d.add(check, doctorOK, detail, "")
		return
	}
	d.add(check, doctorFail, err.Error(), hint)
}

// doctor is one examination.
type doctor struct {
	diagnosis
	cfg     *config.Config
	client  *control.Client
	binds   []control.Bind // of the daemon that runs; nil: none does
	bind    bool           // SMSCs are bound to where no daemon is
	timeout time.Duration  // for each connection, and for the answer to each bind
}

func doctorCommand() *cobra.Command {
	var (
		path    string
		noBind  bool
		f       format
		timeout durationFlag
	)
	cmd := &cobra.Command{
		Use:   "doctor --config FILE",
		Short: "Say what is wrong with configuration, files, disk, clock and SMSCs",
		Long: `Checks what the daemon needs: its configuration, files and who may read them, disk, limits, clock, and of each
SMSC name, connection, TLS and bind. Nothing is submitted and nothing is changed. Run it as the daemon's user, since
rights and limits are those of who runs it.

An SMSC is bound to as transmitter, so that it sends no receipts, and unbound at once. While the daemon runs it is asked
how its binds are instead, since many an SMSC allows one only; --no-bind leaves the bind out.

Exit status 0 when nothing fails, warnings or not, else 1.`,
		Example: "  esmed doctor --config /etc/esmed/esmed.yaml",
		GroupID: groupDaemon,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return usage(cmd, "--config is needed")
			}
			d := &doctor{diagnosis: diagnosis{OK: true}, bind: !noBind}
			if timeout.d != nil {
				d.timeout = *timeout.d
			}
			if err := d.examine(cmd.Context(), path); err != nil {
				return err
			}
			return printDiagnosis(f.to(cmd), d.diagnosis)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "the configuration file")
	cmd.Flags().BoolVar(&noBind, "no-bind", false, "connect to SMSCs, but do not bind")
	cmd.Flags().Var(&timeout, "timeout", "for a connection, and for the answer to a bind; left out: connect_timeout and response_timeout")
	outputFlag(cmd, &f)
	return cmd
}

// examine makes all checks. An error ends it: it was interrupted.
func (d *doctor) examine(ctx context.Context, path string) error {
	if !d.configuration(path) {
		return nil
	}
	d.client = control.Dial(d.cfg.API.Socket)
	defer d.client.Close()
	d.daemon(ctx)
	d.dataDir()
	d.disk()
	d.socketDir()
	d.limits()
	d.clock(ctx)
	for i := range d.cfg.SMSCs {
		d.smsc(ctx, &d.cfg.SMSCs[i])
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// configuration loads it, and reads the files that it names. It is false when the rest cannot be checked.
func (d *doctor) configuration(path string) bool {
	cfg, err := loadAndCheck(path)
	problems := configProblems(err)
	for _, p := range problems {
		d.add("configuration", doctorFail, p.Error(), "correct it: esmed config check --config FILE says all that is wrong")
	}
	if err != nil {
		if len(problems) == 0 {
			d.add("configuration", doctorFail, err.Error(), "name the file that the daemon is started with, and make it readable for its user")
		}
		return false
	}
	d.cfg = cfg
	d.add("configuration", doctorOK, path+" is valid: "+plural(int64(len(cfg.SMSCs)), "SMSC"), "")
	warnings := cfg.Warnings(path)
	for _, w := range warnings {
		d.add("rights", doctorWarn, w.Error(), "others should neither read nor change it")
	}
	if len(warnings) == 0 {
		d.add("rights", doctorOK, "secrets and messages are closed to others", "")
	}
	return true
}

// daemon finds out whether one runs, and how its binds are.
func (d *doctor) daemon(ctx context.Context) {
	binds, err := d.client.Binds(ctx)
	switch {
	case errors.Is(err, control.ErrNoDaemon):
		d.add("daemon", doctorOK, "none runs on "+d.cfg.API.Socket, "")
	case errors.Is(err, os.ErrPermission):
		d.add("daemon", doctorWarn, err.Error(), "join the group of the socket, or become the daemon's user")
	case err != nil:
		d.add("daemon", doctorFail, "it does not answer: "+err.Error(), "see its log")
	default:
		d.binds = append([]control.Bind{}, binds...)
		d.add("daemon", doctorOK, "runs on "+d.cfg.API.Socket+"; its binds are asked for, not tried", "")
	}
}

func printDiagnosis(o output, d diagnosis) error {
	if !o.text() {
		if err := o.object(d); err != nil {
			return err
		}
	} else {
		for _, c := range d.Checks {
			o.printf("%-4s %s: %s\n", c.Status, clean(c.Check), clean(c.Detail))
			if c.Hint != "" {
				o.printf("     hint: %s\n", clean(c.Hint))
			}
		}
	}
	if !d.OK {
		return silent{exitFailed}
	}
	return nil
}

// within is a time for people.
func within(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
