package command

import (
	"bytes"
	"fmt"
	"slices"
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

// TestStory_parts: of many parts those are told that say why the message stands where it does.
func TestStory_parts(t *testing.T) {
	parts := func(states ...string) (all []control.Part) {
		for i, state := range states {
			all = append(all, control.Part{Part: i + 1, State: state, Attempts: []control.Attempt{{Attempt: 1, Session: "alpha/1", CommandStatus: "ESME_ROK", MessageID: fmt.Sprint(i + 1)}}})
		}
		return all
	}
	m := control.Message{ID: "M1", SMSC: "alpha", State: "ENROUTE", Parts: parts("DELIVERED", "ENROUTE")}
	few := told(m)
	require.Contains(t, few, "Parts   2: 1 DELIVERED, 1 ENROUTE\n")
	require.Contains(t, few, "part 1, attempt 1 left on alpha/1")
	require.Contains(t, few, "part 2, attempt 1 left on alpha/1")
	require.NotContains(t, few, "more")

	states := slices.Repeat([]string{"DELIVERED"}, 200)
	states[150] = "IN_DOUBT"
	m.State, m.Parts = "IN_DOUBT", parts(states...)
	many := told(m)
	require.Contains(t, many, "Parts   200: 199 DELIVERED, 1 IN_DOUBT\n")
	require.Contains(t, many, "part 151, attempt 1 left on alpha/1")
	require.NotContains(t, many, "part 1, attempt 1")
	require.Contains(t, many, "and 199 parts more: 199 DELIVERED\n")

	m.State, m.Parts = "DELIVERED", parts(slices.Repeat([]string{"DELIVERED"}, 200)...)
	require.Contains(t, told(m), "and 188 parts more: 188 DELIVERED\n")

	m.Parts, m.Receipt = parts("DELIVERED", "DELIVERED"), &control.MessageReceipt{RawStat: "DELIVRD", Record: 6}
	by := told(m, control.Event{Seq: 6, Type: "reception", Decisions: []control.Decision{{Record: 6, Part: 2, Correlation: "matched", Verdict: "applied"}}})
	require.Contains(t, by, "part 2: DELIVRD (record 6)\n")
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
