package store

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

var update = flag.Bool("update", false, "write the golden files")

// openTestLog is a log of three records a segment.
func openTestLog(t *testing.T, dir string, write bool) *segmentLog {
	l, err := openLog(dir, write, 3, 0)
	require.NoError(t, err)
	if write {
		require.NoError(t, l.begin())
	}
	t.Cleanup(func() { require.NoError(t, l.close()) })
	return l
}

// cutoffs are values of records without text.
func cutoffs(t tb, first uint64, n int) (values [][]byte) {
	var e encoder
	for i := range n {
		rec := statemachine.Record{Seq: first + uint64(i), At: began, Fact: &statemachine.Cutoff{Message: "M", Part: i}}
		b, err := e.appendRecord(nil, rec, nil, nil)
		require.NoError(t, err)
		values = append(values, b)
	}
	return values
}

func seqsFrom(t *testing.T, l *segmentLog, seq uint64, limit int) (seqs []uint64) {
	require.NoError(t, l.readFrom(seq, func(seq uint64, _ []byte) (bool, error) {
		seqs = append(seqs, seq)
		return len(seqs) != limit, nil
	}))
	return seqs
}

func TestSegmentLog(outer *testing.T) {
	t, dir := outer, outer.TempDir()
	require.NoError(t, makeDir(filepath.Join(dir, logDir)))
	l := openTestLog(t, dir, true)
	require.Empty(t, seqsFrom(t, l, 1, 0))
	for _, n := range []int{2, 2, 1, 4, 1} { // rolls behind 4 and 9
		require.NoError(t, l.append(began, cutoffs(t, l.last()+1, n), nil))
	}
	t.Run("reads across segments", func(t *testing.T) {
		require.Equal(t, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, seqsFrom(t, l, 0, 0))
		require.Equal(t, []uint64{4, 5, 6}, seqsFrom(t, l, 4, 3))
		require.Equal(t, []uint64{10}, seqsFrom(t, l, 10, 0))
		require.Empty(t, seqsFrom(t, l, 11, 0))
		require.Equal(t, segmentName(5), l.fileOf(9))
	})
	t.Run("goes on where it ended", func(t *testing.T) {
		chain := l.chain
		require.NoError(t, l.close())
		l = openTestLog(outer, dir, true)
		require.Equal(t, chain.head, l.chain.head)
		require.Equal(t, chain.skips, l.chain.skips)
		require.EqualValues(t, 10, l.last())
		require.NoError(t, l.append(began, cutoffs(t, 11, 1), nil))
	})
	t.Run("hashes closed segments", func(t *testing.T) {
		done := make(chan struct{})
		close(done)
		require.NoError(t, l.hashSegments(done))
		require.True(t, l.active().summed)
		require.False(t, l.from(5)[0].summed, "closed for good before it could be")
	})
	t.Run("drops whole segments", func(t *testing.T) {
		drop := func(seq uint64) { dropAll(t, l, seq) }
		drop(4)
		require.Len(t, l.from(0), 3)
		l.stay.RLock()
		drop(7)
		require.Len(t, l.from(0), 3, "somebody needs all of it")
		l.stay.RUnlock()
		oldest := l.from(0)[0]
		require.NoError(t, l.readFrom(1, func(uint64, []byte) (bool, error) {
			drop(7)
			return false, nil
		}))
		require.Len(t, l.from(0), 3, "somebody reads the oldest")
		drop(7)
		require.ErrorIs(t, oldest.read(1, nil), errRetired)
		require.Equal(t, []uint64{5, 6, 7, 8, 9, 10, 11}, seqsFrom(t, l, 1, 0))
		drop(1000)
		require.Equal(t, []uint64{10, 11}, seqsFrom(t, l, 1, 0), "never the one that is appended to")
		require.NoError(t, l.close())
		l = openTestLog(outer, dir, false)
		require.EqualValues(t, 11, l.last())
	})
}

func TestSegmentLog_littleTraffic(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeDir(filepath.Join(dir, logDir)))
	open := func() *segmentLog {
		l, err := openLog(dir, true, DefaultSegmentRecords, 0)
		require.NoError(t, err)
		require.NoError(t, l.begin())
		return l
	}
	l := open()
	add := func(at time.Time, wantSegments int) {
		values := cutoffs(t, l.last()+1, 1)
		values[0] = slices.Concat(putTime(nil, fieldAt, at), values[0])
		require.NoError(t, l.append(at, values, nil))
		require.Len(t, l.from(0), wantSegments, at)
	}
	add(began, 1)
	add(began.Add(segmentSpan-time.Second), 1)
	require.NoError(t, l.close())
	l = open()
	add(began.Add(segmentSpan-1), 1)
	add(began.Add(segmentSpan), 2)
	add(began.Add(2*segmentSpan-1), 2)
	add(began.Add(9*segmentSpan), 3)
	require.NoError(t, l.close())
}

// dropAll drops until there is nothing to drop.
func dropAll(t tb, l *segmentLog, seq uint64) {
	t.Helper()
	for did := true; did; {
		var err error
		did, err = l.dropBefore(seq)
		require.NoError(t, err)
		shrunk, err := l.shrink()
		require.NoError(t, err)
		did = did || shrunk
	}
}

func TestSegmentLog_large(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeDir(filepath.Join(dir, logDir)))
	l, err := openLog(dir, true, DefaultSegmentRecords, 0)
	require.NoError(t, err)
	require.NoError(t, l.begin())
	value := cutoffs(t, 1, 1)[0]
	large := putBytes(value, 4, make([]byte, 1<<20))
	for range reopenBytes>>20 + 1 {
		require.NoError(t, l.append(began, [][]byte{large}, nil))
	}
	last := l.last()
	require.NoError(t, l.close())
	l, err = openLog(dir, true, DefaultSegmentRecords, 0)
	require.NoError(t, err)
	defer l.close()
	require.Equal(t, last, l.last())
	require.Len(t, l.from(0), 1, "opening alone changes nothing")
	require.NoError(t, l.append(began, [][]byte{value}, nil))
	require.Equal(t, segmentName(last+1), l.fileOf(last+1), "too large to be read for one more record")
	require.Equal(t, last+1, l.last())
}

// TestRecord_golden holds the octets of every type, for ever.
func TestRecord_golden(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 4, 0, 5000, time.UTC)
	rules := rulesOf("1")
	accepted := message("01JDXW5Q0C8Z4Y3K7M2N9P6R5T", "order-42", "Your code is 4711")
	accepted.IdempotencyKey, accepted.Source, accepted.Priority = "k1", receipt.Address{Addr: "ACME", TON: 5}, 3
	accepted.TLVs = []receipt.TLV{{Tag: 0x1401, Value: []byte{1}}}
	facts := append([]statemachine.Fact{&rules, accepted}, life("01JDXW5Q0C8Z4Y3K7M2N9P6R5T", "5A3C99F1", "Your code is 4711")[1:]...)
	facts = append(facts,
		&statemachine.SubmitResp{Message: "M", Part: 2, Attempt: 3, CommandStatus: 0x58, Temporary: true, RetryAt: at},
		&statemachine.AttemptInDoubt{Message: "M", Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", Cause: "cut", NotWritten: true},
		&statemachine.QueueExpired{Message: "M"},
		&statemachine.Cutoff{Message: "M", Part: 1},
		&statemachine.QueryResp{Message: "M", Part: 1, Attempt: 1, SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: []byte{1}, CommandStatus: 0x67, MessageID: "5A", MessageState: 2, FinalDateRaw: "2611301204", ErrorCode: 1},
		&statemachine.Retry{Row: "row"},
		&statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "refused", CommandStatus: 0x0E, Detail: "x", PDU: []byte{2}},
		&statemachine.Other{Name: "webhook", Raw: []byte{3}},
		&statemachine.Operator{
			Action: statemachine.ActionAssign, By: "uid:0", Reason: "their ticket 5", Exception: "x12",
			Target: statemachine.AttemptRef{Message: "M", Part: 2},
		},
		&statemachine.Operator{Action: statemachine.ActionAccepted, By: "uid:0", Row: "row", MessageID: "5A"},
		&statemachine.Operator{Action: statemachine.ActionReprocess, By: "esmed", Reprocess: &statemachine.Reprocess{
			Rows: []statemachine.InboxKey{"row"}, Messages: []statemachine.ID{"M", "L"},
			Progress: statemachine.ReprocessProgress{Rules: 7, After: "row", Rows: true, Before: "L", Finished: true},
		}},
		&statemachine.Retention{Close: []statemachine.ID{"M"}},
		&statemachine.Retention{Messages: "M", Inbox: []statemachine.InboxKey{"row"}, Exceptions: []string{"x12"}, Log: 9},
		&statemachine.Restored{Backup: "b1", Send: true, Done: true},
		&statemachine.CancelResp{Message: "M", Part: 2, Attempt: 1, SMSC: "alpha", Session: "alpha/1", PDU: []byte{4}, CommandStatus: 0x11},
		&statemachine.Operator{Action: statemachine.ActionDrop, By: "uid:0", SMSC: "alpha", Messages: []statemachine.ID{"M", "L"}},
		&statemachine.MessageAccepted{Message: "M", Parts: []statemachine.PartContent{{
			DataCoding: 8, ShortMessage: []byte("text"), TLVs: []receipt.TLV{{Tag: 0x020C, Value: []byte{0, 7}}, {Tag: receipt.TagMessagePayload, Value: []byte("text")}},
		}, {ShortMessage: []byte("text"), NoReceipt: true, Payload: true}}},
		&statemachine.AttemptInDoubt{Message: "M", Part: 1, Attempt: 1, SMSC: "alpha", Cause: "cut", RetryAt: at},
	)
	key, err := newSealKey(1_796_040_240, make([]byte, secretSize))
	require.NoError(t, err)
	var e encoder
	var lines []string
	var chained chain
	for i, fact := range facts {
		rec := statemachine.Record{Seq: uint64(i + 1), At: at, Fact: fact}
		var spans []Span
		if pdu := sealedPDU(fact); len(pdu) > 1 { // one octet is no PDU, and has no text
			spans = textSpans(pdu, nil)
		}
		var sealed *sealKey
		if hasText(fact, spans) {
			sealed = key
		}
		b, err := e.appendRecord(nil, rec, spans, sealed)
		require.NoError(t, err)
		chained.add(hashRecord(rec.Seq, b))
		lines = append(lines, fmt.Sprintf("%s %x", fact.Type(), b))
	}
	var old commit
	old.hash = old.sum(hash{}, 0, chained.records)
	chained.head, chained.skips = hash{1}, skips{{6, skip{3, hash{3}}}, {7, skip{4, hash{1}}}}
	lines = append(lines, fmt.Sprintf("commit of format 1 %x", old.hash))
	for range 2 { // numbers 8 and 9: the first skips to none
		made := chained.next(uint64(len(facts)))
		lines = append(lines, fmt.Sprintf("commit %x", made.append(nil)))
		chained.follow(made, uint64(len(facts)))
	}
	lines = append(lines, "")
	path := filepath.Join("testdata", "records.golden")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644))
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(golden), strings.Join(lines, "\n"))
	for i, line := range strings.Split(string(golden), "\n")[:len(facts)] {
		b, err := hex.DecodeString(strings.Fields(line)[1])
		require.NoError(t, err)
		got, err := decodeRecord(uint64(i+1), b)
		require.NoError(t, err)
		got.unseal(key)
		require.Equal(t, facts[i].Type(), got.Fact.Type())
		if _, prepared := facts[i].(*statemachine.Rules); !prepared {
			require.Equal(t, facts[i], got.Fact)
		}
	}
}

func TestPartitions_place(t *testing.T) {
	var all partitions
	add := func(id statemachine.ID) uint32 {
		p := all.place(&statemachine.Message{ID: id}, 2)
		p.add(&statemachine.Message{ID: id, State: statemachine.Queued})
		return p.number
	}
	for i, tt := range []struct {
		id   statemachine.ID
		want uint32
	}{{"B", 0}, {"D", 0}, {"C", 0}, {"E", 1}, {"F", 1}, {"A", 0}, {"E2", 1}, {"G", 2}, {"H", 2}, {"I", 3}} {
		require.Equal(t, tt.want, add(tt.id), i)
	}
	require.EqualValues(t, 4, all.of("0").messages)
	require.Equal(t, []statemachine.ID{"", "E", "G", "I"}, []statemachine.ID{all[0].start, all[1].start, all[2].start, all[3].start})
}

// TestSegmentLog_noRoomForASum has no file changed of which another has the hash.
func TestSegmentLog_noRoomForASum(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeDir(filepath.Join(dir, logDir)))
	l := openTestLog(t, dir, true)
	for range 3 {
		require.NoError(t, l.append(began, cutoffs(t, l.next(), 3), nil))
	}
	require.Len(t, l.segments, 3)
	done := make(chan struct{})
	close(done)
	mend := withoutRoomFor(t, l.segments[1].path)
	require.NoError(t, l.hashSegments(done))
	mend()
	require.NoError(t, l.hashSegments(done))
	for i, s := range l.segments[1:] {
		require.True(t, s.summed)
		require.NoError(t, checkSum(l.segments[i], s))
	}
}
