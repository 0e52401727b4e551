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
	"esmed/smpp"

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
	"dl_name": "smpp.dl_name", "error_status_code": "smpp.error_status_code", "final_date": "smpp.final_date_r",
	"error_code": "smpp.error_code", "esme_addr_ton": "smpp.esme_addr_ton", "esme_addr_npi": "smpp.esme_addr_npi", "esme_addr": "smpp.esme_addr",
}

// besides are tshark's fields that are none of a PDU's, or another part of one that is.
var besides = []string{
	"smpp.opt_params", "smpp.opt_param", "smpp.opt_param_tag", "smpp.opt_param_len", "smpp.esm.submit.msg_type",
	"smpp.esm.submit.features", "smpp.regdel.acks", "smpp.regdel.notif",
}

// Debian's tshark reads a capture of a real session as we do: the same PDUs, and the same octets in every field.
func TestTell_asTsharkReadsIt(t *testing.T) {
	needTshark(t)
	w := newWire(t, layers.LinkTypeEthernet)
	w.replay(session(t, 30), rand.New(rand.NewPCG(1, 2)), behindHeaders())
	ours, story := tell(t, w.pcap())
	require.Positive(t, story.PDUs)

	byPDU := map[string][]dissected{}
	for _, pdu := range dissect(t, w.pcap()) {
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

func needTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil && os.Getenv("CI_TOOLS") != "1" {
		t.Skip("tshark is not installed: apt-get install tshark")
	}
}

// dissect gives the PDUs that tshark finds in a capture.
func dissect(t *testing.T, pcap []byte) []dissected {
	path := filepath.Join(t.TempDir(), "session.pcap")
	require.NoError(t, os.WriteFile(path, pcap, 0o600))
	cmd := exec.Command("tshark", "-r", path, "-d", "tcp.port==9999,smpp", "-T", "pdml", "-Y", "smpp",
		"-o", "tcp.reassemble_out_of_order:TRUE")
	cmd.Stderr = os.Stderr
	pdml, err := cmd.Output()
	require.NoError(t, err)
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

// What is for many is read by tshark as we read it too, element by element. It has no names for the numbers of elements.
func TestTell_whatIsForManyAsTsharkReadsIt(t *testing.T) {
	needTshark(t)
	number := func(n string) smpp.Address { return smpp.Address{TON: 1, NPI: 1, Addr: n} }
	w := newWire(t, layers.LinkTypeEthernet)
	w.open()
	w.send(client, encoded(t, &smpp.SubmitMulti{
		SM: smpp.SM[string]{
			Header: smpp.Header{SequenceNumber: 1}, Source: smpp.Address{TON: 5, Addr: "ACME"}, RegisteredDelivery: 1, ShortMessage: []byte("hello"),
		},
		Dests: []smpp.Destination{
			{Flag: smpp.DestinationAddress, Address: number(alice)}, {Flag: smpp.DestinationList, List: "customers"},
			{Flag: smpp.DestinationAddress, Address: number(bob)},
		},
	}))
	w.send(server, encoded(t, &smpp.SubmitMultiResp{
		Header: smpp.Header{SequenceNumber: 1}, MessageID: "4711", Unsuccess: []smpp.Unsuccess{
			{Dest: number(alice), ErrorStatusCode: smpp.StatusThrottled}, {Dest: number(bob), ErrorStatusCode: smpp.StatusInvDstAdr},
		},
	}))
	w.send(client, encoded(t, &smpp.QuerySM{Header: smpp.Header{SequenceNumber: 2}, MessageID: "4711", Source: number(alice)}))
	w.send(server, encoded(t, &smpp.QuerySMResp{Header: smpp.Header{SequenceNumber: 2}, MessageID: "4711", MessageState: 2, ErrorCode: 7}))
	w.send(client, encoded(t, &smpp.CancelSM{Header: smpp.Header{SequenceNumber: 3}, MessageID: "4711", Source: number(alice), Dest: number(bob)}))
	w.send(client, encoded(t, &smpp.ReplaceSM{Header: smpp.Header{SequenceNumber: 4}, MessageID: "4711", ShortMessage: []byte("other")}))
	w.send(server, encoded(t, &smpp.AlertNotification{Header: smpp.Header{SequenceNumber: 5}, Source: number(alice), ESME: number(bob)}))
	w.send(client, encoded(t, &smpp.BroadcastSM{Header: smpp.Header{SequenceNumber: 6}, ServiceType: "CBS", Source: number(alice), MessageID: "9", DataCoding: 8}))
	w.send(server, encoded(t, &smpp.BroadcastSMResp{Header: smpp.Header{SequenceNumber: 6}, MessageID: "9"}))
	w.send(client, encoded(t, &smpp.QueryBroadcastSM{Header: smpp.Header{SequenceNumber: 7}, MessageID: "9", Source: number(alice)}))
	w.send(server, encoded(t, &smpp.QueryBroadcastSMResp{Header: smpp.Header{SequenceNumber: 7}, MessageID: "9"}))
	w.send(client, encoded(t, &smpp.CancelBroadcastSM{Header: smpp.Header{SequenceNumber: 8}, ServiceType: "CBS", MessageID: "9", Source: number(alice)}))
	w.close()
	ours, _ := tell(t, w.pcap())
	pdus := dissect(t, w.pcap())
	require.Len(t, pdus, len(ours.pdus))
	for i, e := range ours.pdus {
		want := map[string][]string{}
		for _, f := range e.Fields {
			if name, ok := theirs[f.Name]; ok && f.Hex != "" {
				want[name] = append(want[name], f.Hex)
			}
		}
		for name, values := range want {
			got := valuesOf(pdus[i], name)
			if name == "smpp.command_status" && got == nil { // nor has it the status of a request
				continue
			}
			for n := range got {
				got[n] = strings.TrimSuffix(got[n], "00")
				values[n] = strings.TrimSuffix(values[n], "00")
			}
			require.Equal(t, values, got, "%s of %s", name, e.CommandID)
		}
	}
}

// valuesOf are those of all fields of a name, in their order.
func valuesOf(in dissected, name string) (all []string) {
	for _, f := range in.Fields {
		if f.Name == name && f.Value != "" {
			all = append(all, cmp.Or(f.Unmasked, f.Value))
		}
		all = append(all, valuesOf(f, name)...)
	}
	return all
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
