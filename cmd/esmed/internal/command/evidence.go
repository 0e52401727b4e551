package command

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/store"

	"github.com/spf13/cobra"
)

// evidenceFlags are the flags of evidence.
type evidenceFlags struct {
	reach  reach
	format format
	verify string
	head   headFlag
	noPDU  bool
}

func evidenceCommand() *cobra.Command {
	var e evidenceFlags
	cmd := &cobra.Command{
		Use:   "evidence ID | --verify FILE",
		Short: "Make or check a bundle that proves what happened to a message",
		Long: `With an ID, prints a bundle in JSON: the message's records as the log has them, with their PDUs, the rules they
were judged by, what was decided, and the commits of the hash chain that lead from them to a head.

With --verify, checks such a bundle by itself, without a daemon or a store: each record against its hash, the
hashes up to the head, and the decisions by making them again. It says what it proved and what it did not.
A head that was kept elsewhere (the daemon's log has one every hour) says that nothing was changed since:
name it when the bundle is made, so that the bundle's commits come past it, and when it is checked.`,
		Example: `  esmed evidence 01JDXW5Q0C8Z4Y3K7M2N9P6R5T --head 1841 > bundle.json
  esmed evidence --verify bundle.json --head 1841:6a09e667f3bcc908...`,
		GroupID: groupMessages,
		RunE:    e.run,
	}
	readFlags(cmd, &e.reach)
	outputFlag(cmd, &e.format)
	cmd.Flags().StringVar(&e.verify, "verify", "", "check the bundle in this file; - is stdin")
	cmd.Flags().Var(&e.head, "head", "a chain head that was kept: SEQ, with --verify SEQ:HASH")
	cmd.Flags().BoolVar(&e.noPDU, "no-pdu", false, "with --verify: leave the PDUs' fields out")
	return cmd
}

// headFlag is a chain head on the command line. Its hash may be missing.
type headFlag struct{ control.ChainHead }

// String, Set and Type make it a flag.
func (h *headFlag) String() string {
	if h.Seq == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%x", h.Seq, []byte(h.Hash))
}

func (h *headFlag) Set(s string) (err error) {
	seq, hash, given := strings.Cut(s, ":")
	if h.Seq, err = strconv.ParseUint(seq, 10, 64); err == nil && given {
		h.Hash, err = hex.DecodeString(hash)
	}
	if err != nil || h.Seq == 0 || given && len(h.Hash) != len(store.Head{}.Hash) {
		return errors.New("want the seq of a record, or that and the hash, as 1841:6a09e667f3bcc908 (in full)")
	}
	return nil
}

func (*headFlag) Type() string { return "head" }

func (f *evidenceFlags) run(cmd *cobra.Command, ids []string) error {
	changed := cmd.Flags().Changed
	switch {
	case f.verify != "" && len(ids) > 0:
		return usage(cmd, "an ID makes a bundle, --verify checks one")
	case f.verify != "" && f.head.Seq > 0 && len(f.head.Hash) == 0:
		return usage(cmd, "--head needs the hash too, to check a bundle by it")
	case f.verify != "":
		return f.check(cmd)
	case len(ids) != 1:
		return usage(cmd, "name a message, or a bundle with --verify")
	case changed("output") && f.format != formatJSON || f.noPDU:
		return usage(cmd, "a bundle is JSON")
	}
	return f.reach.reader(cmd, func(c *control.Client) error {
		e, err := c.Evidence(cmd.Context(), ids[0], f.head.Seq)
		if err != nil {
			return err
		}
		return output{cmd.OutOrStdout(), formatJSON}.object(e)
	})
}

// evidenceResult is what -o json prints of a check.
type evidenceResult struct {
	OK          bool              `json:"ok"`
	Message     string            `json:"message"`
	State       string            `json:"state"`
	Head        control.ChainHead `json:"head"`
	Anchored    bool              `json:"anchored"`
	Records     int               `json:"records"`
	Sealed      int               `json:"sealed"`
	Unproven    []uint64          `json:"unproven"`
	Decisions   int               `json:"decisions"`
	TakenStored int               `json:"taken_stored"`
}

func (f *evidenceFlags) check(cmd *cobra.Command) error {
	data, err := readInput(cmd, f.verify)
	if err != nil {
		return err
	}
	bundle, err := control.ParseEvidence(data)
	if err != nil {
		return &failure{text: "the bundle cannot be read: " + err.Error(), hint: "esmed evidence ID > FILE makes one", err: err}
	}
	var kept *control.ChainHead
	if f.head.Seq > 0 {
		kept = &f.head.ChainHead
	}
	check, err := daemon.VerifyEvidence(&bundle, kept)
	var broken *store.EvidenceError
	if errors.As(err, &broken) {
		return &failure{text: err.Error(), err: err,
			hint: "it was changed since it was made, or it is of another log; " + seeGuarantees}
	}
	if err != nil {
		return err
	}
	o := f.format.to(cmd)
	if !o.text() {
		return o.object(evidenceResult{
			OK: true, Message: bundle.Message, State: bundle.State, Head: bundle.Head, Anchored: check.Anchored,
			Records: check.Records, Sealed: check.Sealed, Unproven: append([]uint64{}, check.Unproven...),
			Decisions: check.Decisions, TakenStored: check.TakenStored,
		})
	}
	for _, e := range check.Events {
		o.event(e, !f.noPDU)
	}
	o.proven(&bundle, &check.EvidenceResult)
	return nil
}

// proven says what a bundle shows, and what it does not.
func (o output) proven(bundle *control.Evidence, r *store.EvidenceResult) {
	o.printf("message %s is %s, as the SMSC's answers and receipts in these records have it\n", clean(bundle.Message), clean(bundle.State))
	if r.Anchored {
		o.printf("proven: %s, unchanged since the head that you kept\n", plural(r.Records, "record"))
	} else {
		o.printf("proven: %s belong to a chain whose head at record %d is %s\n", plural(r.Records, "record"), r.Head.Seq, hex.EncodeToString(r.Head.Hash[:]))
		o.printf("not proven: that this chain is the log's. Compare the head with one that was logged or kept: --head SEQ:HASH\n")
	}
	if r.Sealed > 0 {
		o.printf("not proven: how the texts of %s read. The chain covers them sealed\n", plural(r.Sealed, "record"))
	}
	for _, seq := range r.Unproven {
		o.printf("not proven: the rules of record %d, which the log does not have any more\n", seq)
	}
	o.printf("made again from the records, with the same outcome: %s\n", plural(r.Decisions, "decision"))
	if r.TakenStored > 0 {
		o.printf("taken as stored, since they rest on more than these records: %s\n", plural(r.TakenStored, "decision"))
	}
}

// readInput reads a file; - is stdin.
func readInput(cmd *cobra.Command, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(cmd.InOrStdin())
	}
	return os.ReadFile(name)
}
