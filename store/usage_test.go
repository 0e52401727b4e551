package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"esmed/statemachine"
)

func TestStore_Usage(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords, cfg.PartitionMessages = 10, 3
	now := began
	cfg.Now = func() time.Time { return now }
	s := startIn(t, cfg)
	u, err := s.Usage(ctx)
	require.NoError(t, err)
	require.Zero(t, u.Records())
	require.Zero(t, u.Oldest)
	records, octets, err := s.Since(&u, began)
	require.NoError(t, err)
	require.Zero(t, records)
	require.Zero(t, octets)

	for i := range 8 {
		s.append(life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")...)
		now = now.Add(time.Hour)
	}
	require.NoError(t, s.Sync(ctx))
	require.NoError(t, s.settle(ctx))
	u, err = s.Usage(ctx)
	require.NoError(t, err)
	each := u.Last / 8
	require.EqualValues(t, 1, u.First)
	require.Equal(t, s.Head().Seq, u.Last)
	require.Equal(t, u.Last, u.Records())
	require.Greater(t, len(u.Segments), 2)
	require.Equal(t, u.Last, u.Segments[len(u.Segments)-1].Last)
	require.True(t, began.Equal(u.Oldest))
	require.True(t, began.Add(7*time.Hour).Equal(u.Newest))
	require.True(t, u.Segments[0].Newest.Before(u.Newest))
	require.Positive(t, u.Log)
	require.Positive(t, u.State.Bytes)
	require.Zero(t, u.Base)
	require.Positive(t, u.Keys)
	require.EqualValues(t, 8, u.Messages)
	require.Equal(t, map[statemachine.State]int64{statemachine.Delivered: 8}, u.States)

	all, octets, err := s.Since(&u, began)
	require.NoError(t, err)
	require.Equal(t, u.Last, all)
	var sum int64
	for _, one := range u.Segments {
		sum += one.Bytes
	}
	require.Equal(t, sum, octets)
	some, part, err := s.Since(&u, began.Add(6*time.Hour))
	require.NoError(t, err)
	require.Equal(t, 2*each, some, "those of the last two lives")
	require.Less(t, part, octets)
	require.Positive(t, part)
}

// TestUsageOf_free compares what is read of the file with what bbolt knows.
func TestUsageOf_free(t *testing.T) {
	for _, rows := range []int{0, 100} {
		t.Run(fmt.Sprint(rows, " rows deleted"), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
			require.NoError(t, err)
			require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
				b, err := tx.CreateBucket([]byte("b"))
				for n := range rows {
					if err == nil {
						err = b.Put(seqKey(uint64(n)), make([]byte, 1000))
					}
				}
				return err
			}))
			require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("b")) }))
			require.NoError(t, db.Update(func(*bbolt.Tx) error { return nil })) // what was deleted is free behind the next commit
			u, err := usageOf(path)
			require.NoError(t, err)
			st := db.Stats()
			require.EqualValues(t, (st.FreePageN+st.PendingPageN)*os.Getpagesize(), u.Free)
			require.NoError(t, db.Close())
		})
	}
	u, err := usageOf(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	require.Zero(t, u)
}

func TestBoltMeta_freePages(t *testing.T) {
	page := func(id uint64, flags, count uint16, first uint64) []byte {
		b := make([]byte, 4*4096)
		at := b[2*4096:]
		le.PutUint64(at, id)
		le.PutUint16(at[8:], flags)
		le.PutUint16(at[10:], count)
		le.PutUint64(at[pageHeader:], first)
		return b
	}
	tests := []struct {
		name string
		file []byte
		list uint64
		want uint64
		ok   bool
	}{
		{"some pages", page(2, freelistPage, 7, 99), 2, 7, true},
		{"more than a page's header can count", page(2, freelistPage, 0xFFFF, 70_000), 2, 70_000, true},
		{"a list that is not kept", nil, ^uint64(0), 0, true},
		{"a page that is something else by now", page(2, leafPage, 7, 99), 2, 0, false},
		{"a page of another number", page(3, freelistPage, 7, 99), 2, 0, false},
		{"a page that is not there", page(2, freelistPage, 7, 99), 400, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(path, tt.file, 0o600))
			f, err := os.Open(path)
			require.NoError(t, err)
			defer f.Close()
			pages, ok := boltMeta{pageSize: 4096, freelist: tt.list}.freePages(f)
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.want, pages)
		})
	}
}
