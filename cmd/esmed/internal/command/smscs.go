package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"esmed/cmd/esmed/internal/control"
)

// checkSMSC refuses the name of an SMSC that is neither configured nor has anything in the store: finding nothing
// would look as if nothing had happened there. "" is no name, and fine. One that was taken out of the configuration
// is known for as long as the store has something of it.
func checkSMSC(ctx context.Context, c *control.Client, name string) error {
	if name == "" {
		return nil
	}
	known := map[string]bool{}
	for _, ask := range []func(context.Context, *control.Client, string) ([]string, error){
		queuedSMSCs, reportedSMSCs, exceptionSMSCs,
	} {
		names, err := ask(ctx, c, name)
		if err != nil {
			return err
		}
		for _, n := range names {
			known[n] = true
		}
		if known[name] {
			return nil
		}
	}
	return unknownSMSC(name, slices.Sorted(maps.Keys(known)))
}

// unknownSMSC tells which names there are.
func unknownSMSC(name string, names []string) error {
	f := &failure{text: "no SMSC is named " + quote(name), hint: "there are: " + strings.Join(names, ", "), code: exitUsage}
	if len(names) == 0 {
		f.hint = "none is configured, and the store has nothing of any"
	}
	return f
}

// queuedSMSCs are the SMSCs that are configured, and those that have a queue although they are not.
func queuedSMSCs(ctx context.Context, c *control.Client, _ string) ([]string, error) {
	queues, err := c.Queues(ctx)
	names := make([]string, len(queues))
	for i := range queues {
		names[i] = queues[i].SMSC
	}
	return names, err
}

// ever is a report's window that begins before any message.
const ever = 100 * 365 * 24 * time.Hour

// reportedSMSCs are those that have messages, or receipts that wait. The report reads counters, not messages.
func reportedSMSCs(ctx context.Context, c *control.Client, _ string) ([]string, error) {
	window := ever
	rows, err := c.Report(ctx, control.ReportQuery{Window: &window, By: "smsc"})
	names := make([]string, len(rows))
	for i := range rows {
		names[i] = rows[i].SMSC
	}
	return names, err
}

// exceptionSMSCs is the SMSC of that name if it ever had an exception, as one has that sent what cannot be read.
func exceptionSMSCs(ctx context.Context, c *control.Client, name string) ([]string, error) {
	found, err := c.Exceptions(ctx, control.ExceptionQuery{Status: "all", SMSC: name, Limit: 1})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return []string{name}, nil
}

// noQueue is of an SMSC that has none.
func noQueue(smsc string) error {
	return &failure{
		text: fmt.Sprintf("%s is not configured, and nothing waits for it", quote(smsc)),
		hint: "esmed queue stat lists the queues",
	}
}
