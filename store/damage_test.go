package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

// flipper changes octets of a file that others have open and mapped.
type flipper struct {
	t    *testing.T
	file *os.File
	data []byte
}

func openFlipper(t *testing.T, path string) *flipper {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return &flipper{t, file, data}
}

// flip changes a bit of one octet while fn runs.
func (f *flipper) flip(at int, fn func()) {
	_, err := f.file.WriteAt([]byte{f.data[at] ^ 1<<(at%8)}, int64(at))
	require.NoError(f.t, err)
	fn()
	_, err = f.file.WriteAt(f.data[at:at+1], int64(at))
	require.NoError(f.t, err)
}

// chainDamage is what Verify's part for the log finds.
func chainDamage(t *testing.T, s *Store) *DamagedError {
	v := verifier{s: s, progress: func(VerifyProgress) {}, end: s.end.Load()}
	err := v.chain(context.Background())
	if err == nil {
		return nil
	}
	var damaged *DamagedError
	if errors.Is(err, ErrNewerFormat) { // the octet was the format's
		return &DamagedError{}
	}
	require.ErrorAs(t, err, &damaged)
	return damaged
}

// TestVerify_everyOctetOfRecords changes each octet of each record, of sealed segments and of the last one.
func TestVerify_everyOctetOfRecords(t *testing.T) {
	cfg := filledDir(t)
	s, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	require.Nil(t, chainDamage(t, s))
	octets := 0
	for _, segment := range s.log.from(0) {
		f := openFlipper(t, segment.path)
		places := make(map[uint64]Span) // in the file, of each record's value
		require.NoError(t, segment.read(0, func(seq uint64, value []byte) (bool, error) {
			at := int(uintptr(unsafe.Pointer(unsafe.SliceData(value))) - segment.db.Info().Data)
			places[seq] = Span{at, at + len(value)}
			return true, nil
		}))
		for seq, place := range places {
			start := place.Start
			for i := range place.End - start {
				f.flip(start+i, func() {
					damaged := chainDamage(t, s)
					require.NotNil(t, damaged, "seq %d, octet %d", seq, i)
					require.Equal(t, segment.name, damaged.File)
					require.Equal(t, seq, damaged.Seq, "octet %d: %v", i, damaged)
				})
				octets++
			}
		}
	}
	require.Greater(t, octets, 1000)
	require.Nil(t, chainDamage(t, s))
}

func TestOpen_namesTheRecordsOfADamagedPage(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeDir(filepath.Join(dir, logDir)))
	l, err := openLog(dir, true, DefaultSegmentRecords, 0)
	require.NoError(t, err)
	require.NoError(t, l.begin())
	for range 40 {
		require.NoError(t, l.append(began, cutoffs(t, l.last()+1, 50), nil))
	}
	var at int // of the page that holds the last record
	segment := l.active()
	require.NoError(t, segment.read(l.last(), func(_ uint64, value []byte) (bool, error) {
		at = int(uintptr(unsafe.Pointer(unsafe.SliceData(value))) - segment.db.Info().Data)
		return false, nil
	}))
	require.NoError(t, l.close())
	at -= at % os.Getpagesize()
	openFlipper(t, segment.path).flip(at, func() {
		_, err := openLog(dir, true, DefaultSegmentRecords, 0)
		var damaged *DamagedError
		require.ErrorAs(t, err, &damaged)
		require.Equal(t, segment.name, damaged.File)
		require.Greater(t, damaged.Seq, uint64(1))
	})
}

func TestSegmentLog_skipsNothingWhereAPageIsDamaged(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeDir(filepath.Join(dir, logDir)))
	l, err := openLog(dir, true, DefaultSegmentRecords, 0)
	require.NoError(t, err)
	defer l.close()
	require.NoError(t, l.begin())
	for range 20 {
		require.NoError(t, l.append(began, cutoffs(t, l.last()+1, 50), nil))
	}
	segment := l.active()
	key := func(seq uint64) (at int) { // in the file
		require.NoError(t, segment.view(func(tx *bbolt.Tx) error {
			k, _ := tx.Bucket(bucketRecords).Cursor().Seek(seqKey(seq))
			at = int(uintptr(unsafe.Pointer(unsafe.SliceData(k))) - segment.db.Info().Data)
			return nil
		}))
		return at
	}
	f := openFlipper(t, segment.path)
	for _, seq := range []uint64{2, 500, 750, l.last()} {
		at := key(seq)
		for octet := range 8 {
			f.flip(at+octet, func() {
				read := uint64(0)
				err := l.readFrom(1, func(at uint64, _ []byte) (bool, error) {
					read++
					require.Equal(t, read, at)
					return true, nil
				})
				var damaged *DamagedError
				require.ErrorAs(t, err, &damaged, "octet %d of the key of %d: read to %d", octet, seq, read)
				require.Equal(t, segment.name, damaged.File)
			})
		}
	}
	require.Len(t, seqsFrom(t, l, 1, 0), int(l.last()))
}

// TestVerify_everyPageOfSealedSegments changes octets all over closed files, those of no use too.
func TestVerify_everyPageOfSealedSegments(t *testing.T) {
	cfg := filledDir(t)
	s, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	segments := s.log.from(0)
	for i, segment := range segments[:len(segments)-1] {
		head, err := segments[i+1].head()
		require.NoError(t, err)
		require.NotNil(t, head.sum)
		f := openFlipper(t, segment.path)
		for at := 0; at < len(f.data); at += 61 {
			f.flip(at, func() {
				damaged := chainDamage(t, s)
				require.NotNil(t, damaged, "octet %d", at)
				if damaged.File != "" {
					require.Equal(t, segment.name, damaged.File)
				}
			})
		}
	}
	require.Nil(t, chainDamage(t, s))
}

// TestStore_damagedUnderADaemon changes octets of files that a running store has open. It may answer with
// an error, and go on or end Run with one; it must not panic.
func TestStore_damagedUnderADaemon(t *testing.T) {
	cfg := filledDir(t)
	s := start(t, cfg)
	ctx := context.Background()
	require.NoError(t, s.Sync(ctx))
	read := func() {
		_, _ = s.Message(ctx, "M1")
		_, _ = s.History(ctx, "M1")
		_, _ = s.Evidence(ctx, "M1")
		_, _, _ = s.Messages(ctx, Filter{Limit: 10})
		_, _ = s.MessagesByExternalID(ctx, "", "1")
		_, _, _ = s.Inbox(ctx, "", "", 10)
		_, _, _ = s.Exceptions(ctx, ExceptionFilter{Limit: 10})
		_, _ = s.Events(ctx, 0, 100)
		_, _ = s.Report(ctx, time.Time{}, time.Time{})
		_, _ = s.Stat(ctx)
	}
	for _, name := range []string{stateFile, segmentFile(1), segmentFile(8), segmentFile(15)} {
		f := openFlipper(t, filepath.Join(cfg.Dir, name))
		for at := 0; at < len(f.data); at += 1009 {
			if f.data[at] == 0 && at%2 == 0 { // most of it is room for more
				continue
			}
			f.flip(at, read)
		}
	}
	v, err := s.Verify(ctx, nil)
	require.NoError(t, err)
	require.Nil(t, v.Difference)
	s.append(&statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"})
	require.NoError(t, s.stop())
	clean(t, cfg)
}
