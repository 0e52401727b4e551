package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"esmed/statemachine"
)

// livingStore has something of everything, of which some was dropped already.
func livingStore(t *testing.T) *running {
	cfg := testConfig(t.TempDir())
	cfg.SegmentRecords, cfg.PartitionMessages = 10, 3
	s := start(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	s.append(&statemachine.Operator{Action: statemachine.ActionHold, By: "uid:0", SMSC: "alpha"}) // that record is dropped
	for i := range 10 {
		s.append(life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")...)
	}
	s.retire(keepSince(s.Head().At.Add(1)))
	for i := range 4 {
		s.append(life(fmt.Sprint("N", i), fmt.Sprint("new", i), "a text")...)
	}
	s.append(&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: receiptPDU("99", "DELIVRD", someDest, "x", 4)})
	s.append(message("Q1", "", "a text"))
	s.append(life("Q2", "", "a text")[:2]...)
	later := life("Q3", "", "a text")[:3]
	later[2].(*statemachine.SubmitResp).Temporary, later[2].(*statemachine.SubmitResp).CommandStatus = true, 0x58
	later[2].(*statemachine.SubmitResp).RetryAt = began.AddDate(1, 0, 0)
	s.append(later...)
	return s
}

func TestBackup(t *testing.T) {
	s := livingStore(t)
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "backup")
	var g errgroup.Group
	before := s.Head().Seq
	stop := make(chan struct{})
	g.Go(func() error { // it goes on meanwhile
		for i := 0; ; i++ {
			if _, err := s.Append(ctx, life(fmt.Sprintf("P%06d", i), fmt.Sprint("p", i), "a text")...); err != nil {
				return err
			}
			select {
			case <-stop:
				return nil
			default:
			}
		}
	})
	var last BackupProgress
	result, err := s.Backup(ctx, dir, false, func(p BackupProgress) { last = p })
	close(stop)
	require.NoError(t, g.Wait())
	require.NoError(t, err)
	require.GreaterOrEqual(t, result.Head.Seq, before)
	require.Equal(t, result.Bytes, last.Done)
	require.True(t, result.Folded)

	r, err := OpenReadOnly(testConfig(dir))
	require.NoError(t, err)
	require.Equal(t, result.ID, r.RestoredFrom())
	require.Equal(t, result.Head, r.Head())
	verifies(t, r)
	want, err := s.Record(ctx, result.Head.Seq)
	require.NoError(t, err)
	got, err := r.Record(ctx, result.Head.Seq)
	require.NoError(t, err)
	require.Equal(t, want, got, "its texts can be read")
	require.NoError(t, r.Close())
	var noted struct {
		Seq  uint64
		Hash string
	}
	require.NoError(t, json.Unmarshal(files(t, dir)[headFile], &noted))
	require.Equal(t, result.Head.Seq, noted.Seq)
	require.Equal(t, fmt.Sprintf("%x", result.Head.Hash), noted.Hash)

	_, err = s.Backup(ctx, dir, false, nil)
	require.ErrorContains(t, err, "not empty")
	verifies(t, s.Store)
	require.NoError(t, s.stop())
}

// TestBackup_cutShort leaves a directory that nobody takes for a store.
func TestBackup_cutShort(t *testing.T) {
	s := livingStore(t)
	base := t.TempDir()
	for n := 0; ; n++ {
		dir := filepath.Join(base, fmt.Sprint(n))
		ctx, cancel := context.WithCancel(context.Background())
		steps := 0
		b := backup{s: s.Store, ctx: ctx, dir: dir, progress: func(BackupProgress) {}}
		all := []func() error{b.begin, b.state, b.base, b.log, b.keys, b.verify}
		for ; steps < min(n, len(all)); steps++ {
			require.NoError(t, all[steps]())
		}
		cancel()
		if n > len(all) {
			break
		}
		if n == 0 {
			continue
		}
		for _, open := range []func(Config) (*Store, error){Open, OpenReadOnly} {
			_, err := open(testConfig(dir))
			require.ErrorIs(t, err, ErrPartialBackup)
		}
		_, err := Rebuild(context.Background(), testConfig(dir), nil)
		require.ErrorIs(t, err, ErrPartialBackup)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := filepath.Join(base, "cancelled")
	_, err := s.Backup(ctx, dir, false, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = Open(testConfig(dir))
	require.ErrorIs(t, err, ErrPartialBackup)
	require.NoError(t, s.stop())
}

// TestBackup_differs has the projection not follow from the log: no copy of it counts as one.
func TestBackup_differs(t *testing.T) {
	ctx := context.Background()
	s := livingStore(t)
	require.NoError(t, s.settle(ctx))
	require.NoError(t, s.stateNow().Update(func(tx *bbolt.Tx) error {
		return newStateTx(tx).put(tableID{table: tableHolds}, []byte("nobody"), []byte{})
	}))
	dir := filepath.Join(t.TempDir(), "backup")
	_, err := s.Backup(ctx, dir, false, nil)
	var damaged *DamagedError
	require.ErrorAs(t, err, &damaged)
	_, err = OpenReadOnly(testConfig(dir))
	require.ErrorIs(t, err, ErrPartialBackup)
	result, err := s.Backup(ctx, filepath.Join(t.TempDir(), "chain"), true, nil)
	require.NoError(t, err, "the chain alone is well")
	require.False(t, result.Folded)
	require.NoError(t, s.stop())
}

// TestBackup_removesWhatFoundNoRoom: half a copy is good for nothing, and takes the room that everybody needs.
func TestBackup_removesWhatFoundNoRoom(t *testing.T) {
	s := livingStore(t)
	require.NoError(t, s.settle(context.Background()))
	dir := filepath.Join(t.TempDir(), "backup")
	b := backup{s: s.Store, ctx: context.Background(), dir: dir, progress: func(BackupProgress) {}}
	require.NoError(t, b.begin())
	require.NoError(t, b.state())
	require.True(t, b.began)
	require.NoError(t, b.remove())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
	_, err = s.Backup(context.Background(), dir, true, nil)
	require.NoError(t, err, "there is nothing in the way of the next one")
	require.NoError(t, s.stop())
}
