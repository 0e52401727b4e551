package daemon_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// Whatever is wrong with a PDU, no text of it stands in clear in the log.
func TestSeal_noTextInClearHoweverMalformedThePDU(t *testing.T) {
	const text = "zebra 4711"
	quoted := []byte("id:7 stat:DELIVRD err:000 text:" + text)
	deliver := func(class byte, body []byte, tlvs ...smpp.TLV) []byte {
		return pduOf(t, &smpp.DeliverSM{ESMClass: class, ShortMessage: body, TLVs: tlvs})
	}
	lie := func(pdu, at []byte, octets ...byte) []byte { // puts octets in front of where at is found
		copy(pdu[bytes.Index(pdu, at)-len(octets):], octets)
		return pdu
	}
	tail := func(pdu []byte, rest string) []byte { return withLength(append(pdu, rest...)) }
	payload := smpp.TLV{Tag: smpp.TagMessagePayload, Value: []byte(text)}
	asData := func(pdu []byte) []byte { copy(pdu[4:8], "\x00\x00\x01\x03"); return pdu }
	pdus := map[string][]byte{
		"sm_length of 0":                  lie(deliver(4, quoted), quoted, 0),
		"sm_length too short":             lie(deliver(4, quoted), quoted, byte(len(quoted)-len(text))),
		"sm_length too long":              lie(deliver(4, quoted), quoted, 0xFF),
		"sm_length of 0 in a message":     lie(deliver(0, []byte(text)), []byte(text), 0),
		"message_payload claims too much": lie(deliver(4, nil, payload), []byte(text), 0xFF, 0xFF),
		"trailing octets":                 tail(deliver(4, quoted[:17]), text),
		"info text":                       deliver(4, quoted[:17], smpp.TLV{Tag: smpp.TagAdditionalStatusInfoText, Value: []byte(text)}),
		"a TLV of the SMSC's own":         deliver(4, quoted[:17], smpp.TLV{Tag: 0x1501, Value: []byte(text)}),
		"data_sm with deliver_sm's body":  asData(deliver(0, []byte(text))),
		"stray submit_sm_resp":            tail(pduOf(t, &smpp.SubmitSMResp{Header: smpp.Header{SequenceNumber: 4242}, MessageID: "7"}), text),
		"generic_nack with a body":        tail(pduOf(t, &smpp.Empty{Header: smpp.Header{CommandID: smpp.CommandGenericNack, SequenceNumber: 4243}}), text),
		"alert_notification and more":     tail(pduOf(t, &smpp.AlertNotification{Source: smpp.Address{Addr: "39333"}}), text),
		"submit_sm to us":                 tail(pduOf(t, &smpp.SubmitSM{ShortMessage: []byte(text)}), text),
		"replace_sm to us":                pduOf(t, &smpp.ReplaceSM{MessageID: "7", ShortMessage: []byte(text)}),
		"an unknown command":              tail(pduOf(t, &smpp.Other{Header: smpp.Header{CommandID: 0x777}}), text),
	}
	s := newSystem(t, smpptest.Config{}, nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 1 })
	for _, pdu := range pdus {
		require.NoError(t, s.smsc.WriteRaw(pdu))
	}
	s.awaitState(s.submit(number(1)), "DELIVERED")
	s.restart() // of stray responses that come at once, the second is recorded by then
	kept := map[string]bool{}
	for _, e := range s.events() {
		kept[e.PDU] = true
	}
	for name, pdu := range pdus {
		require.True(t, kept[hexOf(pdu)], "%s is kept, and whoever has the key reads all of it", name)
	}
	s.halt()
	segments, err := filepath.Glob(filepath.Join(s.cfg.DataDir, "log", "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	for _, path := range segments {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		// Of octets that follow the last field, as many as a TLV's header has stay: those of the text's beginning.
		require.False(t, bytes.Contains(data, []byte(text[4:8])))
		require.True(t, bytes.Contains(data, []byte("stat:DELIVRD")))
	}
}
