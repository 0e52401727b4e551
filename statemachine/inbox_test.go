package statemachine_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// rows are the receptions of each row of the inbox, in the order of the log.
func (l *lab) rows() [][]uint64 {
	rows := [][]uint64{}
	for row := range maps.Values(l.mem.Inbox) {
		rows = append(rows, row.Receptions)
	}
	slices.SortFunc(rows, slices.Compare[[]uint64])
	return rows
}

func TestInbox_rows(t *testing.T) {
	tests := []struct {
		name, script string
		want         [][]uint64
	}{
		{"the same event is one row", `reception text="id:7 stat:DELIVRD done date:2611300901"
			reception text="id:7 stat:DELIVRD done date:2611300901"`, [][]uint64{{2, 3}}},
		{"also with another error code", `reception text="id:7 stat:DELIVRD done date:2611300901 err:000"
			reception text="id:7 stat:DELIVRD done date:2611300901 err:001"`, [][]uint64{{2, 3}}},
		{"another state word is another row", `reception text="id:7 stat:DELIVRD done date:2611300901"
			reception text="id:7 stat:ENROUTE done date:2611300901"`, [][]uint64{{2}, {3}}},
		{"another time too", `reception text="id:7 stat:DELIVRD done date:2611300901"
			reception text="id:7 stat:DELIVRD done date:2611300902"`, [][]uint64{{2}, {3}}},
		{"the TLV's id and the text's are two things", `reception tlv=7 text="stat:DELIVRD"
			reception text="id:7 stat:DELIVRD"`, [][]uint64{{2}, {3}}},
		{"accounts are apart", `reception text="id:7 stat:DELIVRD"
			reception smsc=beta text="id:7 stat:DELIVRD"`, [][]uint64{{2}, {3}}},
		{"without an id the whole event counts", `reception text="stat:DELIVRD err:000"
			reception text="stat:DELIVRD err:001"
			reception text="stat:DELIVRD err:000"`, [][]uint64{{2, 4}, {3}}},
		{"a word for no id is none", `reception text="id:null stat:DELIVRD err:000"
			reception text="id:null stat:DELIVRD err:001"`, [][]uint64{{2}, {3}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, play(t, "rules alpha ; beta\n"+tt.script).rows())
		})
	}
}

func TestInbox_row(t *testing.T) {
	l := play(t, `rules alpha ids=fold_case
		reception src=393331234567 dst=ACME tlv=AB state=2 text="id:cd stat:DELIVRD done date:2611300901"`)
	require.Len(t, l.mem.Inbox, 1)
	for key, row := range l.mem.Inbox {
		require.Equal(t, key, row.Key)
		require.Equal(t, "AB", row.TLVID)
		require.Equal(t, "cd", row.TextID)
		require.Equal(t, "DELIVRD", row.RawStat)
		require.Equal(t, "DELIVERED", row.State.String())
		require.Equal(t, "393331234567", row.Source.Addr)
		require.Equal(t, "2026-11-30T09:01:00", row.ReportedAt.String())
		require.Equal(t, l.now, row.ReceivedAt)
		require.Equal(t, statemachine.Unmatched, row.Why)
		require.Len(t, row.Keys, 4, "both ids, as received and in canonical form")
	}
}

// TestInbox_judgedAgain: the response brings the id, and what is held for it is judged in the same step,
// whatever it was held for.
func TestInbox_judgedAgain(t *testing.T) {
	l := play(t, `rules alpha
		accepted M1
		accepted M2 to=+393331234568
		accepted M3 to=+393331234568
		sent M1
		sent M2
		sent M3
		submit_resp M1 id=7
		reception src=393331234568 text="id:7 stat:DELIVRD"`)
	require.Equal(t, statemachine.AddressMismatch, l.last().Correlation)
	open, _ := l.exceptions(statemachine.KindAddressMismatch)
	require.Equal(t, 1, open)

	l.play("submit_resp M2 id=7")
	require.Equal(t, statemachine.ID("M2"), l.last().Message)
	require.Equal(t, "address", l.last().NarrowedBy)
	require.Empty(t, l.mem.Inbox)
	open, ended := l.exceptions(statemachine.KindAddressMismatch)
	require.Equal(t, []int{0, 1}, []int{open, ended})
}

// TestInbox_changesItsReason: a row that is held for another reason now shows so, once.
func TestInbox_changesItsReason(t *testing.T) {
	l := play(t, `rules alpha
		accepted M1
		accepted M2
		sent M1
		sent M2
		reception text="id:7 stat:ENROUTE"
		submit_resp M1 id=9
		submit_resp M2 id=9
		reception text="id:9 stat:DELIVRD"
		reception text="id:9 stat:DELIVRD"
		retry 9`)
	require.Equal(t, [][]uint64{{6}, {9, 10}}, l.rows())
	require.Equal(t, "it still has no owner", l.effects[10].NoEffect)
	open, _ := l.exceptions(statemachine.KindAmbiguous)
	require.Equal(t, 1, open)
	for _, x := range l.mem.Exceptions {
		if x.Kind == statemachine.KindAmbiguous {
			require.EqualValues(t, 2, x.Count)
			require.Equal(t, []uint64{9, 10}, x.Records)
			require.Len(t, x.Candidates, 2)
		}
	}
}

// TestSharedID_reference: our echoed reference names one part, also where parts share an id.
func TestSharedID_reference(t *testing.T) {
	l := play(t, `rules alpha client_ref
		accepted M1 parts=2
		sent M1/1
		sent M1/2
		submit_resp M1/1 id=7
		reception ref=M1/1 text="id:7 stat:DELIVRD"
		submit_resp M1/2 id=7`)
	m := l.message("M1")
	require.Equal(t, statemachine.Delivered, m.Parts[0].State)
	require.Equal(t, statemachine.Submitted, m.Parts[1].State)
}

// TestReference_learnsNoSecondID: an attempt whose answer told its id is not found by another one.
func TestReference_learnsNoSecondID(t *testing.T) {
	l := play(t, `rules alpha client_ref
		accepted M1
		accepted M2
		sent M1
		sent M2
		submit_resp M1 id=7
		submit_resp M2 id=8
		reception ref=M2 text="id:7 stat:ENROUTE"
		reception text="id:7 stat:DELIVRD"`)
	require.Equal(t, statemachine.Enroute, l.message("M2").State)
	require.Equal(t, statemachine.Delivered, l.message("M1").State)
}

// TestReference_namesWhatHadNoID: the reference tells the id that the response did not.
func TestReference_namesWhatHadNoID(t *testing.T) {
	l := play(t, `rules alpha client_ref
		accepted M1
		sent M1
		submit_resp M1
		reception ref=M1 text="id:7 stat:ENROUTE"
		reception text="id:7 stat:DELIVRD"`)
	require.Equal(t, statemachine.Delivered, l.message("M1").State)
	_, ended := l.exceptions(statemachine.KindNoMessageID)
	require.Equal(t, 1, ended)
}

func TestException_boundedRecords(t *testing.T) {
	l := play(t, "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7\nreception text=\"id:7 stat:DELIVRD\"")
	for range 40 {
		l.play("reception text=\"id:7 stat:EXPIRED done date:" + l.now.Format("060102150405") + "\"")
	}
	x := l.mem.Exceptions["x6"]
	require.Equal(t, statemachine.KindConflict, x.Kind)
	require.Len(t, x.Records, statemachine.MaxExceptionRecords)
	require.EqualValues(t, 40, x.Count)
	m := l.message("M1")
	require.Len(t, m.Parts[0].Events, statemachine.MaxEvents)
	require.Equal(t, []string{"x6"}, m.Exceptions)
	require.EqualValues(t, 40, m.Counts.Conflict)
}

func TestException_idsOfOneRecord(t *testing.T) {
	l := play(t, `rules alpha
		accepted M1
		sent M1
		reception text="id:7 stat:DELIVRD"
		reception text="id:7 stat:ODD"
		reception text="id:7 stat:EXPIRED"
		submit_resp M1 id=7`)
	require.Equal(t, []string{"x7", "x7.1"}, slices.Sorted(maps.Keys(l.mem.Exceptions)))
}
