package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// sendFlags are the flags of send.
type sendFlags struct {
	reach   reach
	format  format
	message control.Submission
	fields  sendFields

	wait    bool
	timeout durationFlag

	file fileFlags
}

func sendCommand() *cobra.Command {
	var s sendFlags
	cmd := &cobra.Command{
		Use:   "send --to NUMBER --text TEXT | --file FILE",
		Short: "Submit a message, or a file of them",
		Long: `Submits a message. It is on disk when this returns; what became of it is asked with esmed status, or waited for
with --wait. --text - reads the text from stdin, which keeps it out of the process list. A text that does not fit one
short message goes in several parts, or as the SMSC's long_messages says.

--file submits the rows of a CSV file with a header, or of an NDJSON file. Its columns and keys are those
of POST /v1/messages: to, from, text, smsc, ref, validity, ... The daemon judges all rows first, and nothing is sent
when one is wrong, unless --skip-invalid says so. Rows that are refused are written beside it, to messages.rejected.csv
for messages.csv, with what is wrong with them and their line: correct that file and send it.

When it is interrupted, run the same command again: no row is taken twice. While the daemon is stopped or takes
nothing, it waits, for --timeout at most. A row is known by its ref, whichever file it is in, or else by its line in a run
of the file. --ref-prefix gives rows a ref. The run is remembered in messages.csv.run, or in $XDG_STATE_HOME/esmed
where that cannot be written; for the same file

  interrupted, unchanged   goes on with that run
  finished, or changed     is refused, since rows might be doubled or left out
  --again                  sends all rows as new ones, in a run of its own; but first an interrupted run of the
                           unchanged file goes on. For a job that writes its file anew each time
  --resume                 goes on with the last run: what reads as before in its line is not sent again, a row
                           where none was accepted is sent, and another row where one was accepted is refused

A file of rows that all have a ref needs none of that, and can be sent as often as you like.`,
		Example: `  esmed send --to +393331234567 --from ACME --text "Your code is 4711" --ref order-42 --wait
  esmed send --to +393331234567 --text "Evacuate the building now" --data-coding 16
  esmed send --to +393331234567 --data-hex 0AFF --data-coding 4 --udh-hex 060504158A0000
  esmed send --file messages.csv --ref-prefix campaign-7-`,
		GroupID: groupMessages,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(cmd); err != nil {
				return err
			}
			c := s.reach.daemon()
			defer c.Close()
			if s.file.path != "" {
				return s.sendFile(cmd, c)
			}
			return s.sendOne(cmd, c)
		},
	}
	s.register(cmd)
	return cmd
}

func (s *sendFlags) register(cmd *cobra.Command) {
	socketFlag(cmd, &s.reach)
	outputFlag(cmd, &s.format)
	flags, m := cmd.Flags(), &s.message
	flags.StringVar(&m.To, "to", "", "destination: + or 00 and digits, or digits of the SMSC's dest.country")
	flags.StringVar(&m.Text, "text", "", "the text; - reads it from stdin")
	flags.StringVar(&m.From, "from", "", "sender, in place of the SMSC's source")
	flags.StringVar(&m.SMSC, "smsc", "", "submit to this SMSC")
	flags.StringVar(&m.Ref, "ref", "", "your reference: the same one again is the same message")
	flags.StringVar(&m.Validity, "validity", "", "how long it may be delivered: a duration, RFC 3339 or SMPP time")
	flags.StringVar(&m.ScheduleDeliveryTime, "schedule", "", "when the SMSC is to deliver it: a duration, RFC 3339 or SMPP time")
	flags.StringVar(&m.InDoubt, "in-doubt", "", "when the answer is lost: hold or resend")
	s.fields.register(cmd, m)
	flags.BoolVar(&s.wait, "wait", false, "wait until it is final; exit status 0 only if it was delivered")
	flags.Var(&s.timeout, "timeout", "with --wait: wait no longer than this; with --file: for a daemon that takes nothing (5m)")
	s.file.register(cmd)
}

func (f *fileFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.path, "file", "", "submit the rows of this CSV or NDJSON file")
	flags.StringVar(&f.format, "file-format", "", "csv or ndjson, when the file's name does not say")
	flags.StringVar(&f.refPrefix, "ref-prefix", "", "with --file: a row without ref gets this and its line number")
	flags.BoolVar(&f.dryRun, "dry-run", false, "with --file: have the rows judged, and send none")
	flags.BoolVar(&f.skipInvalid, "skip-invalid", false, "with --file: send the other rows when some are wrong")
	flags.StringVar(&f.rejected, "rejected", "", "with --file: write rows that are refused here")
	flags.BoolVar(&f.wish.again, "again", false, "with --file: send all rows, though the file was sent before")
	flags.BoolVar(&f.wish.resume, "resume", false, "with --file: go on with the last run, though the file has changed")
}

// fileOnly are the flags that go with --file.
var fileOnly = []string{"ref-prefix", "file-format", "dry-run", "skip-invalid", "rejected", "again", "resume"}

// check refuses flags that do not go together. The submission itself is the API's to judge.
func (s *sendFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if s.file.path == "" {
		for _, name := range fileOnly {
			if changed(name) {
				return usage(cmd, "--%s goes with --file", name)
			}
		}
		switch {
		case !changed("to"):
			return usage(cmd, "--to is needed, or --file")
		case !changed("text") && !changed("data-hex"):
			return usage(cmd, "--text is needed, or --data-hex")
		case s.timeout.d != nil && !s.wait:
			return usage(cmd, "--timeout goes with --wait")
		}
		return s.fields.fill(cmd, &s.message)
	}
	for _, name := range append([]string{"to", "text", "from", "smsc", "ref", "validity", "schedule", "in-doubt", "wait"}, fieldFlags...) {
		if changed(name) {
			return usage(cmd, "--%s does not go with --file: the rows say it", name)
		}
	}
	if s.file.wish.again && s.file.wish.resume {
		return usage(cmd, "--again and --resume exclude each other")
	}
	return nil
}

// maxText is more than any message holds; the API says what is too long.
const maxText = 1 << 20

func (s *sendFlags) sendOne(cmd *cobra.Command, c *control.Client) error {
	if s.message.Text == "-" {
		b, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxText))
		if err != nil {
			return err
		}
		s.message.Text = strings.TrimRight(string(b), "\r\n")
	}
	for _, text := range []string{s.message.Text, s.message.From, s.message.Ref, s.message.To} {
		if !utf8.ValidString(text) { // JSON would carry something else
			return &failure{text: "text, sender and ref must be UTF-8", hint: "use a terminal and files in UTF-8", code: exitUsage}
		}
	}
	m, existing, err := c.Submit(cmd.Context(), s.message, "")
	if p, refused := errors.AsType[*control.ProblemError](err); refused && len(p.Errors) == 1 && p.Errors[0].Path == "smsc" {
		// Where nothing but the name is wrong, it is told as everywhere.
		if wrong := checkSMSC(cmd.Context(), c, s.message.SMSC); wrong != nil {
			return wrong
		}
	}
	if err != nil {
		return err
	}
	o := s.format.to(cmd)
	if s.wait {
		return s.waitFor(cmd, o, c, m)
	}
	if !o.text() {
		return o.object(m)
	}
	how := "accepted by us"
	if existing {
		how = "accepted by us before, with the same ref"
	}
	if len(m.Parts) > 1 {
		how += fmt.Sprintf(", in %d parts,", len(m.Parts))
	}
	o.printf("%s %s for %s, state %s\n", clean(m.ID), how, clean(m.SMSC), o.state(m.State))
	return nil
}

// waitSlice is how long the API is asked to wait at a time.
const waitSlice = 25 * time.Second

// waitFor waits until the message is closed and prints it then, or as it is when the time is over.
func (s *sendFlags) waitFor(cmd *cobra.Command, o output, c *control.Client, m control.Message) error {
	ctx := cmd.Context()
	deadline := time.Time{}
	if s.timeout.d != nil {
		deadline = time.Now().Add(*s.timeout.d)
	}
	m, err := waitClosed(ctx, c, m, deadline)
	if err != nil {
		return err
	}
	n := &narrator{ctx: ctx, c: c, o: o}
	if err := n.print([]control.Message{m}, true); err != nil {
		return err
	}
	switch {
	case !m.Closed:
		return &failure{text: "not final when the time was over", hint: "its receipt is still taken when it comes: esmed status " + m.ID}
	case m.State != "DELIVERED":
		return &failure{text: "not delivered: " + m.Reason, hint: "esmed events " + m.ID + " tells it record by record"}
	}
	return nil
}

func waitClosed(ctx context.Context, c *control.Client, m control.Message, deadline time.Time) (control.Message, error) {
	for !m.Closed {
		slice := waitSlice
		if !deadline.IsZero() {
			if slice = min(slice, time.Until(deadline)); slice <= 0 {
				break
			}
		}
		var err error
		if m, err = c.WaitFinal(ctx, m.ID, slice); err != nil {
			return m, err
		}
	}
	return m, nil
}
