package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

func TestOverlooked(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.Now = func() time.Time { return began }
	s := startIn(t, cfg)
	rules := receipt.DefaultRules()
	_, err := s.SetRules(ctx, statemachine.Rules{Parser: receipt.ParserVersion, SMSCs: []statemachine.SMSCRules{
		{SMSC: "alpha", Account: "alpha", Receipt: rules, DeliveryWindow: time.Hour},
	}})
	require.NoError(t, err)
	s.append(
		message("M1", "", "text"),
		&statemachine.Sent{Message: "M1", Part: 1, Attempt: 1, SMSC: "alpha"},
		&statemachine.SubmitResp{Message: "M1", Part: 1, Attempt: 1, SMSC: "alpha", MessageID: "known"},
		&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("unknown", "DELIVRD", "393331234567", "text", 4)},
	)
	keys, err := s.Overlooked(ctx, "alpha", began.Add(-time.Hour), began.Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, keys, "a row is judged as soon as its id is given")

	row := func(id string, why statemachine.Correlation, waitsFor ...string) *statemachine.InboxRow {
		return &statemachine.InboxRow{
			Key: statemachine.InboxKey(id + string(why) + strings.Join(waitsFor, "")), SMSC: "alpha", Account: "alpha", Why: why,
			WaitsFor: waitsFor, ReceivedAt: began, Keys: rules.ResponseKeys(id),
		}
	}
	tests := []struct {
		name string
		row  *statemachine.InboxRow
		want bool
	}{
		{"an id that an attempt bears was overlooked", row("known", statemachine.Unmatched), true},
		{"an id that nobody bears was not", row("other", statemachine.Unmatched), false},
		{"what waits for an answer waits", row("known", statemachine.Unmatched, "393331234567"), false},
		{"what a person has to decide stays", row("known", statemachine.Ambiguous), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, s.view(func(tx *stateTx) error {
				parts, err := readPartitions(tx)
				require.NoError(t, err)
				found, err := overlooked(tx, parts, tt.row)
				require.Equal(t, tt.want, found)
				return err
			}))
		})
	}
}
