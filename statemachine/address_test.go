package statemachine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

func TestCheckAddress(t *testing.T) {
	const ours = "+393331234567"
	tests := []struct {
		name             string
		source, dest     string // of our message
		reported, second string // source_addr and dest_addr of the receipt
		want             statemachine.Answer
	}{
		{"the destination is the receipt's source", "ACME", ours, "393331234567", "ACME", statemachine.Agrees},
		{"or its destination, where the SMSC does not swap them", "ACME", ours, "ACME", "393331234567", statemachine.Agrees},
		{"with a plus", "ACME", ours, "+393331234567", "", statemachine.Agrees},
		{"with 00", "ACME", ours, "00393331234567", "", statemachine.Agrees},
		{"national with a trunk prefix", "ACME", "+447700900123", "07700900123", "", statemachine.Agrees},
		{"only one trunk prefix is taken off", "ACME", "+447700900123", "00007700900123", "", statemachine.Refuses},
		{"national without", "ACME", ours, "3331234567", "", statemachine.Agrees},
		{"seven digits end the longer", "ACME", ours, "1234567", "", statemachine.Agrees},
		{"six digits say nothing", "ACME", ours, "234567", "", statemachine.Silent},
		{"ours is the shorter", "ACME", "3331234567", "393331234567", "", statemachine.Agrees},
		{"a short code as a whole", "ACME", "47111", "47111", "", statemachine.Agrees},
		{"another short code", "ACME", "47111", "47112", "", statemachine.Refuses},
		{"a short code never ends a number", "ACME", "47111", "393331247111", "", statemachine.Refuses},
		{"masked digits fit any", "ACME", ours, "39333123xxxx", "", statemachine.Agrees},
		{"masked in the middle", "ACME", ours, "3933****4567", "", statemachine.Agrees},
		{"masked, and another number", "ACME", ours, "3933****4568", "", statemachine.Refuses},
		{"nothing but masks says nothing", "ACME", ours, "************", "", statemachine.Silent},
		{"another number", "ACME", ours, "393331234568", "ACME", statemachine.Refuses},
		{"another number as destination", "ACME", ours, "ACME", "393331234568", statemachine.Refuses},
		{"missing addresses say nothing", "ACME", ours, "", "", statemachine.Silent},
		{"names say nothing", "ACME", ours, "SERVICE", "ACME", statemachine.Silent},
		{"our sender never refuses", "+15550100200", ours, "", "15550100200", statemachine.Silent},
		{"our sender beside another number", "+15550100200", ours, "393331234568", "15550100200", statemachine.Refuses},
		{"our sender beside the destination", "+15550100200", ours, "15550100200", "393331234567", statemachine.Agrees},
		{"a short sender never refuses", "4711", "47111", "", "4711", statemachine.Silent},
		{"a destination that is a name says nothing", "ACME", "SERVICE", "393331234567", "", statemachine.Silent},
		{"no destination says nothing", "ACME", "", "393331234567", "", statemachine.Silent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := statemachine.CheckAddress(tt.source, tt.dest, receipt.Address{Addr: tt.reported}, receipt.Address{Addr: tt.second})
			require.Equal(t, tt.want, got)
		})
	}
}
