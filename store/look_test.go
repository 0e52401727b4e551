package store

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// sector is what a disk writes at once, whatever the power does.
const sector = 512

// cutLog is a log whose last commit may be cut short in many ways.
type cutLog struct {
	dir           string
	name          string // of the segment that was appended to
	before, after []byte // its content with the last commit but one, and with the last
	ends          [2]uint64
	values        map[uint64][]byte // of all records
}

// drawnCommit is one that may have records longer than a page, or the rules.
func drawnCommit(rt *rapid.T, first uint64) (values [][]byte, rules []byte) {
	n := rapid.SampledFrom([]int{1, 1, 2, 3, 16, 40, 128}).Draw(rt, "records")
	for i := range n {
		rec := statemachine.Record{Seq: first + uint64(i), At: began, Fact: &statemachine.Cutoff{Message: "M", Part: i}}
		size := 0
		switch rapid.IntRange(0, 30).Draw(rt, "kind") {
		case 0:
			size = rapid.IntRange(1, 20000).Draw(rt, "octets")
		case 1:
			r := rulesOf(fmt.Sprint(first))
			for i := range rapid.IntRange(0, 40).Draw(rt, "more rules") {
				r.SMSCs = append(r.SMSCs, statemachine.SMSCRules{SMSC: fmt.Sprint("s", i), Account: "a"})
			}
			rec.Fact = &r
		default:
			size = rapid.IntRange(1, 400).Draw(rt, "octets")
		}
		if size > 0 {
			rec.Fact = &statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: string(bytes.Repeat([]byte{'e'}, size))}
		}
		value, err := new(encoder).appendRecord(nil, rec, nil, nil)
		require.NoError(rt, err)
		if _, ok := rec.Fact.(*statemachine.Rules); ok {
			rules = rulesHead(rec.Seq, value)
		}
		values = append(values, value)
	}
	return values, rules
}

func drawnLog(rt *rapid.T, dir string) *cutLog {
	c := &cutLog{dir: dir, values: make(map[uint64][]byte)}
	require.NoError(rt, makeDir(filepath.Join(dir, logDir)))
	l, err := openLog(dir, true, rapid.SampledFrom([]int{200, DefaultSegmentRecords}).Draw(rt, "records a segment"), 0)
	require.NoError(rt, err)
	require.NoError(rt, l.begin())
	defer l.close()
	done := make(chan struct{})
	close(done)
	if rapid.IntRange(0, 9).Draw(rt, "many records before") == 0 { // more than are looked at
		for range 4 {
			require.NoError(rt, l.append(began, cutoffs(rt, l.next(), maxGroupRecords), nil))
		}
	}
	for n := rapid.SampledFrom([]int{0, 1, 2, 3, 10, 60, 150}).Draw(rt, "commits before"); n >= 0; {
		values, rules := drawnCommit(rt, l.next())
		c.name, c.ends[0] = l.active().name, l.last()
		c.before, err = os.ReadFile(l.active().path)
		require.NoError(rt, err)
		require.NoError(rt, l.append(began, values, rules))
		if n--; n < 0 && l.active().name != c.name {
			n = 1 // a new segment's first commit has two fsyncs
		}
		if rapid.IntRange(0, 20).Draw(rt, "sum") == 0 && n > 0 {
			require.NoError(rt, l.hashSegments(done))
		}
	}
	c.ends[1] = l.last()
	c.after, err = os.ReadFile(l.active().path)
	require.NoError(rt, err)
	require.NoError(rt, l.readFrom(1, func(seq uint64, value []byte) (bool, error) {
		c.values[seq] = clone(value)
		return true, nil
	}))
	return c
}

// cut gives the segment's file as a power cut may leave it: of each unit that the commit changed what it was, or what
// it is to be, as chosen; and perhaps no longer than it was.
func (c *cutLog) cut(unit int, short bool, written func(at int) bool) (image []byte, whole bool) {
	image, whole = bytes.Clone(c.after), true
	old := make([]byte, len(c.after))
	copy(old, c.before)
	for at := 0; at < len(image); at += unit {
		end := min(at+unit, len(image))
		if !bytes.Equal(old[at:end], image[at:end]) && !written(at) {
			copy(image[at:end], old[at:end])
			whole = false
		}
	}
	if short && len(c.before) < len(image) {
		image, whole = image[:len(c.before)], false
	}
	return image, whole
}

// holds opens the log, which must end with either commit, go on, and verify.
func (c *cutLog) holds(t tb, whole bool) {
	t.Helper()
	readOnly, refused := openLog(c.dir, false, DefaultSegmentRecords, 0)
	if refused == nil {
		c.reads(t, readOnly)
		require.NoError(t, readOnly.close())
	} else {
		require.ErrorIs(t, refused, ErrCutShort)
	}
	l, err := openLog(c.dir, true, DefaultSegmentRecords, c.ends[0])
	require.NoError(t, err)
	require.Equal(t, refused != nil, l.cutShort)
	c.reads(t, l)
	if whole {
		require.Equal(t, c.ends[1], l.last())
	}
	end := l.last()
	for range 3 {
		require.NoError(t, l.append(began, cutoffs(t, l.next(), 5), nil))
	}
	require.NoError(t, l.close())
	s := newStore(Config{Dir: c.dir}.withDefaults())
	s.log, err = openLog(c.dir, false, DefaultSegmentRecords, 0)
	require.NoError(t, err)
	require.Equal(t, end+15, s.log.last())
	s.journal = s.log
	v := verifier{s: s, progress: func(VerifyProgress) {}, end: s.log.last()}
	require.NoError(t, v.chain(context.Background()))
	require.NoError(t, s.log.close())
}

func (c *cutLog) reads(t tb, l *segmentLog) {
	t.Helper()
	require.Contains(t, c.ends, l.last())
	next := uint64(1)
	require.NoError(t, l.readFrom(1, func(seq uint64, value []byte) (bool, error) {
		require.Equal(t, next, seq)
		require.True(t, bytes.Equal(c.values[seq], value), "seq %d", seq)
		next++
		return true, nil
	}))
	require.Equal(t, l.last(), next-1)
}

// TestLook_powerCut leaves of a log's last commit any part of what it writes.
func TestLook_powerCut(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(root, "")
		require.NoError(rt, err)
		defer os.RemoveAll(dir)
		c := drawnLog(rt, dir)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		unit := rapid.SampledFrom([]int{sector, sector, os.Getpagesize()}).Draw(rt, "unit")
		others := files(rt, dir)
		for _, share := range []float64{0, 0.05, 0.5, 0.95, 1} {
			meta := random.IntN(5) > 0 // without it there is nothing to be found
			image, whole := c.cut(unit, random.IntN(10) == 0, func(at int) bool {
				return share == 1 || at < 2*os.Getpagesize() && meta || random.Float64() < share
			})
			again := filepath.Join(dir, "cut")
			for name, data := range others {
				require.NoError(rt, os.MkdirAll(filepath.Dir(filepath.Join(again, name)), 0o700))
				require.NoError(rt, os.WriteFile(filepath.Join(again, name), data, 0o600))
			}
			require.NoError(rt, os.WriteFile(filepath.Join(again, c.name), image, 0o600))
			one := *c
			one.dir = again
			one.holds(rt, whole)
			require.NoError(rt, os.RemoveAll(again))
		}
	})
}

// TestLook_large cuts the last commit of a segment that is too large to be appended to again.
func TestLook_large(t *testing.T) {
	l := largeLog(t)
	for n := 0; l.active().bytes.Load() <= reopenBytes; n++ {
		values := cutoffs(t, l.next(), 4)
		values[0] = putBytes(values[0], 4, make([]byte, 24<<20))
		require.NoError(t, l.append(began, values, nil))
	}
	require.NoError(t, l.append(began, cutoffs(t, l.next(), 100), nil))
	end := l.last()
	require.NoError(t, l.append(began, cutoffs(t, l.next(), 100), nil))
	whole := reopened(t, l)
	require.Equal(t, end+100, whole.last())
	require.True(t, whole.active().db.IsReadOnly())

	f := openFlipper(t, l.active().path)
	var at int // of the last record's value
	require.NoError(t, l.active().read(l.last(), func(_ uint64, value []byte) (bool, error) {
		at = int(uintptr(unsafe.Pointer(unsafe.SliceData(value))) - l.active().db.Info().Data)
		return false, nil
	}))
	f.flip(at, func() {
		cut := reopened(t, l)
		require.True(t, cut.cutShort)
		require.Equal(t, end, cut.last())
		require.Len(t, seqsFrom(t, cut, 1, 0), int(end))
		require.NoError(t, cut.append(began, cutoffs(t, cut.next(), 1), nil))
	})
}

// TestLook_damaged has records missing that were durable, for all that state.db says.
func TestLook_damaged(t *testing.T) {
	l := newLog(t)
	for range 5 {
		require.NoError(t, l.append(began, cutoffs(t, l.next(), 30), nil))
	}
	dir := t.TempDir()
	copyDir(t, l.dir, dir)
	path := filepath.Join(dir, l.active().name)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	data[bytes.LastIndex(data, l.chain.head[:])] ^= 1
	require.NoError(t, os.WriteFile(path, data, 0o600))
	for _, write := range []bool{true, false} {
		_, err = openLog(dir, write, DefaultSegmentRecords, l.last())
		var damaged *DamagedError
		require.ErrorAs(t, err, &damaged)
		require.Equal(t, l.active().name, damaged.File)
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, after), "nothing is touched")
	l, err = openLog(dir, true, DefaultSegmentRecords, l.last()-30)
	require.NoError(t, err)
	require.True(t, l.cutShort)
	require.NoError(t, l.close())
}

// TestLook_eachSectorAlone leaves out one sector of a commit, each in turn.
func TestLook_eachSectorAlone(t *testing.T) {
	dir := t.TempDir()
	c := rapid.Custom(func(rt *rapid.T) *cutLog {
		sub, err := os.MkdirTemp(dir, "")
		require.NoError(rt, err)
		return drawnLog(rt, sub)
	}).Example(7)
	for at := 0; at < len(c.after); at += sector {
		image, whole := c.cut(sector, false, func(other int) bool { return other != at })
		if whole {
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(c.dir, c.name), image, 0o600))
		c.holds(t, false)
	}
}
