package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/statemachine"
)

func TestFailed_isForgottenWhenTheApplierHasSeenTheRefusal(t *testing.T) {
	var f failed
	f.recorded("short", 3)
	require.False(t, f.any(), "one that is not watched")
	f.add("long")
	require.False(t, f.forget(9), "its refusal is not recorded yet")
	f.recorded("long", 10)
	require.False(t, f.forget(9))
	require.True(t, f.has("long"))
	require.True(t, f.forget(10))
	require.False(t, f.any())
}

func TestBatch_leavesOut(t *testing.T) {
	var b batch
	for part, id := range []statemachine.ID{"a", "b", "expired", "a", "c"} {
		entry := statemachine.QueueEntry{Message: id, Part: part}
		if id == "expired" {
			b.add(entry, &statemachine.QueueExpired{Message: id})
			continue
		}
		b.submits = append(b.submits, smpp.Submit{Slot: smpp.Slot{SequenceNumber: uint32(part + 1)}})
		b.add(entry, &statemachine.Sent{Message: id, Part: part, SequenceNumber: uint32(part + 1)})
	}
	b.leaveOut(func(id statemachine.ID) bool { return id == "a" || id == "expired" })
	require.Equal(t, []statemachine.Fact{
		&statemachine.Sent{Message: "b", Part: 1, SequenceNumber: 2}, &statemachine.Sent{Message: "c", Part: 4, SequenceNumber: 5},
	}, b.facts)
	require.Equal(t, []statemachine.QueueEntry{{Message: "b", Part: 1}, {Message: "c", Part: 4}}, b.entries)
	require.Equal(t, []smpp.Submit{{Slot: smpp.Slot{SequenceNumber: 2}}, {Slot: smpp.Slot{SequenceNumber: 5}}}, b.submits)
	require.Equal(t, []smpp.Slot{{SequenceNumber: 1}, {SequenceNumber: 4}}, b.slots)
}
