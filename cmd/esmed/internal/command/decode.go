package command

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"esmed/cmd/esmed/internal/capture"
	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/daemon"

	"github.com/spf13/cobra"
)

// decodeFlags are the flags of decode.
type decodeFlags struct {
	format       format
	config, smsc string
	text, pcap   string
	summary      bool
}

func decodeCommand() *cobra.Command {
	var d decodeFlags
	cmd := &cobra.Command{
		Use:   "decode [HEX... | - | --text TEXT | --pcap FILE]",
		Short: "Explain a PDU, the text of a receipt, or a capture",
		Long: `Explains a PDU in hex, in any grouping (blanks, colons, 0x): every field, its text, and what the rules of an SMSC
of a configuration conclude, else the default rules. "-" reads one PDU a line, and what Wireshark copies (hex stream,
hex dump, C array, escaped string) or Kannel and Jasmin log. --text explains the text of a receipt.

--pcap reads a pcap or pcapng file ("-": stdin) of any connections, and tells beside every PDU what became of each
message: submit, answer, receipts and what they count for, as the daemon would judge them. With --smsc all servers
in it are that SMSC, with one account; else each server's address is one by itself.

-o json and -o ndjson print for each {"line","command_id","receipt","notes","error"} and more; esmed help decoding
lists it all. Of a PDU of more than 131072 octets, the default max_pdu, the beginning is explained and its body is
undecodable. Exit status 1 when a line is no PDU, or a capture holds none.`,
		Example: `  esmed decode "00000010 00000015 00000000 00000001"
  esmed decode --text "id:5A3C99F1 sub:001 dlvrd:001 done date:2611301204 stat:DELIVRD err:000 text:"
  esmed decode --config /etc/esmed/esmed.yaml --smsc alpha - -o ndjson < pdus.hex
  esmed decode - < bearerbox.log
  tcpdump -i any -w - port 2775 | esmed decode --pcap - --summary`,
		GroupID: groupTools,
		RunE:    d.run,
	}
	outputFlag(cmd, &d.format)
	cmd.Flags().StringVar(&d.config, "config", "", "the configuration file with the rules")
	cmd.Flags().StringVar(&d.smsc, "smsc", "", "whose rules; needed when several are configured and there is no default")
	cmd.Flags().StringVar(&d.text, "text", "", "the text of a receipt")
	cmd.Flags().StringVar(&d.pcap, "pcap", "", "a capture, pcap or pcapng; - for stdin")
	cmd.Flags().BoolVar(&d.summary, "summary", false, "of a capture, leave out the PDUs")
	return cmd
}

func (f *decodeFlags) run(cmd *cobra.Command, args []string) error {
	isText, isPcap := cmd.Flags().Changed("text"), cmd.Flags().Changed("pcap")
	ways := 0
	for _, way := range []bool{isText, isPcap, len(args) > 0} {
		if way {
			ways++
		}
	}
	switch {
	case ways != 1:
		return usage(cmd, "give a PDU in hex, or - to read them from stdin, or --text, or --pcap")
	case f.smsc != "" && f.config == "":
		return usage(cmd, "--smsc needs --config")
	case f.summary && !isPcap:
		return usage(cmd, "--summary is for --pcap")
	}
	rules, err := f.rules()
	if err != nil {
		return err
	}
	o := f.format.to(cmd)
	switch {
	case isText:
		return o.explained(rules.ExplainText(f.text))
	case isPcap:
		return f.capture(cmd, o, rules)
	case len(args) == 1 && args[0] == "-":
		return decodeStream(cmd.InOrStdin(), o, rules)
	}
	return decodeArgs(cmd, o, rules, args)
}

// rules are those of the SMSC, or the default ones. Only an SMSC that is asked for by name is all the servers of a
// capture.
func (f *decodeFlags) rules() (*capture.Rules, error) {
	s := config.DefaultSMSC()
	if f.config != "" {
		if names, err := config.SMSCNames(f.config, os.Environ()); err == nil && f.smsc != "" && !slices.Contains(names, f.smsc) {
			return nil, unknownSMSC(f.smsc, names)
		}
		configured, err := config.LoadSMSC(f.config, os.Environ(), f.smsc)
		if err != nil {
			return nil, badConfig(f.config, err)
		}
		s = *configured
	}
	fold := daemon.FoldRules(&s)
	if f.smsc == "" {
		fold.SMSC, fold.Account = "", ""
	}
	return capture.NewRules(fold, s.DefaultAlphabet, daemon.DecodePDU), nil
}

// decodeArgs explains what stands on the command line: one PDU, in whatever pieces the shell made of it.
func decodeArgs(cmd *cobra.Command, o output, rules *capture.Rules, args []string) error {
	var found []capture.Found
	err := capture.ReadText(strings.NewReader(strings.Join(args, " ")), func(f capture.Found) error {
		found = append(found, f)
		return nil
	})
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return usage(cmd, "this is no PDU: there is nothing in it")
	case found[0].Err != nil:
		return usage(cmd, "this is no PDU: %s", found[0].Err)
	}
	var p explainer
	for _, f := range found {
		if err := p.explain(o, rules, f); err != nil {
			return err
		}
	}
	return p.end()
}

// decodeStream explains each PDU of a text.
func decodeStream(r io.Reader, o output, rules *capture.Rules) error {
	var p explainer
	err := capture.ReadText(r, func(f capture.Found) error { return errors.Join(p.explain(o, rules, f), o.flush()) })
	if err != nil {
		return err
	}
	return p.end()
}

// explainer explains what was found, one after the other.
type explainer struct{ any, failed bool }

func (p *explainer) explain(o output, rules *capture.Rules, f capture.Found) error {
	e := rules.ExplainFound(f)
	if o.text() && p.any {
		o.printf("\n")
	}
	p.any, p.failed = true, p.failed || f.Err != nil
	return o.explained(e)
}

// end is the exit status.
func (p *explainer) end() error {
	if p.failed {
		return silent{exitFailed}
	}
	return nil
}
