package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

func TestOpen_locked(t *testing.T) {
	cfg := testConfig(t.TempDir())
	readOnly, write := OpenReadOnly, Open
	s := start(t, cfg)
	s.append(message("M1", "", "a"))
	tests := []struct {
		name        string
		first, then func(Config) (*Store, error)
		err         error
		waits       time.Duration
	}{
		{"two daemons", write, write, ErrLocked, time.Second},
		{"reading beside a daemon", write, readOnly, ErrLocked, 0},
		{"a daemon beside a reader", readOnly, write, ErrLocked, 30 * time.Second},
		{"two readers", readOnly, readOnly, nil, 0},
	}
	require.NoError(t, s.stop())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a daemon does not give up at once
				first, err := tt.first(cfg)
				require.NoError(t, err)
				began := time.Now()
				then, err := tt.then(cfg)
				require.ErrorIs(t, err, tt.err)
				require.Equal(t, tt.waits, time.Since(began).Truncate(time.Second))
				if err == nil {
					require.NoError(t, then.Close())
				}
				require.NoError(t, first.Close())
			})
		})
	}
	clean(t, cfg)
}

func TestOpen_waitsForACommandThatReads(t *testing.T) {
	cfg := testConfig(t.TempDir())
	s := start(t, cfg)
	s.append(message("M1", "", "a"))
	require.NoError(t, s.stop())
	synctest.Test(t, func(t *testing.T) {
		reader, err := OpenReadOnly(cfg)
		require.NoError(t, err)
		var g errgroup.Group
		g.Go(func() error {
			s, err := Open(cfg)
			if err != nil {
				return err
			}
			return s.Close()
		})
		synctest.Wait() // the daemon has met the reader
		require.NoError(t, reader.Close())
		require.NoError(t, g.Wait())
	})
}

func TestOpenReadOnly_nothing(t *testing.T) {
	dir := t.TempDir()
	for _, dir := range []string{dir, filepath.Join(dir, "missing")} {
		_, err := OpenReadOnly(testConfig(dir))
		require.ErrorIs(t, err, ErrNoStore)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestOpenReadOnly_writesNothing(t *testing.T) {
	cfg := testConfig(t.TempDir())
	s := start(t, cfg)
	s.append(life("M1", "1", "a")...)
	require.NoError(t, s.stop())
	require.NoError(t, os.Remove(filepath.Join(cfg.Dir, stateFile)))
	before := files(t, cfg.Dir)
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	agrees(t, r)
	_, err = r.Append(context.Background(), message("M2", "", "a"))
	require.ErrorIs(t, err, ErrReadOnly)
	_, err = r.Accept(context.Background(), message("M2", "", "a"))
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorIs(t, r.Run(context.Background()), ErrReadOnly)
	require.NoError(t, r.Close())
	require.Equal(t, before, files(t, cfg.Dir))
}

func segmentFile(first uint64) string { return segmentName(first) }

// filledDir is a store of three segments with everything in it, and nobody who has it open.
func filledDir(t *testing.T) Config {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords = 7
	s := start(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	for i := range 4 {
		for _, fact := range life(fmt.Sprint("M", i), fmt.Sprint(i), "a text") {
			s.append(fact)
		}
	}
	s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("99", "DELIVRD", someDest, "x", 4)})
	s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("1", "EXPIRED", someDest, "x", 4)})
	require.NoError(t, s.Sync(context.Background()))
	require.NoError(t, s.stop())
	return cfg
}

// rewrite changes a bbolt file from outside.
func rewrite(t *testing.T, path string, fn func(*bbolt.Tx) error) {
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(fn))
	require.NoError(t, db.Close())
}

func TestOpen_damaged(t *testing.T) {
	write := func(name string, data []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		}
	}
	truncate := func(name string, size int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) { require.NoError(t, os.Truncate(filepath.Join(dir, name), size)) }
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, name))) }
	}
	put := func(name string, bucket, key, value []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			rewrite(t, filepath.Join(dir, name), func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, value) })
		}
	}
	foreign := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
			rewrite(t, filepath.Join(dir, name), func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("somebody's"))
				return err
			})
		}
	}
	garbage := bytes.Repeat([]byte("garbage "), 4096)
	tests := []struct {
		name string
		do   func(t *testing.T, dir string)
		file string // "" = ErrNewerFormat
	}{
		{"state.db is garbage", write(stateFile, garbage), stateFile},
		{"state.db is empty", truncate(stateFile, 0), stateFile},
		{"state.db is cut short", truncate(stateFile, 8192), stateFile},
		{"state.db is somebody else's", foreign(stateFile), stateFile},
		{"state.db is of a newer format", put(stateFile, tableID{table: tableMeta}.name(), metaFormat, seqKey(stateVersion+1)), ""},
		{"state.db is ahead of the log", put(stateFile, tableID{table: tableMeta}.name(), metaCursor, seqKey(1000)), logDir},
		{"the last segment is garbage", write(segmentFile(15), garbage), segmentFile(15)},
		{"the last segment is empty", truncate(segmentFile(15), 0), segmentFile(15)},
		{"the last segment is cut short", truncate(segmentFile(15), 8192), segmentFile(15)},
		{"a segment is somebody else's", foreign(segmentFile(8)), segmentFile(8)},
		{"a segment is of a newer format", put(segmentFile(8), bucketHead, keyFormat, seqKey(formatVersion+1)), ""},
		{"the last segment is of a newer format", put(segmentFile(15), bucketHead, keyFormat, seqKey(formatVersion+1)), ""},
		{"a segment in the middle is missing", remove(segmentFile(8)), segmentFile(8)},
		{"the first segment is missing", remove(segmentFile(1)), segmentFile(1)},
		{"the last segment is missing", remove(segmentFile(15)), logDir},
		{"all segments are missing", func(t *testing.T, dir string) {
			for _, first := range []uint64{1, 8, 15} {
				remove(segmentFile(first))(t, dir)
			}
		}, logDir},
		{"the last record has no commit", put(segmentFile(15), bucketRecords, seqKey(19), []byte{}), segmentFile(15)},
		{"a foreign file in the log", write(filepath.Join(logDir, "notes.txt"), nil), filepath.Join(logDir, "notes.txt")},
		{"the log is missing", remove(logDir), logDir},
		{"the keys are missing", remove(keysDir), keysDir},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := filledDir(t)
			tt.do(t, cfg.Dir)
			before := files(t, cfg.Dir)
			for _, open := range []func(Config) (*Store, error){Open, OpenReadOnly} {
				_, err := open(cfg)
				if tt.file == "" {
					require.ErrorIs(t, err, ErrNewerFormat)
					continue
				}
				var damaged *DamagedError
				require.ErrorAs(t, err, &damaged)
				require.Equal(t, tt.file, damaged.File)
			}
			require.Equal(t, before, files(t, cfg.Dir), "nothing is touched")
		})
	}
}

// TestOpen_pageOfState damages what only a later batch or query would meet.
func TestOpen_pageOfState(t *testing.T) {
	cfg := filledDir(t)
	s := start(t, cfg)
	for i := range 100 {
		s.append(message(fmt.Sprintf("N%02d", i), "", "a text"))
	}
	require.NoError(t, s.Sync(context.Background()))
	require.NoError(t, s.settle(context.Background()))
	var id, size int64
	require.NoError(t, s.state.View(func(tx *bbolt.Tx) error {
		part := tableID{table: tableMessages}
		id, size = int64(tx.Bucket(part.name()).Bucket(part.partName()).Root()), int64(s.state.Info().PageSize)
		return nil
	}))
	require.Positive(t, id)
	require.NoError(t, s.stop())
	f, err := os.OpenFile(filepath.Join(cfg.Dir, stateFile), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(make([]byte, size), id*size)
	require.NoError(t, errors.Join(err, f.Close()))
	before := files(t, cfg.Dir)
	_, err = Open(cfg)
	var damaged *DamagedError
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, stateFile, damaged.File)
	require.Equal(t, before, files(t, cfg.Dir))
}

func TestOpen_unfinished(t *testing.T) {
	cfg := filledDir(t)
	for _, name := range []string{stateFile, segmentFile(99), filepath.Join(keysDir, "x.key")} {
		require.NoError(t, os.WriteFile(filepath.Join(cfg.Dir, name+tmpSuffix), []byte("half"), 0o600))
	}
	s := start(t, cfg)
	s.append(message("M9", "", "a"))
	s.check()
}

func TestOpen_begunAndKilled(t *testing.T) {
	for _, made := range [][]string{{keysDir}, {keysDir, logDir}} {
		cfg := testConfig(t.TempDir())
		for _, name := range made {
			require.NoError(t, os.Mkdir(filepath.Join(cfg.Dir, name), 0o700))
		}
		if len(made) == 2 {
			clean(t, cfg)
		}
		s := start(t, cfg)
		s.append(message("M1", "", "a"))
		require.Equal(t, s.end.Load(), s.Head().Seq)
		s.check()
	}
}

func TestOpen_stateMissing(t *testing.T) {
	cfg := filledDir(t)
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	want := dump(t, r)
	require.NoError(t, r.Close())
	require.NoError(t, os.Remove(filepath.Join(cfg.Dir, stateFile)))
	s := start(t, cfg)
	require.NoError(t, s.Sync(context.Background()))
	stat, err := s.Stat(context.Background())
	require.NoError(t, err)
	require.True(t, stat.Rebuilt)
	same(t, want, dump(t, s.Store))
	s.check()
}

func TestOpen_stateOfFormat1(t *testing.T) {
	cfg := filledDir(t)
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	want := dump(t, r)
	require.NoError(t, r.Close())
	rewrite(t, filepath.Join(cfg.Dir, stateFile), func(tx *bbolt.Tx) error {
		meta := tx.Bucket(tableID{table: tableMeta}.name())
		require.NoError(t, meta.Put(metaRestored, []byte("not what the log says")))
		return meta.Put(metaFormat, seqKey(upgradableState-1))
	})
	before := files(t, cfg.Dir)

	r, err = OpenReadOnly(cfg)
	require.NoError(t, err)
	same(t, want, dump(t, r))
	require.NoError(t, r.Close())
	require.Equal(t, before, files(t, cfg.Dir), "nothing is touched by reading")

	s := start(t, cfg)
	require.NoError(t, s.Sync(context.Background()))
	stat, err := s.Stat(context.Background())
	require.NoError(t, err)
	require.True(t, stat.Rebuilt)
	same(t, want, dump(t, s.Store))
	require.Equal(t, before[stateFile], files(t, cfg.Dir)[stateFile+".v1"])
	s.check()
	s = start(t, cfg)
	stat, err = s.Stat(context.Background())
	require.NoError(t, err)
	require.False(t, stat.Rebuilt, "once is enough")
	s.check()
}

// TestVerify_flippedOctets flips octets that are in use. Either that is told, by opening or by Verify, with
// the file's name, or it changes nothing that can be read.
func TestVerify_flippedOctets(t *testing.T) {
	cfg := filledDir(t)
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	want := readable(t, r)
	require.NoError(t, r.Close())
	random := rand.New(rand.NewPCG(4, 7))
	told := 0
	for name, data := range files(t, cfg.Dir) {
		path := filepath.Join(cfg.Dir, name)
		trials := 40
		if filepath.Ext(name) == keySuffix {
			trials = 3
		}
		for range trials {
			at := random.IntN(len(data))
			for data[at] == 0 { // most of it is room for more
				at = random.IntN(len(data))
			}
			changed := bytes.Clone(data)
			changed[at] ^= 1 << random.IntN(8)
			require.NoError(t, os.WriteFile(path, changed, 0o600))
			if difference(t, cfg, name, want) {
				told++
			}
			s, err := Open(cfg) // must not end the process either
			if err == nil {
				require.NoError(t, s.Close())
			}
			require.NoError(t, os.WriteFile(path, data, 0o600))
		}
	}
	require.Greater(t, told, 60)
	clean(t, cfg)
}

// difference reports whether opening or Verify found something; if not all must read as before.
func difference(t *testing.T, cfg Config, name string, want map[string]string) bool {
	r, err := OpenReadOnly(cfg)
	var damaged *DamagedError
	if err == nil {
		defer func() { require.NoError(t, r.Close()) }()
		v, err := r.Verify(context.Background(), nil)
		require.NoError(t, err)
		if damaged = v.Difference; damaged == nil {
			same(t, want, readable(t, r))
			return false
		}
	} else if !errors.As(err, &damaged) {
		require.ErrorIs(t, err, ErrNewerFormat)
		return true
	}
	if damaged.File != logDir { // a log that is too short is told of the directory
		require.Equal(t, filepath.Dir(name), filepath.Dir(damaged.File), damaged)
	}
	return true
}

// readable is all that a store says.
func readable(t tb, s *Store) map[string]string {
	all := dump(t, s)
	require.NoError(t, s.entries(1, func(e entry) (bool, error) {
		all[fmt.Sprint("record ", e.Seq)] = fmt.Sprintf("%v %#v", e.At, e.Fact)
		return true, nil
	}))
	return all
}
