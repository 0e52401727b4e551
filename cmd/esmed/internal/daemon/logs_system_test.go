package daemon_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// What must be in no log. Numbers are searched for without their sign.
const (
	hiddenText     = "kingfisher"
	hiddenPassword = "Zk9xpass"
	hiddenPeer     = "hush7788" // the password of an outbind
	hiddenSender   = "447700900123"
)

// TestLogs_holdNoTextNumberOrPassword runs what makes lines, at the level that makes most.
func TestLogs_holdNoTextNumberOrPassword(t *testing.T) {
	var access string
	final := smpptest.Planned{Kind: smpptest.Final, Word: "DELIVRD"}
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		switch sub.Dest.Addr[len(sub.Dest.Addr)-1] {
		case '2':
			a.Status, a.Receipts = smpp.StatusInvDstAdr, nil
		case '3':
			a.Receipts = []smpptest.Planned{final, {Kind: smpptest.Contradiction, Word: "UNDELIV"}, {Kind: smpptest.UnknownID, Word: "DELIVRD"}}
		case '4':
			a.Receipts = nil
		case '5':
			a.Drop, a.Receipts = smpptest.DropBefore, nil
		}
		return a
	}}, func(c *config.Config) {
		access = filepath.Join(filepath.Dir(c.API.Socket), "access.log")
		c.Log.Access, c.SMSCs[0].Password = access, hiddenPassword
	})
	send := func(to string) string {
		m, _, err := s.api.Submit(s.ctx, control.Submission{To: to, From: "+" + hiddenSender, Text: hiddenText + " for you"}, "")
		require.NoError(t, err)
		return m.ID
	}
	s.awaitState(send(number(1)), "DELIVERED")
	s.awaitState(send(number(2)), "FAILED")
	s.awaitState(send(number(3)), "DELIVERED")
	open := send(number(4))
	s.awaitState(open, "SUBMITTED")
	_, err := s.api.Cancel(s.ctx, open, "not for "+number(4))
	require.NoError(t, err)
	_, err = s.api.Query(s.ctx, open, 0)
	require.NoError(t, err)
	for _, wrong := range []control.Submission{
		{To: number(6) + "x", From: "ACME", Text: hiddenText}, {To: number(6), From: "ACME", Text: hiddenText, Alphabet: "none"},
	} {
		_, _, err = s.api.Submit(s.ctx, wrong, "")
		require.Error(t, err)
	}
	outbind, err := smpp.Append(nil, &smpp.Outbind{SystemID: "smsc", Password: hiddenPeer})
	require.NoError(t, err)
	require.NoError(t, s.smsc.WriteRaw(outbind))
	for _, text := range []string{hiddenText, "id:1234 sub:001 dlvrd:001 stat:DELIVRD err:000 text:" + hiddenText} {
		for _, class := range []byte{0, 4} {
			require.NoError(t, s.smsc.WriteRaw(pduOf(t, &smpp.DeliverSM{
				Header: smpp.Header{SequenceNumber: 9000 + uint32(class)}, ESMClass: class, ShortMessage: []byte(text),
				Source: smpp.Address{TON: 1, NPI: 1, Addr: hiddenSender}, Dest: smpp.Address{TON: 1, NPI: 1, Addr: number(7)[1:]},
			})))
		}
	}
	s.awaitState(send(number(5)), "IN_DOUBT")
	s.drained()
	s.halt()
	s.start()
	s.halt()

	logs := s.log.String() + readFile(t, access)
	for _, line := range []string{"submit_sm refused", "submit_sm without an answer", "receipt held", "session ended", `"event":"mo"`, `"event":"receipt"`, "pdu received"} {
		require.Contains(t, logs, line, "the test does not make what it is about")
	}
	for _, hidden := range []string{hiddenText, hiddenPassword, hiddenPeer, hiddenSender} {
		require.NotContains(t, strings.ToLower(logs), strings.ToLower(hidden))
	}
	for n := range 8 {
		require.NotContains(t, logs, number(n)[1:])
	}
}

func TestReload_changesTheLevelOfTheLog(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) { c.Log.Level = "warn" })
	s.awaitState(s.submit(number(1)), "DELIVERED")
	require.NotContains(t, s.log.String(), `"level":"info"`)
	next := *s.cfg
	next.Log.Level, next.Log.Format = "debug", "console"
	s.hangUp(&next, nil)
	s.awaitLog(`"msg":"reloaded"`)
	require.Contains(t, s.log.String(), `"msg":"log level changed","from":"warn","to":"debug"`)
	require.Contains(t, s.log.String(), `"msg":"restart needed for what changed","key":"log.format"`)
	s.awaitState(s.submit(number(2)), "DELIVERED")
	require.Contains(t, s.log.String(), `"msg":"pdu sent"`)

	quieter := *s.cfg
	quieter.Log.Level = "error"
	s.hangUp(&quieter, nil)
	s.awaitLog(`"msg":"log level changed","from":"debug","to":"error"`)
	s.awaitState(s.submit(number(3)), "DELIVERED")
	told := s.log.String()
	s.awaitState(s.submit(number(4)), "DELIVERED")
	require.NotContains(t, strings.TrimPrefix(s.log.String(), told), `"level":"debug"`)
}
