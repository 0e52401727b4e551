package control_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/statemachine"
)

// diagnoser has found something out before it is asked.
type diagnoser struct{ found []*statemachine.SMSCDiagnosis }

func (d diagnoser) Diagnose(context.Context, string) ([]*statemachine.SMSCDiagnosis, error) {
	return d.found, nil
}

func TestDiagnosis_isWrittenAsTheConfigurationHasIt(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	cfg.Diagnose = diagnoser{[]*statemachine.SMSCDiagnosis{{
		SMSC: "alpha", Account: "main", Receipts: 50, Left: 3, WithoutID: 1, Open: 60, NoID: 2, Controls: 10,
		Today: statemachine.Proposal{Fits: statemachine.Fits{None: 50}, Quality: statemachine.QualityDoubtful},
		Text:  []statemachine.Trial{{Rules: receipt.IDRules{{Name: "truncate", N: 10}}, Fits: statemachine.Fits{Unique: 12, None: 38}}},
		Proposals: []statemachine.Proposal{{
			TLV:  receipt.IDRules{{Name: "ignore"}},
			Text: receipt.IDRules{{Name: "cut_before", Sep: `"#`}, {Name: "hex_to_dec"}},
			Fits: statemachine.Fits{Unique: 12, Confirmed: 11, None: 35, Several: 2, Contradicted: 1}, Lost: 4,
			Quality: statemachine.QualityDoubtful,
			Examples: []statemachine.Example{{
				Result: statemachine.Matched, Confirmed: true, Reception: 7, TextID: `x"#26`, By: "text_id",
				Ref: statemachine.AttemptRef{Message: "M1", Part: 1, Attempt: 2}, MessageID: "1A",
			}},
		}},
		Zone: statemachine.ZoneFinding{
			Receipts: 9, Offsets: []statemachine.ZoneOffset{{Offset: -90 * time.Minute, Receipts: 9}}, Timezone: "Etc/GMT-3",
		},
		Elsewhere: 5, ElsewhereAccount: "other",
	}}}
	c := newClient(t, newAPI(t, cfg))
	found, err := c.Diagnosis(t.Context(), "alpha")
	require.NoError(t, err)
	require.Len(t, found, 1)
	d := found[0]
	require.Equal(t, control.ConfigLine{Path: "smscs[alpha].rules.message_id", Value: "[]", Line: "rules: {message_id: []}"}, d.Today.Config)
	p := d.Proposals[0]
	require.Equal(t, `rules: {message_id: {tlv: [ignore], text: [{cut_before: "\"#"}, hex_to_dec]}}`, p.Config.Line)
	require.Equal(t, control.Fits{Unique: 12, Confirmed: 11, None: 35, Several: 2, Contradicted: 1}, p.Fits)
	text := `x"#26`
	require.Equal(t, []control.DiagnosedReceipt{{
		Result: "matched", Confirmed: true, Inbox: "i7", TextID: &text, By: "text_id", Message: "M1", Part: 1, Attempt: 2, MessageID: "1A",
	}}, p.Examples)
	require.Equal(t, []string{
		"the evidence is thin: it matches only 12",
		"it would no longer match 4 of 10 receipts that the rules in force matched",
		"2 would fit several messages and stay ambiguous",
		"1 would fit a message with another address",
	}, p.Warnings)
	require.Equal(t, []string{"{truncate: 10}"}, d.Text[0].Rules)
	require.Equal(t, []control.DiagnosedOffset{{Offset: "-01:30", Receipts: 9}}, d.Timezone.Offsets)
	require.Equal(t, "rules: {timezone: Etc/GMT-3}", d.Timezone.Config.Line)
	require.Equal(t, &control.OtherAccount{Account: "other", Receipts: 5}, d.Elsewhere)
	require.Len(t, d.Notes, 4)
}

func TestDiagnosis_withoutADiagnoser(t *testing.T) {
	_, err := newClient(t, newAPI(t, newFake(t).config())).Diagnosis(t.Context(), "")
	var problem *control.ProblemError
	require.ErrorAs(t, err, &problem)
	require.Equal(t, http.StatusServiceUnavailable, problem.Status)
}
