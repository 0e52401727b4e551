package daemon_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// sessionEvents are the details of the session records so far.
func (s *system) sessionEvents() []control.Event {
	s.t.Helper()
	var all []control.Event
	for _, e := range s.events() {
		if e.Type == "session" {
			all = append(all, e)
		}
	}
	return all
}

func TestSession_whatBecomesOfItIsRecorded(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.awaitState(s.submit(number(1)), "DELIVERED") // so that the bind's answer has come
	s.smsc.Drop(smpptest.DropReset)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds == 2 && st.Bound == 1 })
	s.awaitState(s.submit(number(2)), "DELIVERED")
	var details []string
	for _, e := range s.sessionEvents() {
		require.Equal(t, "alpha/1", e.Session)
		details = append(details, strings.SplitN(e.Detail, ":", 2)[0])
	}
	require.Equal(t, []string{"bound", "closed", "bound"}, details)
}

func TestSession_refusedCredentialsAreRecordedOnce(t *testing.T) {
	s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusInvPaswd}}, nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Binds >= 3 })
	events := s.sessionEvents()
	require.Len(t, events, 1)
	require.Contains(t, events[0].Detail, "ESME_RINVPASWD")
}

func TestSession_noticesAreKeptWithoutPasswords(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 1 })
	alert, err := smpp.Append(nil, &smpp.AlertNotification{Source: smpp.Address{Addr: "393331234567"}})
	require.NoError(t, err)
	outbind, err := smpp.Append(nil, &smpp.Outbind{SystemID: "smsc", Password: "hush"})
	require.NoError(t, err)
	stray, err := smpp.Append(nil, &smpp.SubmitSMResp{Header: smpp.Header{SequenceNumber: 4242}, MessageID: "nobody's"})
	require.NoError(t, err)
	for _, pdu := range [][]byte{alert, outbind, stray} {
		require.NoError(t, s.smsc.WriteRaw(pdu))
	}
	id := s.submit(number(1))
	s.awaitState(id, "DELIVERED")

	events := s.sessionEvents()
	require.Len(t, events, 4)
	require.Contains(t, events[1].Detail, "alert_notification")
	require.Equal(t, hex.EncodeToString(alert), events[1].PDU)
	require.Contains(t, events[2].Detail, "outbind")
	require.Empty(t, events[2].PDU)
	require.Contains(t, events[3].Detail, "stray_response")
	require.Empty(t, s.exceptions())
}

func TestSession_aFloodOfResponsesToNothingMakesFewRecordsAndLines(t *testing.T) {
	s := newSystem(t, smpptest.Config{}, nil)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 1 })
	nack := pduOf(t, &smpp.Empty{Header: smpp.Header{CommandID: smpp.CommandGenericNack, CommandStatus: 3, SequenceNumber: 4242}})
	const n = 5000
	require.NoError(t, s.smsc.WriteRaw(bytes.Repeat(nack, n)))
	s.awaitState(s.submit(number(1)), "DELIVERED")
	s.restart() // what was only counted is recorded when the session ends
	var details []string
	for _, e := range s.sessionEvents() {
		if strings.HasPrefix(e.Detail, "stray_response") {
			require.Equal(t, hex.EncodeToString(nack), e.PDU)
			details = append(details, e.Detail)
		}
	}
	require.Equal(t, []string{
		"stray_response: ESME_RINVCMDID: generic_nack",
		"stray_response: ESME_RINVCMDID: generic_nack, the first of 4999 responses to nothing outstanding",
	}, details)
	told := strings.Count(s.log.String(), "response to nothing outstanding")
	require.Less(t, told, n/10)
	for _, m := range regexp.MustCompile(`"response to nothing outstanding".*"suppressed":(\d+)`).FindAllStringSubmatch(s.log.String(), -1) {
		suppressed, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		told += suppressed
	}
	require.Equal(t, n, told, "each is written or counted")
}

// pduOf encodes a PDU.
func pduOf(t *testing.T, p smpp.PDU) []byte {
	t.Helper()
	pdu, err := smpp.Append(nil, p)
	require.NoError(t, err)
	return pdu
}

// withLength puts a PDU's length into its header.
func withLength(pdu []byte) []byte {
	binary.BigEndian.PutUint32(pdu, uint32(len(pdu)))
	return pdu
}

func hexOf(pdu []byte) string { return hex.EncodeToString(pdu) }

func TestSystemd_isToldOfStartStopAndReload(t *testing.T) {
	var g errgroup.Group
	socket := &net.UnixAddr{Net: "unixgram"}
	told := make(chan string, 4096) // more than a daemon says in this test
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) {
		socket.Name = filepath.Join(filepath.Dir(c.API.Socket), "notify")
		conn, err := net.ListenUnixgram("unixgram", socket)
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, conn.Close())
			require.NoError(t, g.Wait())
		})
		t.Setenv("NOTIFY_SOCKET", socket.Name)
		t.Setenv("WATCHDOG_USEC", "20000")
		g.Go(func() error {
			buf := make([]byte, 256)
			for {
				n, err := conn.Read(buf)
				if err != nil { // closed at the end of the test
					return nil
				}
				told <- string(buf[:n])
			}
		})
	})
	awaitTold(t, told, "READY=1")
	s.halt()
	awaitTold(t, told, "STOPPING=1")
	s.start()
	awaitTold(t, told, "READY=1")
	awaitTold(t, told, "WATCHDOG=1")

	read, proceed := make(chan struct{}), make(chan struct{})
	s.hangUpWith(func() (*config.Config, error) {
		close(read)
		<-proceed
		return s.cfg, nil
	})
	<-read
	awaitTold(t, told, "RELOADING=1")
	awaitTold(t, told, "WATCHDOG=1") // while the configuration takes its time
	close(proceed)
	awaitTold(t, told, "READY=1")
}

// awaitTold returns when the next message has come that has such a line.
func awaitTold(t *testing.T, told <-chan string, line string) {
	t.Helper()
	for {
		select {
		case m := <-told:
			if slices.Contains(strings.Split(m, "\n"), line) {
				return
			}
		case <-time.After(patience):
			require.FailNow(t, "systemd is told nothing")
		}
	}
}
