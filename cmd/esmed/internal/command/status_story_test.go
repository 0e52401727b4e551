package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

// respWithoutID is a submit_sm_resp ESME_ROK whose message_id is empty.
const respWithoutID = "0000001180000004000000000000000600"

func told(m control.Message, events ...control.Event) string {
	var b bytes.Buffer
	s := story{output: output{w: &b}, m: m, events: events}
	s.tell()
	return b.String()
}

// TestStory_idThatTheAnswerHadNot: an id that somebody else told is not said to be the SMSC's answer.
func TestStory_idThatTheAnswerHadNot(t *testing.T) {
	m := control.Message{
		ID: "M1", SMSC: "alpha", State: "SUBMITTED",
		Acceptance: &control.Acceptance{CommandStatus: "ESME_ROK", MessageID: "77", Record: 4},
		Parts:      []control.Part{{Part: 1, Attempts: []control.Attempt{{Attempt: 1, Session: "alpha/1", CommandStatus: "ESME_ROK", MessageID: "77"}}}},
	}
	answer := control.Event{Seq: 4, Type: "submit_resp", Part: 1, Attempt: 1, PDU: respWithoutID}
	decided := func(seq uint64) control.Event {
		return control.Event{Seq: seq, Type: "operator", Operator: &control.Decided{Action: "accepted", By: "token:ops", Exception: "x4", MessageID: "77"}}
	}

	by := told(m, answer, decided(7), decided(9))
	require.Contains(t, by, "alpha accepted it with ESME_ROK and no message_id (record 4)\n")
	require.Contains(t, by, "an operator said that its message_id is \"77\" (record 9)\n")
	require.Contains(t, told(m, answer), "its message_id \"77\" was learnt from a report\n")
	require.Contains(t, told(m), "alpha accepted it with ESME_ROK, message_id \"77\" (record 4)\n")
}

// TestStory_reportedOnAnotherBind: where SMSCs share an account, the one that reported is named.
func TestStory_reportedOnAnotherBind(t *testing.T) {
	m := control.Message{
		ID: "M1", SMSC: "alpha", State: "DELIVERED", Final: true, Closed: true, Basis: "receipt",
		Receipt: &control.MessageReceipt{RawStat: "DELIVRD", Record: 6},
	}
	by := told(m, control.Event{Seq: 6, Type: "reception", SMSC: "beta", Session: "beta/1"})
	require.Contains(t, by, "State   DELIVERED, final: reported by beta\n")
	require.Contains(t, by, "\nWhat beta reported\n")
	require.Contains(t, told(m), "State   DELIVERED, final: reported by alpha\n")
}
