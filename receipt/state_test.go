package receipt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

func TestMessageState(t *testing.T) {
	tests := []struct {
		octet byte
		state receipt.MessageState
		name  string
		code  string
		final bool
	}{
		{0, receipt.Scheduled, "SCHEDULED", "scheduled", false},
		{1, receipt.Enroute, "ENROUTE", "enroute", false},
		{2, receipt.Delivered, "DELIVERED", "delivrd", true},
		{3, receipt.Expired, "EXPIRED", "Expired", true},
		{4, receipt.Deleted, "DELETED", "Deleted", true},
		{5, receipt.Undeliverable, "UNDELIVERABLE", "undeliv", true},
		{6, receipt.Accepted, "ACCEPTED", "acceptd", false},
		{7, receipt.Unknown, "UNKNOWN", "unknown", false},
		{8, receipt.Rejected, "REJECTED", "rejectd", true},
		{9, receipt.Skipped, "SKIPPED", "skipped", true},
	}
	rules := receipt.DefaultRules()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state, ok := receipt.FromWire(tt.octet)
			require.True(t, ok)
			require.Equal(t, tt.state, state)
			require.Equal(t, tt.name, state.String())
			require.Equal(t, tt.final, state.Final(&rules))
			require.Equal(t, tt.final, state.Final(nil))
			for _, word := range []string{tt.name, strings.ToLower(tt.name), tt.code, strings.ToUpper(tt.code)} {
				got, ok := receipt.ParseMessageState(word)
				require.True(t, ok, word)
				require.Equal(t, state, got, word)
			}
			var back receipt.MessageState
			text, err := json.Marshal(state)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &back))
			require.Equal(t, state, back)
		})
	}
}

func TestMessageState_finalByRules(t *testing.T) {
	rules := receipt.DefaultRules()
	rules.AcceptedFinal = true
	require.True(t, receipt.Accepted.Final(&rules))
	require.False(t, receipt.Unknown.Final(&rules))
	rules.UnknownFinal = true
	require.True(t, receipt.Unknown.Final(&rules))
	for _, s := range []receipt.MessageState{receipt.NoState, receipt.Scheduled, receipt.Enroute} {
		require.False(t, s.Final(&rules), s)
	}
}

func TestMessageState_none(t *testing.T) {
	for octet := byte(10); octet != 0; octet++ {
		_, ok := receipt.FromWire(octet)
		require.False(t, ok)
	}
	for _, word := range []string{"", "DELIVERD", "DELIVR", "DELIVRDX", "DELIVERED-TO-CARRIER", "FAILED", "2", "S\u212aIPPED", " DELIVRD", strings.Repeat("X", 1<<16)} {
		state, ok := receipt.ParseMessageState(word)
		require.False(t, ok, word)
		require.Equal(t, receipt.NoState, state)
	}
	require.Empty(t, receipt.NoState.String())
	require.Equal(t, "MessageState(99)", receipt.MessageState(99).String())

	var s receipt.MessageState
	require.NoError(t, json.Unmarshal([]byte(`""`), &s))
	require.Error(t, json.Unmarshal([]byte(`"FAILED"`), &s))
}

func TestKind_text(t *testing.T) {
	words := []string{"undecodable", "message", "delivery_receipt", "sme_ack", "user_ack", "conversation_abort", "intermediate"}
	for i, word := range words {
		k := receipt.Kind(i)
		require.Equal(t, word, k.String())
		var back receipt.Kind
		require.NoError(t, back.UnmarshalText([]byte(word)))
		require.Equal(t, k, back)
	}
	require.Equal(t, "Kind(99)", receipt.Kind(99).String())
	require.Error(t, new(receipt.Kind).UnmarshalText([]byte("receipt")))
}
