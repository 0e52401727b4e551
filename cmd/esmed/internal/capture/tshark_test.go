package capture_test

import (
	"cmp"
	"encoding/hex"
	"encoding/xml"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"esmed/cmd/esmed/internal/capture"

	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// dissected is a field as tshark's PDML has it.
type dissected struct {
	Name     string      `xml:"name,attr"`
	Value    string      `xml:"value,attr"`
	Unmasked string      `xml:"unmaskedvalue,attr"` // of a part of an octet: all of it
	Fields   []dissected `xml:"field"`
}

// theirs are tshark's names of the fields.
var theirs = map[string]string{
	"command_length": "smpp.command_length", "command_id": "smpp.command_id", "command_status": "smpp.command_status",
	"sequence_number": "smpp.sequence_number", "system_id": "smpp.system_id", "system_type": "smpp.system_type",
	"interface_version": "smpp.interface_version", "addr_ton": "smpp.addr_ton", "addr_npi": "smpp.addr_npi",
	"address_range": "smpp.address_range", "sc_interface_version": "smpp.SC_interface_version",
	"service_type": "smpp.service_type", "source_addr_ton": "smpp.source_addr_ton", "source_addr_npi": "smpp.source_addr_npi",
	"source_addr": "smpp.source_addr", "dest_addr_ton": "smpp.dest_addr_ton", "dest_addr_npi": "smpp.dest_addr_npi",
	"destination_addr": "smpp.destination_addr", "esm_class": "smpp.esm.submit.msg_mode", "protocol_id": "smpp.protocol_id",
	"priority_flag": "smpp.priority_flag", "schedule_delivery_time": "smpp.schedule_delivery_time_r",
	"validity_period": "smpp.validity_period_r", "registered_delivery": "smpp.regdel.receipt",
	"replace_if_present_flag": "smpp.replace_if_present_flag", "data_coding": "smpp.data_coding",
	"sm_default_msg_id": "smpp.sm_default_msg_id", "sm_length": "smpp.sm_length", "short_message": "smpp.message",
	"message_id": "smpp.message_id", "receipted_message_id": "smpp.receipted_message_id", "message_state": "smpp.message_state",
	"user_message_reference": "smpp.user_message_reference", "password": "smpp.password",
}

// besides are tshark's fields that are none of a PDU's, or another part of one that is.
var besides = []string{
	"smpp.opt_params", "smpp.opt_param", "smpp.opt_param_tag", "smpp.opt_param_len", "smpp.esm.submit.msg_type",
	"smpp.esm.submit.features", "smpp.regdel.acks", "smpp.regdel.notif",
}

// Debian's tshark reads a capture of a real session as we do: the same PDUs, and the same octets in every field.
func TestTell_asTsharkReadsIt(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil && os.Getenv("CI_TOOLS") != "1" {
		t.Skip("tshark is not installed: apt-get install tshark")
	}
	w := newWire(t, layers.LinkTypeEthernet)
	w.replay(session(t, 30), rand.New(rand.NewPCG(1, 2)), behindHeaders())
	path := filepath.Join(t.TempDir(), "session.pcap")
	require.NoError(t, os.WriteFile(path, w.pcap(), 0o600))
	ours, story := tell(t, w.pcap())
	require.Positive(t, story.PDUs)

	cmd := exec.Command("tshark", "-r", path, "-d", "tcp.port==9999,smpp", "-T", "pdml", "-Y", "smpp",
		"-o", "tcp.reassemble_out_of_order:TRUE")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	byPDU := map[string][]dissected{}
	for _, pdu := range dissect(t, out) {
		key := value(pdu, "smpp.command_id") + value(pdu, "smpp.sequence_number")
		byPDU[key] = append(byPDU[key], pdu)
	}
	total := 0
	for _, all := range byPDU {
		total += len(all)
	}
	require.Equal(t, len(ours.pdus), total, "as many PDUs")
	for _, e := range ours.pdus {
		key := hex.EncodeToString(e.PDU[4:8]) + hex.EncodeToString(e.PDU[12:16])
		require.NotEmpty(t, byPDU[key], "tshark has no %s", key)
		requireFields(t, e, byPDU[key][0])
		byPDU[key] = byPDU[key][1:]
	}
}

// dissect gives the PDUs in tshark's PDML.
func dissect(t *testing.T, pdml []byte) []dissected {
	var file struct {
		Packets []struct {
			Protos []dissected `xml:"proto"`
		} `xml:"packet"`
	}
	require.NoError(t, xml.Unmarshal(pdml, &file))
	var pdus []dissected
	for _, p := range file.Packets {
		for _, proto := range p.Protos {
			if proto.Name == "smpp" {
				pdus = append(pdus, proto)
			}
		}
	}
	return pdus
}

// find looks for a field at any depth.
func find(in dissected, name string) (dissected, bool) {
	for _, f := range in.Fields {
		if f.Name == name {
			return f, true
		}
		if got, ok := find(f, name); ok {
			return got, true
		}
	}
	return dissected{}, false
}

func value(in dissected, name string) string {
	f, _ := find(in, name)
	return f.Value
}

// requireFields compares the octets of every field: neither side has one that the other lacks.
func requireFields(t *testing.T, e capture.Explanation, pdu dissected) {
	known := slices.Clone(besides)
	for _, f := range e.Fields {
		name, ok := theirs[f.Name]
		require.True(t, ok, "no name of tshark's for %s", f.Name)
		known = append(known, name)
		got, ok := find(pdu, name)
		value := cmp.Or(got.Unmasked, got.Value)
		switch {
		case f.Value == "(secret)", !ok && f.Hex == "": // tshark shows no empty strings at a PDU's end
		case !ok && f.Name == "command_status": // nor the status of a request, which is 0
			require.Equal(t, "00000000", f.Hex)
		default:
			require.Contains(t, []string{f.Hex, f.Hex + "00"}, value, "%s of PDU %d, %s", f.Name, e.Line, e.CommandID) // strings end with NUL
		}
	}
	for _, name := range names(pdu) {
		require.Contains(t, known, name, "of PDU %d, %s", e.Line, e.CommandID)
	}
}

// names are those of all fields of SMPP.
func names(in dissected) []string {
	var all []string
	for _, f := range in.Fields {
		if strings.HasPrefix(f.Name, "smpp.") {
			all = append(all, f.Name)
		}
		all = append(all, names(f)...)
	}
	return all
}
