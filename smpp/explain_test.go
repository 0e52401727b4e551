package smpp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFields_octetsInWords(t *testing.T) {
	tests := []struct {
		name  string
		octet byte
		want  string
	}{
		{"esm_class", 0x00, "message (0x00)"},
		{"esm_class", 0x08, "delivery acknowledgement (0x08)"},
		{"esm_class", 0x10, "user acknowledgement (0x10)"},
		{"esm_class", 0x18, "conversation abort (0x18)"},
		{"esm_class", 0x60, "intermediate notification, UDHI (0x60)"},
		{"esm_class", 0x84, "delivery receipt, reply path (0x84)"},
		{"esm_class", 0x0C, "reserved type (0x0C)"},
		{"message_state", 9, "SKIPPED (0x09)"},
		{"message_state", 10, "0x0A"},
		{"source_addr_ton", 7, "7"},
		{"dest_addr_npi", 2, "2"},
		{"dest_addr_npi", 14, "14 (internet)"},
		{"data_coding", 8, "0x08"},
		{"priority_flag", 3, "3"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) { require.Equal(t, tt.want, explainOctet(tt.name, tt.octet)) })
	}
}

func TestFields_TLVsInWords(t *testing.T) {
	tests := []struct {
		tag   Tag
		value string
		want  string
	}{
		{TagReceiptedMessageID, "5A3C99F1\x00", "5A3C99F1"},
		{TagReceiptedMessageID, "5A\x013C\x00", `"5A\x013C"`},
		{TagMessageState, "\x02", "DELIVERED (0x02)"},
		{TagMessageState, "\x02\x00", "0200"},
		{TagNetworkErrorCode, "\x03\x00\x1B", "network type 3, error 27"},
		{TagNetworkErrorCode, "\x03", "03"},
		{TagUserMessageReference, "\x03\x2C", "812"},
		{TagSARTotalSegments, "\x03", "3"},
		{TagSARTotalSegments, "", ""},
		{0x1401, "ab", "6162"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) { require.Equal(t, tt.want, explainTLV(tt.tag, []byte(tt.value))) })
	}
}
