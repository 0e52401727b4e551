package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

func queueCommand() *cobra.Command {
	cmd := listByDefault(&cobra.Command{
		Use:     "queue",
		Short:   "What waits to be sent, and why it does",
		GroupID: groupState,
	}, queueStatCommand())
	cmd.AddCommand(queueHoldCommand(), queueReleaseCommand(), queueDropCommand())
	return cmd
}

func queueStatCommand() *cobra.Command {
	var (
		r    reach
		f    format
		smsc string
	)
	cmd := &cobra.Command{
		Use:   "stat",
		Short: "Say for each SMSC what waits, since when, and why nothing leaves",
		Long: `Lists the queues: parts that may leave now and parts that wait for their retry, since when the first of them has
waited, and how many there are of each priority. Held says who holds a queue; what keeps one from being sent
otherwise (no session, a pause that the SMSC asked for, a rate below throughput) stands beside it. An SMSC that is
not configured any more keeps its queue.`,
		Example: "  esmed queue\n  esmed queue stat --smsc alpha -o json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.reader(cmd, func(c *control.Client) error {
				if err := checkSMSC(cmd.Context(), c, smsc); err != nil {
					return err
				}
				queues, err := c.Queues(cmd.Context())
				if err != nil {
					return err
				}
				if smsc != "" {
					queues = slices.DeleteFunc(queues, func(q control.Queue) bool { return q.SMSC != smsc })
				}
				o := f.to(cmd)
				return printWhole(o, queues, o.queueTable)
			})
		},
	}
	readFlags(cmd, &r)
	outputFlag(cmd, &f)
	cmd.Flags().StringVar(&smsc, "smsc", "", "only this one's")
	return cmd
}

func (o output) queueTable(queues []control.Queue) {
	rows := make([][]string, len(queues))
	for i := range queues {
		q := &queues[i]
		rows[i] = []string{
			q.SMSC, fmt.Sprint(q.Waiting), fmt.Sprint(q.Delayed), prioritiesWords(q.Priorities), clockOr(q.OldestAt, "-"),
			q.Bind, rateWords(q), or(q.Why, or(withheldWords(q.Withheld), "-")),
		}
	}
	o.printTable([]string{"smsc", "waiting", "delayed", "by priority", "oldest", "bind", "limit/s", "nothing leaves because"}, rows, 2, 3)
}

// prioritiesWords list how many parts there are of each priority, the first to leave first.
func prioritiesWords(priorities map[string]int64) string {
	var words []string
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(priorities))) {
		words = append(words, fmt.Sprintf("%s: %d", p, priorities[p]))
	}
	return or(strings.Join(words, ", "), "-")
}

// withheldWords tell of messages that nobody waits for: what is behind them leaves.
func withheldWords(all []control.QueueWithheld) string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%s cannot be sent, others leave: %s: %s", plural(len(all), "message"), all[0].Message, clean(all[0].Error))
}

func rateWords(q *control.Queue) string {
	switch {
	case q.Bind == control.BindNotConfigured, q.Bind == control.BindNoDaemon:
		return "-"
	case q.Rate == nil:
		return "no limit"
	case q.Throttled:
		return fmt.Sprintf("%.1f (throttled)", *q.Rate)
	}
	return fmt.Sprintf("%.1f", *q.Rate)
}

// orderFlags are those of an order about one queue.
type orderFlags struct {
	reach  reach
	format format
	smsc   string
	reason string
}

func (f *orderFlags) add(cmd *cobra.Command) {
	socketFlag(cmd, &f.reach)
	outputFlag(cmd, &f.format)
	cmd.Flags().StringVar(&f.smsc, "smsc", "", "whose queue")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, in your own words, for those who read it later")
}

// named refuses an order that names no queue.
func (f *orderFlags) named(cmd *cobra.Command) error {
	if f.smsc == "" {
		return usage(cmd, "%s needs --smsc: whose queue", cmd.CommandPath())
	}
	return nil
}

func queueHoldCommand() *cobra.Command {
	var f orderFlags
	cmd := &cobra.Command{
		Use:   "hold --smsc S",
		Short: "Send nothing to an SMSC until it is released",
		Long: `Messages are still taken, and wait. Nothing leaves that was not leaving when this command ends, also after a
restart or a reload, until esmed queue release. What waits goes on to expire. It is no alert, since somebody
wants it so: esmed queue stat, status and check say who and since when.`,
		Example: "  esmed queue hold --smsc alpha --reason 'they are migrating'",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.turn(cmd, (*control.Client).HoldQueue, "held")
		},
	}
	f.add(cmd)
	return cmd
}

func queueReleaseCommand() *cobra.Command {
	var f orderFlags
	cmd := &cobra.Command{
		Use:     "release --smsc S",
		Short:   "Send a queue that was held",
		Example: "  esmed queue release --smsc alpha",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.turn(cmd, (*control.Client).ReleaseQueue, "released")
		},
	}
	f.add(cmd)
	return cmd
}

// turn holds or releases a queue and tells how it stands.
func (f *orderFlags) turn(cmd *cobra.Command, order clientOrder, did string) error {
	if err := f.named(cmd); err != nil {
		return err
	}
	c := f.reach.daemon()
	defer c.Close()
	if err := checkSMSC(cmd.Context(), c, f.smsc); err != nil {
		return err
	}
	done, err := order(c, cmd.Context(), f.smsc, f.reason)
	if isNotFound(err) {
		return noQueue(f.smsc)
	}
	if err != nil {
		return err
	}
	o := f.format.to(cmd)
	if !o.text() {
		return o.object(done)
	}
	q := &done.Queue
	if !done.Changed {
		o.printf("nothing has changed: %s\n", clean(done.Detail))
		return nil
	}
	o.printf("the queue of %s is %s (record %d); %s\n", clean(q.SMSC), did, done.Record, waitingWords(q))
	if q.Why != "" {
		o.printf("nothing leaves: %s\n", clean(q.Why))
	}
	return nil
}

func waitingWords(q *control.Queue) string {
	return fmt.Sprintf("%s waiting, %d more for a retry", plural(q.Waiting, "part"), q.Delayed)
}

// holderWords say who holds a queue, since when and why.
func holderWords(h *control.QueueHold) string {
	words := "held by " + clean(h.By) + " since " + clock(h.At)
	if h.Reason != "" {
		words += ": " + clean(h.Reason)
	}
	return words
}

// holds names the queues that are held, a line each, or says that they are not known.
func (o output) holds(queues []control.Queue, err error) {
	if err != nil {
		o.printf("%s\n", clean(holdsUnknown(err)))
	}
	for _, q := range queues {
		if q.Held != nil {
			o.printf("%s: %s\n", clean(q.SMSC), holderWords(q.Held))
		}
	}
}

func holdsUnknown(err error) string {
	return fmt.Sprintf("which queues are held is not known: %s", err)
}
