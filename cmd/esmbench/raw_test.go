package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
)

// segment writes a log's segment with the records first to last, each of ten octets.
func segment(t *testing.T, dir string, first, last uint64) {
	db, err := bbolt.Open(filepath.Join(dir, fmt.Sprintf("%020d.log", first)), 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("records"))
		for seq := first; seq <= last && err == nil; seq++ {
			err = b.Put(binary.BigEndian.AppendUint64(nil, seq), fmt.Appendf(nil, "record %03d", seq))
		}
		return err
	}))
	require.NoError(t, db.Close())
}

func TestRaw_appends_the_newest_records_in_groups(t *testing.T) {
	dir := t.TempDir()
	segment(t, dir, 1, 6)
	segment(t, dir, 7, 10)
	newest, err := newestRecords(dir, 7)
	require.NoError(t, err)
	require.Len(t, newest, 7)
	require.Equal(t, "record 004", string(newest[0]))
	require.Equal(t, "record 010", string(newest[6]))

	file := filepath.Join(dir, "raw")
	r, err := measureRaw(dir, file, 100, 3, 2, 1000)
	require.NoError(t, err)
	require.Equal(t, 10, r.Records)
	require.InDelta(t, 10, r.Octets, 0)
	require.Positive(t, r.Lives)
	require.InDelta(t, 1000, r.Ratio*r.Lives, 1e-6)
	require.NoFileExists(t, file)

	r, err = measureRaw(t.TempDir(), file, 100, 3, 2, 1000)
	require.NoError(t, err, "a log without records")
	require.Zero(t, r.Lives)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "9.log"), []byte("no segment"), 0o600))
	_, err = newestRecords(dir, 7)
	require.ErrorContains(t, err, "9.log")
}
