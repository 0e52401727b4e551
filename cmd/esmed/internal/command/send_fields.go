package command

import (
	"strconv"
	"strings"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// fieldFlags are the flags of sendFields.
var fieldFlags = []string{"receipt", "alphabet", "data-coding", "data-hex", "udh-hex", "service-type", "protocol-id", "priority-flag", "replace-if-present-flag", "tlv"}

// sendFields are flags for fields of the submit_sm, by the API's names.
type sendFields struct {
	receipt    string
	dataCoding int
	replace    bool
	tlvs       []string // TAG=HEX
}

func (f *sendFields) register(cmd *cobra.Command, m *control.Submission) {
	flags := cmd.Flags()
	flags.StringVar(&f.receipt, "receipt", "", "receipt to ask for: final, failure, none, or the octet registered_delivery")
	flags.StringVar(&m.Alphabet, "alphabet", "", "gsm7, latin1, ascii or ucs2; the smallest that holds the text when left out")
	flags.IntVar(&f.dataCoding, "data-coding", 0, "0 to 255, chosen for the text when left out: 16 is a flash, 24 one in UCS-2, 4 is binary")
	flags.StringVar(&m.DataHex, "data-hex", "", "octets in hex, in place of --text")
	flags.StringVar(&m.UDHHex, "udh-hex", "", "a user data header in hex, with its length octet")
	flags.StringVar(&m.ServiceType, "service-type", "", "5 characters at most")
	flags.IntVar(&m.ProtocolID, "protocol-id", 0, "0 to 255")
	flags.IntVar(&m.PriorityFlag, "priority-flag", 0, "0 to 3")
	flags.BoolVar(&f.replace, "replace-if-present-flag", false, "replace what is pending with the same sender, destination and service type")
	flags.StringArrayVar(&f.tlvs, "tlv", nil, "an optional parameter, TAG=HEX, as 0x1401=0AFF; may be repeated")
}

// fill puts into a submission what is not of the flag's own type there.
func (f *sendFields) fill(cmd *cobra.Command, m *control.Submission) error {
	m.RegisteredDelivery = control.RegisteredDelivery(f.receipt)
	if cmd.Flags().Changed("data-coding") {
		m.DataCoding = &f.dataCoding
	}
	if f.replace {
		m.ReplaceIfPresentFlag = 1
	}
	for _, tlv := range f.tlvs {
		tag, octets, found := strings.Cut(tlv, "=")
		n, err := strconv.ParseUint(tag, 0, 16)
		if !found || err != nil {
			return usage(cmd, "--tlv must be TAG=HEX, as 0x1401=0AFF (got %q)", tlv)
		}
		m.TLVs = append(m.TLVs, control.SubmissionTLV{Tag: int(n), Hex: octets})
	}
	return nil
}
