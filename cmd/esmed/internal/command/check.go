package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// Exit statuses of a monitoring plugin.
const (
	checkOK       = 0
	checkWarning  = 1
	checkCritical = 2
	checkUnknown  = 3
)

// checkPatience is how long a daemon may take to answer before its state counts as unknown.
const checkPatience = 10 * time.Second

func checkCommand() *cobra.Command {
	var (
		r       reach
		f       format
		timeout durationFlag
	)
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say as a monitoring plugin whether an alert is active",
		Long: `Asks the daemon to measure its alerts and prints the active ones as a monitoring plugin does (Nagios, Icinga
and what works like them): a line with performance data, then a line for each alert. Queues that somebody
holds are named too; they are no alert.

Exit status 0 is OK, 1 WARNING, 2 CRITICAL (also when no daemon runs), 3 UNKNOWN (also when not all could be
measured).`,
		Example:       "  esmed check --socket /run/esmed/esmed.sock",
		GroupID:       groupState,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknown(f.to(cmd), fmt.Errorf("%s takes no arguments (got %q)", cmd.CommandPath(), args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			patience := checkPatience
			if timeout.d != nil {
				patience = *timeout.d
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			c := r.daemon()
			defer c.Close()
			alerts, err := c.Alerts(ctx)
			switch {
			case errors.Is(err, control.ErrNoDaemon):
				f.to(cmd).printf("ESMED CRITICAL: no daemon runs on %s\n", clean(r.socket))
				return silent{checkCritical}
			case err != nil:
				return unknown(f.to(cmd), err)
			}
			return printCheck(f.to(cmd), alerts, heldQueues(c.Queues(ctx)))
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return unknown(f.to(cmd), err) })
	socketFlag(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().Var(&timeout, "timeout", "how long the daemon may take to answer; 10s when left out")
	return cmd
}

// unknown ends a check that could not be made.
func unknown(o output, err error) error {
	o.printf("ESMED UNKNOWN: %s\n", clean(strings.ReplaceAll(err.Error(), "|", "/")))
	return silent{checkUnknown}
}

// heldQueues name the queues that somebody holds: that is wanted, and no alert, and not to be forgotten. Alerts do
// without a store that does not answer, which is when they are needed; so an error is named in their place.
func heldQueues(queues []control.Queue, err error) (held []string) {
	if err != nil {
		return []string{holdsUnknown(err)}
	}
	for _, q := range queues {
		if q.Held != nil {
			held = append(held, "queue of "+q.SMSC+" is "+holderWords(q.Held))
		}
	}
	return held
}

func printCheck(o output, alerts []control.Alert, held []string) error {
	code, active := checkOK, []control.Alert{}
	for _, a := range alerts {
		if a.Active {
			active = append(active, a)
			code = max(code, severityCode(a.Severity))
		}
	}
	if code == checkOK && !measured(alerts) {
		code = checkUnknown
	}
	err := printWhole(o, alerts, func([]control.Alert) {
		o.printf("%s\n", checkLine(code, active, alerts, held))
		for i := range active {
			o.printf("%s\n", clean(checkDetail(&active[i])))
		}
	})
	if err != nil || code == checkOK {
		return err
	}
	return silent{code}
}

func severityCode(severity string) int {
	if severity == control.Critical {
		return checkCritical
	}
	return checkWarning
}

// measured reports whether the daemon could measure all: exceptions, of which there is one alert, are counted last.
func measured(alerts []control.Alert) bool {
	return slices.ContainsFunc(alerts, func(a control.Alert) bool { return a.Alert == control.AlertExceptions && a.Value != nil })
}

// checkLine is the plugin's first line: how things stand, and the performance data of all that was measured.
func checkLine(code int, active, all []control.Alert, held []string) string {
	word := [...]string{checkOK: "OK", checkWarning: "WARNING", checkCritical: "CRITICAL", checkUnknown: "UNKNOWN"}[code]
	names := make([]string, len(active))
	for i := range active {
		names[i] = alertLabel(&active[i])
	}
	what := strings.Join(names, ", ")
	if len(active) == 0 {
		what = "no alert is active"
	}
	if !measured(all) {
		what += ", but the store does not answer: not all could be measured"
	}
	for _, h := range held {
		what += "; " + strings.ReplaceAll(h, "|", "/")
	}
	var data []string
	for i := range all {
		if all[i].Value != nil {
			data = append(data, performance(&all[i]))
		}
	}
	return clean(fmt.Sprintf("ESMED %s: %s | %s", word, what, strings.Join(data, " ")))
}

// alertLabel names an alert and whose it is.
func alertLabel(a *control.Alert) string {
	if a.SMSC == "" {
		return a.Alert
	}
	return a.Alert + " " + a.SMSC
}

// performance is 'label'=value[unit];[warn];[crit];min;max, with a range of what is well: "7" up to 7, "7:" from 7. Nothing that
// is measured can be negative, and only a share has an upper end.
func performance(a *control.Alert) string {
	well := strconv.FormatFloat(a.Limit, 'f', -1, 64)
	if below(a) {
		well += ":"
	}
	thresholds := well + ";"
	if a.Severity == control.Critical {
		thresholds = ";" + well
	}
	most := ""
	if a.Alert == control.AlertCoverage {
		most = "1"
	}
	return fmt.Sprintf("'%s'=%s%s;%s;0;%s", alertLabel(a), strconv.FormatFloat(*a.Value, 'f', -1, 64), a.Unit, thresholds, most)
}

// below reports whether an alert is about a value that is too small.
func below(a *control.Alert) bool {
	return a.Alert == control.AlertCoverage || a.Alert == control.AlertDisk
}

func checkDetail(a *control.Alert) string {
	line := strings.ToUpper(a.Severity) + " " + alertLabel(a) + ": " + a.Detail
	if a.Value != nil {
		line += fmt.Sprintf(" (%s%s, limit %s%s)", strconv.FormatFloat(*a.Value, 'g', 6, 64), a.Unit, strconv.FormatFloat(a.Limit, 'g', 6, 64), a.Unit)
	}
	if a.Since != nil {
		line += ", since " + clock(*a.Since)
	}
	return strings.ReplaceAll(line, "|", "/")
}
