package command_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptTime is how long a script waits for anything.
const scriptTime = 30 * time.Second

// scriptCommands are what scripts have besides esmed itself:
//
//	smsc [WHERE=FORM] starts a simulated SMSC and writes esmed.yaml for it. Receipts have ids in other forms
//	                  (smpptest.IDForm) where that is said of tlv and text.
//	bound             waits until a session is bound
//	drained N         waits until N submits have come and all that the SMSC sent is acknowledged
//	id NAME REF       sets the environment variable NAME to the id of the message with that ref
//	await REGEXP ARGS waits until "esmed ARGS" prints what the expression matches
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"smsc": startSMSC, "bound": awaitBound, "drained": awaitDrained, "id": setID, "await": awaitOutput,
	}
}

type smscKey struct{}

// behave says what happens to a submit by the last digit of its destination.
func behave(s smpptest.Submit, a smpptest.Action) smpptest.Action {
	final := smpptest.Planned{Kind: smpptest.Final, Word: "DELIVRD"}
	switch s.Dest.Addr[len(s.Dest.Addr)-1] {
	case '0': // no receipt
		a.Receipts = nil
	case '1': // the same receipt again, and an intermediate one after the end
		a.Receipts = []smpptest.Planned{final, {Kind: smpptest.Duplicate, Word: "DELIVRD"}, {Kind: smpptest.Intermediate, Word: "ENROUTE"}}
	case '2':
		a.Receipts = []smpptest.Planned{{Kind: smpptest.Final, Word: "UNDELIV"}}
	case '3': // two final states
		a.Receipts = []smpptest.Planned{final, {Kind: smpptest.Contradiction, Word: "UNDELIV"}}
	case '4':
		a.Status, a.Receipts = smpp.StatusInvDstAdr, nil
	case '5': // before the response
		final.BeforeResponse = true
		a.Receipts = []smpptest.Planned{final}
	case '8': // no receipt, and none to be had by cancel_sm
		a.Receipts = nil
	case '6': // a receipt for an id that was never given
		a.Receipts = []smpptest.Planned{final, {Kind: smpptest.UnknownID, Word: "DELIVRD"}}
	default:
		a.Receipts = []smpptest.Planned{final}
	}
	return a
}

// cancelled accepts to cancel what has no receipt yet, but for destinations that end in 8.
func cancelled(c smpptest.Cancel) smpptest.Cancelled {
	if c.Dest.Addr[len(c.Dest.Addr)-1] == '8' {
		return smpptest.Cancelled{Status: smpp.StatusCancelFail}
	}
	return smpptest.Cancelled{Deleted: true}
}

// asked answers that all was delivered.
func asked(smpptest.Query) smpptest.Reply {
	return smpptest.Reply{State: 2, FinalDate: "261130120401000+"}
}

func startSMSC(ts *testscript.TestScript, _ bool, args []string) {
	ids := smpptest.IDs{First: 0x1000}
	for _, arg := range args {
		switch where, form, _ := strings.Cut(arg, "="); where {
		case "tlv":
			ids.TLV = smpptest.IDForm(form)
		case "text":
			ids.Text = smpptest.IDForm(form)
		default:
			ts.Fatalf("usage: smsc [tlv=FORM] [text=FORM]")
		}
	}
	s, err := smpptest.Start(smpptest.Config{IDs: ids, OnSubmit: behave, OnCancel: cancelled, OnQuery: asked})
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	scriptValues(ts)[smscKey{}] = s
	ts.Check(os.WriteFile(ts.MkAbs("esmed.yaml"), fmt.Appendf(nil, `
data_dir: %s
log: {level: warn, format: console}
api: {socket: %s}
smscs:
  - name: alpha
    addr: [%q]
    system_id: esme
    password: secret
    source: {addr: ACME, ton: 5, npi: 0}
`, ts.Getenv("ESMED_DATA_DIR"), ts.Getenv("ESMED_SOCKET"), s.Addr()), 0o600))
}

// scriptValues are what the commands of one script share.
func scriptValues(ts *testscript.TestScript) map[any]any { return ts.Value(valuesKey{}).(map[any]any) }

type valuesKey struct{}

func smscOf(ts *testscript.TestScript) *smpptest.Server {
	s, ok := scriptValues(ts)[smscKey{}].(*smpptest.Server)
	if !ok {
		ts.Fatalf("no smsc was started")
	}
	return s
}

func awaitStats(ts *testscript.TestScript, until func(smpptest.Stats) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptTime)
	defer cancel()
	ts.Check(smscOf(ts).Await(ctx, until))
}

func awaitBound(ts *testscript.TestScript, _ bool, _ []string) {
	awaitStats(ts, func(st smpptest.Stats) bool { return st.Bound > 0 })
}

func awaitDrained(ts *testscript.TestScript, _ bool, args []string) {
	var n uint64
	_, err := fmt.Sscan(strings.Join(args, " "), &n)
	ts.Check(err)
	awaitStats(ts, func(st smpptest.Stats) bool { return st.Submits >= n && st.Pending == 0 })
}

func setID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: id NAME REF")
	}
	c := control.Dial(ts.Getenv("ESMED_SOCKET"))
	defer c.Close()
	l, err := c.Messages(context.Background(), control.MessageQuery{Ref: args[1]})
	ts.Check(err)
	if len(l.Items) != 1 {
		ts.Fatalf("%d messages have the ref %s", len(l.Items), args[1])
	}
	ts.Setenv(args[0], l.Items[0].ID)
}

func awaitOutput(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await REGEXP ARGS")
	}
	want := regexp.MustCompile("(?m)" + args[0])
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(scriptTime); time.Now().Before(end); <-again.C {
		if ts.Exec("esmed", args[1:]...) == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("esmed %s did not print %s", strings.Join(args[1:], " "), args[0])
}
