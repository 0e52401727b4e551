package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

func TestFeed(t *testing.T) {
	group := func(from, to uint64) (records []statemachine.Record) {
		for seq := from; seq <= to; seq++ {
			records = append(records, statemachine.Record{Seq: seq})
		}
		return records
	}
	var f feed
	room := make([]statemachine.Record, 0, 4)
	require.Empty(t, f.take(1, room))
	f.push(group(5, 6))
	f.push(group(7, 12))
	require.Empty(t, f.take(4, room), "the first is not here")
	require.Equal(t, group(5, 8), f.take(5, room), "of several groups, as many as there is room for")
	require.Equal(t, group(10, 12), f.take(10, room), "those before are not asked for any more")
	require.Empty(t, f.take(13, room))
	f.push(group(13, 12+feedRecords-1))
	f.push(group(12+feedRecords, 12+feedRecords+1))
	require.Empty(t, f.take(13, room), "too many: the log has them")
	require.Equal(t, group(12+feedRecords, 12+feedRecords+1), f.take(12+feedRecords, room))
}
