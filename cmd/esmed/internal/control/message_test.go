package control_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/statemachine"
)

var update = flag.Bool("update", false, "write golden files")

// golden compares a value's JSON with a file.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	got = append(got, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

const firstID = "01JDXW5Q0C8Z4Y3K7M2N9P6R5T"

// life is a message that was delivered, with a duplicate receipt, and what else an answer can show.
func life(t testing.TB) *fake {
	f := newFake(t)
	f.append(t, accepted(firstID, "order-42"))
	f.send(t, firstID, "5A3C99F1")
	f.receive(t, delivered("5A3C99F1"))
	f.receive(t, delivered("5A3C99F1"))
	return f
}

func accepted(id, ref string) *statemachine.MessageAccepted {
	return &statemachine.MessageAccepted{
		Message: statemachine.ID(id), SMSC: "alpha", Account: "alpha", Owner: "uid:0", Ref: ref,
		To: "+393331234567", E164: "+393331234567",
		Source:             receipt.Address{Addr: "ACME", TON: 5},
		Dest:               receipt.Address{Addr: "393331234567", TON: 1, NPI: 1},
		RegisteredDelivery: 1, ValidUntil: began.Add(72 * time.Hour),
		Parts: []statemachine.PartContent{{ShortMessage: []byte("Your code is 4711")}},
	}
}

func TestMessage_isAsTheContractShows(t *testing.T) {
	c := newClient(t, newAPI(t, life(t).config()))
	m, err := c.Message(t.Context(), firstID)
	require.NoError(t, err)
	golden(t, "message.json", m)
}

func TestEvents_ofAMessage(t *testing.T) {
	c := newClient(t, newAPI(t, life(t).config()))
	events, err := c.MessageEvents(t.Context(), firstID)
	require.NoError(t, err)
	golden(t, "events.json", events)
}

func TestExceptionsAndInbox_asTheContractShows(t *testing.T) {
	f := life(t)
	f.receive(t, "id:5A3C99F1 stat:UNDELIV done date:2611301205") // contradicts
	f.receive(t, delivered("UNKNOWN1"))                           // fits nothing
	f.receive(t, "!garbage")
	c := newClient(t, newAPI(t, f.config()))
	inbox, err := c.Inbox(t.Context(), control.InboxQuery{})
	require.NoError(t, err)
	golden(t, "inbox.json", inbox)
	exceptions, err := c.Exceptions(t.Context(), control.ExceptionQuery{})
	require.NoError(t, err)
	golden(t, "exceptions.json", exceptions)
	for _, x := range exceptions.Items {
		one, err := c.Exception(t.Context(), x.ID)
		require.NoError(t, err)
		require.Equal(t, x, one.Exception)
		require.Len(t, one.Events, len(x.Records))
	}
}

func TestReport_asTheContractShows(t *testing.T) {
	f := life(t)
	f.receive(t, delivered("UNKNOWN1"))
	c := newClient(t, newAPI(t, f.config()))
	byHour, err := c.Report(t.Context(), control.ReportQuery{})
	require.NoError(t, err)
	bySMSC, err := c.Report(t.Context(), control.ReportQuery{By: "smsc"})
	require.NoError(t, err)
	golden(t, "report.json", map[string]any{"hour": byHour, "smsc": bySMSC})
}

func TestReport_leavesHoursThatHaveNotSettledOutOfTheRatios(t *testing.T) {
	f := life(t)
	f.at = began.Add(7 * time.Hour)
	f.append(t, accepted("01JDXW5Q0C8Z4Y3K7M2N9P9999", ""))
	f.send(t, "01JDXW5Q0C8Z4Y3K7M2N9P9999", "late")
	cfg := f.config()
	cfg.Now = func() time.Time { return began.Add(7*time.Hour + time.Minute) }
	c := newClient(t, newAPI(t, cfg))
	settle := 6 * time.Hour

	hours, err := c.Report(t.Context(), control.ReportQuery{Settle: &settle})
	require.NoError(t, err)
	require.Len(t, hours, 2)
	require.NotNil(t, hours[0].Coverage)
	require.EqualValues(t, 1, hours[1].Asked)
	require.EqualValues(t, 1, hours[1].Open)
	require.Nil(t, hours[1].Coverage)
	require.Nil(t, hours[1].Delivery)

	all, err := c.Report(t.Context(), control.ReportQuery{Settle: &settle, By: "smsc"})
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, hours[0].Asked+1, all[0].Asked)
	require.Equal(t, hours[0].Coverage, all[0].Coverage)
}

func TestMessage_reasons(t *testing.T) {
	id := statemachine.ID(firstID)
	refused := func(status uint32, temporary bool) statemachine.Fact {
		return &statemachine.SubmitResp{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", CommandStatus: status, Temporary: temporary, RetryAt: began.Add(time.Hour)}
	}
	sent := &statemachine.Sent{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", SequenceNumber: 7}
	ok := &statemachine.SubmitResp{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", MessageID: "a1"}
	lost := func(attempt int, cause string) statemachine.Fact {
		return &statemachine.AttemptInDoubt{Message: id, Part: 1, Attempt: attempt, SMSC: "alpha", Session: "alpha/1", Cause: cause}
	}
	second := func(status uint32, messageID string) statemachine.Fact {
		return &statemachine.SubmitResp{Message: id, Part: 1, Attempt: 2, SMSC: "alpha", Session: "alpha/1", CommandStatus: status, MessageID: messageID}
	}
	again := &statemachine.Sent{Message: id, Part: 1, Attempt: 2, SMSC: "alpha", Session: "alpha/1", SequenceNumber: 8}
	doubted := slices.Clip([]statemachine.Fact{sent, lost(1, "timeout"), again})
	tests := []struct {
		name          string
		facts         []statemachine.Fact
		state, reason string
	}{
		{"accepted by us", nil, "QUEUED", "waits in the queue of alpha since record 2"},
		{"left", []statemachine.Fact{sent}, "SUBMITTING", "attempt 1 left on alpha/1 in record 3, no answer yet"},
		{"answer lost", []statemachine.Fact{sent, lost(1, "timeout")},
			"IN_DOUBT", "attempt 1 left on alpha/1, and its answer was lost (timeout), record 4"},
		{"answer lost, and the next attempt refused for good", append(doubted, second(0x0B, "")),
			"IN_DOUBT", "attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; attempt 2 was refused with ESME_RINVDSTADR in record 6"},
		{"answer lost, and the next attempt accepted", append(doubted, second(0, "a2")),
			"IN_DOUBT", "attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; attempt 2 was accepted in record 6"},
		{"both answers lost", append(doubted, lost(2, "cut"), &statemachine.QueueExpired{Message: id}),
			"IN_DOUBT", "attempt 1 left on alpha/1, and its answer was lost (timeout), record 4; so was that to attempt 2 (cut), record 6"},
		{"refused for a while", []statemachine.Fact{sent, refused(0x58, true)}, "QUEUED",
			"alpha refused attempt 1 with ESME_RTHROTTLED in record 4; next attempt not before 2026-11-30T13:00:00Z"},
		{"refused for good", []statemachine.Fact{sent, refused(0x0B, false)}, "FAILED", "alpha refused attempt 1 with ESME_RINVDSTADR in record 4"},
		{"accepted by the SMSC", []statemachine.Fact{sent, ok}, "SUBMITTED", "alpha accepted it in record 4; no outcome was reported yet"},
		{"expired in our queue", []statemachine.Fact{&statemachine.QueueExpired{Message: id}}, "FAILED", "it expired in our queue before it could be submitted, record 3"},
		{"silence", []statemachine.Fact{sent, ok, &statemachine.Cutoff{Message: id, Part: 1}}, "UNREPORTED", "nothing final was heard before its window ended, record 5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			f.append(t, accepted(firstID, ""))
			for _, fact := range tt.facts {
				if _, ok := fact.(*statemachine.Cutoff); ok {
					f.at = f.at.Add(30 * 24 * time.Hour) // its window is over by then
				}
				f.append(t, fact)
			}
			m, err := newClient(t, newAPI(t, f.config())).Message(t.Context(), firstID)
			require.NoError(t, err)
			require.Equal(t, tt.state, m.State)
			require.Equal(t, tt.reason, m.Reason)
		})
	}
}
