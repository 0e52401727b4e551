package smpp

import (
	"encoding/binary"
	"fmt"
)

// HeaderLen is the length of every PDU's header in octets (SMPP v3.4 §3.2).
const HeaderLen = 16

// MaxCommandLength is the largest command_length in octets that is believed. Beyond it (as below
// HeaderLen) the reader has lost step with the peer's frames.
const MaxCommandLength = 16 << 20

// responseBit is set in the command_id of every response (SMPP v3.4 §5.1.2.1).
const responseBit CommandID = 0x80000000

// CommandID is a PDU's command_id (SMPP v3.4 §5.1.2.1, v5.0 §4.7.5).
type CommandID uint32

// The commands of SMPP v3.4 and v5.0.
const (
	CommandGenericNack           CommandID = 0x80000000
	CommandBindReceiver          CommandID = 0x00000001
	CommandBindReceiverResp      CommandID = 0x80000001
	CommandBindTransmitter       CommandID = 0x00000002
	CommandBindTransmitterResp   CommandID = 0x80000002
	CommandQuerySM               CommandID = 0x00000003
	CommandQuerySMResp           CommandID = 0x80000003
	CommandSubmitSM              CommandID = 0x00000004
	CommandSubmitSMResp          CommandID = 0x80000004
	CommandDeliverSM             CommandID = 0x00000005
	CommandDeliverSMResp         CommandID = 0x80000005
	CommandUnbind                CommandID = 0x00000006
	CommandUnbindResp            CommandID = 0x80000006
	CommandReplaceSM             CommandID = 0x00000007
	CommandReplaceSMResp         CommandID = 0x80000007
	CommandCancelSM              CommandID = 0x00000008
	CommandCancelSMResp          CommandID = 0x80000008
	CommandBindTransceiver       CommandID = 0x00000009
	CommandBindTransceiverResp   CommandID = 0x80000009
	CommandOutbind               CommandID = 0x0000000B
	CommandEnquireLink           CommandID = 0x00000015
	CommandEnquireLinkResp       CommandID = 0x80000015
	CommandSubmitMulti           CommandID = 0x00000021
	CommandSubmitMultiResp       CommandID = 0x80000021
	CommandAlertNotification     CommandID = 0x00000102
	CommandDataSM                CommandID = 0x00000103
	CommandDataSMResp            CommandID = 0x80000103
	CommandBroadcastSM           CommandID = 0x00000111
	CommandBroadcastSMResp       CommandID = 0x80000111
	CommandQueryBroadcastSM      CommandID = 0x00000112
	CommandQueryBroadcastSMResp  CommandID = 0x80000112
	CommandCancelBroadcastSM     CommandID = 0x00000113
	CommandCancelBroadcastSMResp CommandID = 0x80000113
)

// String is the specification's name, such as deliver_sm, and 0x0000ABCD for a command it does not know.
func (id CommandID) String() string {
	if id == CommandGenericNack {
		return "generic_nack"
	}
	name, ok := commandNames[id&^responseBit]
	switch {
	case !ok:
		return fmt.Sprintf("0x%08X", uint32(id))
	case id.IsResponse():
		return name + "_resp"
	}
	return name
}

// Known says whether SMPP v3.4 or v5.0 names the command.
func (id CommandID) Known() bool {
	_, ok := commandNames[id&^responseBit]
	return ok || id == CommandGenericNack
}

// IsResponse says whether the command answers a request. generic_nack does.
func (id CommandID) IsResponse() bool { return id&responseBit != 0 }

// Response is the command that answers a request of this kind. Requests without an answer of their own
// (alert_notification, outbind) and commands that the specification does not know give generic_nack.
func (id CommandID) Response() CommandID {
	if _, ok := commandNames[id]; !ok || id == CommandAlertNotification || id == CommandOutbind {
		return CommandGenericNack
	}
	return id | responseBit
}

// Request is the command that this one answers; itself when it is a request, 0 for a generic_nack.
func (id CommandID) Request() CommandID { return id &^ responseBit }

var commandNames = map[CommandID]string{
	CommandBindReceiver:      "bind_receiver",
	CommandBindTransmitter:   "bind_transmitter",
	CommandQuerySM:           "query_sm",
	CommandSubmitSM:          "submit_sm",
	CommandDeliverSM:         "deliver_sm",
	CommandUnbind:            "unbind",
	CommandReplaceSM:         "replace_sm",
	CommandCancelSM:          "cancel_sm",
	CommandBindTransceiver:   "bind_transceiver",
	CommandOutbind:           "outbind",
	CommandEnquireLink:       "enquire_link",
	CommandSubmitMulti:       "submit_multi",
	CommandAlertNotification: "alert_notification",
	CommandDataSM:            "data_sm",
	CommandBroadcastSM:       "broadcast_sm",
	CommandQueryBroadcastSM:  "query_broadcast_sm",
	CommandCancelBroadcastSM: "cancel_broadcast_sm",
}

// Header is the first 16 octets of a PDU (SMPP v3.4 §3.2).
type Header struct {
	CommandLength  uint32 // octets of the whole PDU on the wire, the header included
	CommandID      CommandID
	CommandStatus  Status
	SequenceNumber uint32
}

// ParseHeader reads a header from the first 16 octets of b, which must have them, and judges nothing.
func ParseHeader(b []byte) Header {
	return Header{
		CommandLength:  binary.BigEndian.Uint32(b[0:4]),
		CommandID:      CommandID(binary.BigEndian.Uint32(b[4:8])),
		CommandStatus:  Status(binary.BigEndian.Uint32(b[8:12])),
		SequenceNumber: binary.BigEndian.Uint32(b[12:16]),
	}
}

// AppendHeader appends h as it stands.
func AppendHeader(dst []byte, h Header) []byte {
	dst = binary.BigEndian.AppendUint32(dst, h.CommandLength)
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.CommandID))
	dst = binary.BigEndian.AppendUint32(dst, uint32(h.CommandStatus))
	return binary.BigEndian.AppendUint32(dst, h.SequenceNumber)
}

// SetSequenceNumber writes n into the header of the encoded PDU b.
func SetSequenceNumber(b []byte, n uint32) { binary.BigEndian.PutUint32(b[12:16], n) }

func (h *Header) header() *Header { return h }
