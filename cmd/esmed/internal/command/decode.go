package command

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/receipt"
	"esmed/smpp"

	"github.com/spf13/cobra"
)

// decoded is what decode says of one PDU, or of one receipt's text.
type decoded struct {
	Line      int              `json:"line"`
	CommandID string           `json:"command_id"` // "" for a text, and for what is no PDU
	Receipt   *receipt.Reading `json:"receipt"`    // null for what delivers nothing
	Notes     []string         `json:"notes"`
	Error     *string          `json:"error"`

	pdu []byte
}

// decodeFlags are the flags of decode.
type decodeFlags struct {
	format       format
	config, smsc string
	text         string
}

func decodeCommand() *cobra.Command {
	var d decodeFlags
	cmd := &cobra.Command{
		Use:   "decode [HEX... | - | --text TEXT]",
		Short: "Explain a PDU or the text of a receipt",
		Long: `Explains a PDU in hex, in any grouping (blanks, colons, 0x). "-" reads one PDU a line. --text explains the text of a
receipt. Receipts are read under the rules of an SMSC of a configuration, else under the default rules. Of a PDU of
more than 131072 octets, the default max_pdu, the beginning is explained and its body is undecodable.

-o json and -o ndjson print for each {"line","command_id","receipt","notes","error"}. Exit status 1 when a line
is no PDU.`,
		Example: `  esmed decode "00000010 00000015 00000000 00000001"
  esmed decode --text "id:5A3C99F1 sub:001 dlvrd:001 done date:2611301204 stat:DELIVRD err:000 text:"
  esmed decode --config /etc/esmed/esmed.yaml --smsc alpha - -o ndjson < pdus.hex`,
		GroupID: groupTools,
		RunE:    d.run,
	}
	outputFlag(cmd, &d.format)
	cmd.Flags().StringVar(&d.config, "config", "", "the configuration file with the rules")
	cmd.Flags().StringVar(&d.smsc, "smsc", "", "whose rules; needed when several are configured and there is no default")
	cmd.Flags().StringVar(&d.text, "text", "", "the text of a receipt")
	return cmd
}

func (f *decodeFlags) run(cmd *cobra.Command, args []string) error {
	isText := cmd.Flags().Changed("text")
	if isText == (len(args) > 0) {
		return usage(cmd, "give a PDU in hex, or - to read them from stdin, or --text")
	}
	if f.smsc != "" && f.config == "" {
		return usage(cmd, "--smsc needs --config")
	}
	rules := receipt.DefaultRules()
	if f.config != "" {
		var err error
		if rules, err = config.LoadRules(f.config, os.Environ(), f.smsc); err != nil {
			return badConfig(f.config, err)
		}
	}
	o := f.format.to(cmd)
	switch {
	case isText:
		return o.decoded(decodeText(f.text, &rules))
	case len(args) == 1 && args[0] == "-":
		return decodeLines(cmd.InOrStdin(), o, &rules)
	}
	d := decodeHex(strings.Join(args, ""), &rules)
	d.Line = 1
	if d.pdu == nil {
		return usage(cmd, "this is no PDU: %s", *d.Error)
	}
	return o.decoded(d)
}

// maxLine bounds a line of hex: the largest PDU there is, two digits and a separator an octet.
const maxLine = 3 * (16 << 20)

// decodeLines explains a PDU a line. Blank lines count but are not explained.
func decodeLines(r io.Reader, o output, rules *receipt.Rules) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	failed := false
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		d := decodeHex(line, rules)
		d.Line = n
		failed = failed || d.pdu == nil
		if o.text() && n > 1 {
			o.printf("\n")
		}
		if err := errors.Join(o.decoded(d), o.flush()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("stdin: %w", err)
	}
	if failed {
		return silent{exitFailed}
	}
	return nil
}

// decodeText reads a receipt's text as a deliver_sm with nothing else would carry it.
func decodeText(text string, rules *receipt.Rules) decoded {
	r := receipt.Decode(receipt.Delivery{
		CommandID: uint32(smpp.CommandDeliverSM), ESMClass: 0x04, ShortMessage: []byte(text),
	}, rules)
	return decoded{Line: 1}.with(&r)
}

// decodeHex reads a PDU in hex. A body that cannot be taken apart has its reading and an error. Of a PDU
// longer than max_pdu there is only what the daemon keeps of it, which is undecodable.
func decodeHex(s string, rules *receipt.Rules) decoded {
	octets, err := parseHex(s)
	if err != nil {
		return decoded{Notes: []string{}}.failed(err)
	}
	h := smpp.ParseHeader(octets)
	if kept := config.DefaultSMSC().MaxPDU; h.CommandLength > kept {
		octets = octets[:min(len(octets), int(kept))]
	}
	d := decoded{Notes: []string{}, pdu: octets, CommandID: h.CommandID.String()}
	_, err = smpp.Decode(octets)
	switch h.CommandID {
	case smpp.CommandDeliverSM, smpp.CommandDataSM:
		r := receipt.Decode(daemon.DecodePDU(octets), rules)
		d = d.with(&r)
	}
	if err != nil {
		d = d.failed(err)
	}
	return d
}

func (d decoded) with(r *receipt.Receipt) decoded {
	reading := r.Reading()
	d.Receipt, d.Notes = &reading, append([]string{}, r.Notes...)
	return d
}

func (d decoded) failed(err error) decoded {
	text := err.Error()
	d.Error = &text
	return d
}

// parseHex reads hex in any grouping: blanks, tabs, colons, hyphens, commas, dots, bars and 0x between
// the digits do not matter. It is a PDU when there is a header.
func parseHex(s string) ([]byte, error) {
	s = strings.NewReplacer("0x", "", "0X", "", `\x`, "").Replace(s)
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n:-,.|_", r) {
			return -1
		}
		return r
	}, s)
	if len(digits)%2 == 1 {
		return nil, fmt.Errorf("an odd number of hex digits (%d)", len(digits))
	}
	octets, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("not hex: %w", err)
	}
	if len(octets) < smpp.HeaderLen {
		return nil, fmt.Errorf("%s are no PDU: its header has %d", plural(len(octets), "octet"), smpp.HeaderLen)
	}
	return octets, nil
}

// decoded prints one explanation.
func (o output) decoded(d decoded) error {
	if !o.text() {
		return o.object(d)
	}
	if d.pdu == nil && d.Error != nil {
		o.printf("line %d: %s\n", d.Line, clean(*d.Error))
		return nil
	}
	if d.pdu != nil {
		o.printf("%s, %s\n", clean(d.CommandID), plural(len(d.pdu), "octet"))
		o.fields(d.pdu, "  ")
	}
	if r := d.Receipt; r != nil {
		o.reading(r)
	}
	for _, note := range d.Notes {
		o.printf("  %-24s %s\n", "note", clean(note))
	}
	return nil
}

// reading prints a receipt's reading, what is absent left out.
func (o output) reading(r *receipt.Reading) {
	o.printf("read as %s\n", r.Kind)
	for _, x := range []struct{ name, value string }{
		{"id", r.ID}, {"text_id", pointed(r.TextID)}, {"tlv_id", pointed(r.TLVID)}, {"raw_stat", r.RawStat},
		{"state", r.State.String()}, {"err", r.Err}, {"submit_date", r.SubmitDate.String()}, {"done_date", r.DoneDate.String()},
		{"sub", r.Sub}, {"dlvrd", r.Dlvrd}, {"text", r.Text},
	} {
		if x.value != "" {
			o.printf("  %-24s %s\n", x.name, clean(x.value))
		}
	}
}

func pointed(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
