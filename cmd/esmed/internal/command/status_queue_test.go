package command

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

func TestNarrator_saysWhatAQueuedMessageWaitsFor(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	rate := 5.
	waiting, retried := control.Part{Part: 1, State: "QUEUED"}, control.Part{Part: 2, State: "QUEUED", RetryAt: &at}
	tests := []struct {
		name  string
		parts []control.Part
		queue control.Queue
		want  string
	}{
		{"its turn", []control.Part{waiting}, control.Queue{SMSC: "alpha", Waiting: 2, Delayed: 1},
			"in the queue of alpha, with 3 parts in all; they leave as fast as the SMSC takes them"},
		{"its retry", []control.Part{retried}, control.Queue{SMSC: "alpha", Delayed: 1, Why: "waits"},
			"for its retry at 2026-11-30 12:00:00.000Z, in the queue of alpha, with 1 part in all; waits"},
		{"its turn with one part", []control.Part{waiting, retried}, control.Queue{SMSC: "alpha", Waiting: 1, Delayed: 1, Rate: &rate},
			"in the queue of alpha, with 2 parts in all; 5.0 leave a second at most (throughput)"},
		{"throttled", []control.Part{waiting}, control.Queue{SMSC: "alpha", Waiting: 1, Rate: &rate, Throttled: true},
			"in the queue of alpha, with 1 part in all; the SMSC asked for less: 5.0 leave a second for now"},
		{"for ever", []control.Part{waiting}, control.Queue{SMSC: "alpha", Waiting: 1, Withheld: []control.QueueWithheld{{Message: "m", Error: "lost"}}},
			"in the queue of alpha, with 1 part in all; it cannot be sent: lost"},
		{"its turn behind one that waits for ever", []control.Part{waiting}, control.Queue{SMSC: "alpha", Waiting: 2, Withheld: []control.QueueWithheld{{Message: "n", Error: "lost"}}},
			"in the queue of alpha, with 2 parts in all; they leave as fast as the SMSC takes them"},
		{"a queue that nothing is known of", []control.Part{waiting}, control.Queue{SMSC: "beta"}, "in the queue of alpha"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := &narrator{ctx: context.Background(), queues: []control.Queue{tt.queue}}
			require.Equal(t, tt.want, n.waits(&control.Message{ID: "m", SMSC: "alpha", State: "QUEUED", Parts: tt.parts}))
		})
	}
}

func TestQueueTable_namesWhatCannotBeSent(t *testing.T) {
	one := control.Queue{SMSC: "alpha", Waiting: 3, Bind: control.BindUp, Withheld: []control.QueueWithheld{{Message: "m", Error: "lost"}, {Message: "n", Error: "lost"}}}
	table := func() string {
		var b strings.Builder
		output{w: &b}.queueTable([]control.Queue{one})
		return b.String()
	}
	require.Contains(t, table(), "2 messages cannot be sent, others leave: m: lost")
	one.Why = "no session is bound"
	require.NotContains(t, table(), "others leave")
}
