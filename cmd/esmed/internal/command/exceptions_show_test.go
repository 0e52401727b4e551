package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

func shown(x control.ExceptionDetail) string {
	var b bytes.Buffer
	output{w: &b}.exception(x)
	return b.String()
}

// TestException_endedWithAnother: what ended with a decision about another exception is nobody's to take back.
func TestException_endedWithAnother(t *testing.T) {
	var x control.ExceptionDetail
	x.ID, x.Kind, x.Status = "x4", "in_doubt", "resolved"
	x.Resolution = &control.Resolution{Action: "receipt", By: "token:ops", Record: 6}
	text := shown(x)
	require.Regexp(t, `(?m)^Ended     by itself at .*, with record 6: a receipt told$`, text)
	require.NotContains(t, text, "--undo")

	x.Resolution.Action = "not_sent"
	text = shown(x)
	require.Regexp(t, `(?m)^Resolved  not_sent by token:ops at .*, record 6: no reason given$`, text)
	require.Contains(t, text, "esmed exceptions resolve x4 --undo\n")
}

// TestException_receiptThatNamesTwoStates: no final state came first, so none is said to stand.
func TestException_receiptThatNamesTwoStates(t *testing.T) {
	var x control.ExceptionDetail
	x.ID, x.Kind, x.Status, x.SMSC = "x8", "conflict", "open", "alpha"
	x.Events = []control.Event{{Seq: 8, Type: "reception", Decisions: []control.Decision{{Record: 8, Verdict: "noted"}}}}
	text := shown(x)
	require.Contains(t, text, "--take\n      the final one of the two states counts, if only one is final\n")
	require.Contains(t, text, "smscs[].rules.state of alpha, then SIGHUP")
	require.NotContains(t, text, "first final state")

	x.Events[0].Decisions[0].Verdict = "conflict"
	text = shown(x)
	require.Contains(t, text, "the first final state stands\n")
	require.NotContains(t, text, "rules.state ")
}
