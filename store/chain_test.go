package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// TestSegmentLog_chain opens a log again at random, and drops some of it: the chain goes on as if not.
func TestSegmentLog_chain(t *testing.T) {
	base, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		require.NoError(t, os.MkdirAll(filepath.Join(dir, logDir), 0o700))
		size := rapid.SampledFrom([]int{1, 5, 40}).Draw(t, "segment")
		var l *segmentLog
		open := func() {
			var err error
			l, err = openLog(dir, true, size, 0)
			require.NoError(t, err)
			require.NoError(t, l.begin())
		}
		open()
		commits := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 70).Draw(t, "commits")
		made := map[uint64]skip{}
		for i, records := range commits {
			var values [][]byte
			for range records {
				values = append(values, putTime(nil, fieldAt, began))
			}
			require.NoError(t, l.append(began, values, nil))
			number := uint64(i + 1)
			made[number] = skip{l.last(), l.chain.head}
			for at, n := number, len(l.chain.skips)-1; at > 0; at, n = skipTarget(at), n-1 {
				require.Equal(t, link{at, made[at]}, l.chain.skips[n])
			}
			end, err := l.active().commitAt(l.last())
			require.NoError(t, err)
			require.Equal(t, commit{l.chain.head, number, made[skipTarget(number)]}, end.commit)
			switch rapid.IntRange(0, 5).Draw(t, "then") {
			case 0:
				dropAll(t, l, rapid.Uint64Range(1, l.last()).Draw(t, "drop"))
				fallthrough
			case 1:
				before := l.chain
				require.NoError(t, l.close())
				open()
				require.Equal(t, before.head, l.chain.head)
				require.Equal(t, before.skips, l.chain.skips)
			}
		}
		require.NoError(t, l.close())
	})
}

// makeOld gives the log of a store the form that format 1 had: no numbers, no skips, no tip.
func makeOld(t *testing.T, cfg Config) {
	firsts, _, err := listSegments(cfg.Dir)
	require.NoError(t, err)
	var c chain
	for _, first := range firsts {
		rewrite(t, filepath.Join(cfg.Dir, segmentName(first)), func(tx *bbolt.Tx) error {
			head, records := tx.Bucket(bucketHead), tx.Bucket(bucketRecords)
			require.NoError(t, head.Put(keyFormat, seqKey(1)))
			require.NoError(t, head.Put(keyChain, clone(c.head[:])))
			require.NoError(t, head.Delete(keySkips))
			require.NoError(t, head.Delete(keySum))
			require.NoError(t, tx.DeleteBucket(bucketTip))
			changed := map[uint64][]byte{}
			require.NoError(t, records.ForEach(func(k, v []byte) error {
				seq, _ := seqOf(k)
				o, err := readOutline(v)
				require.NoError(t, err)
				c.add(hashRecord(seq, o.body))
				if o.ends {
					old := commit{}
					old.hash = old.sum(c.head, seq, c.records)
					c.follow(old, seq)
					changed[seq] = putBytes(clone(o.body), fieldCommit, old.hash[:])
				}
				return nil
			}))
			for seq, value := range changed {
				require.NoError(t, records.Put(seqKey(seq), value))
			}
			return nil
		})
	}
}

func TestStore_logOfFormatOne(t *testing.T) {
	cfg := filledDir(t)
	makeOld(t, cfg)
	clean(t, cfg)
	s := start(t, cfg)
	for _, fact := range life("N1", "77", "a text") {
		s.append(fact)
	}
	s.check()
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	var formats []uint64
	for _, segment := range r.log.from(0) {
		formats = append(formats, segment.format)
	}
	require.Equal(t, []uint64{1, 1, 1, formatVersion}, formats, "nothing is appended to an old one")
	require.NoError(t, r.Close())
	s = start(t, cfg)
	s.append(&statemachine.Cutoff{Message: "N1", Part: 1})
	s.check()
}

func TestStore_emptyLogOfFormatOne(t *testing.T) {
	cfg := testConfig(t.TempDir())
	require.NoError(t, start(t, cfg).stop())
	makeOld(t, cfg)
	s := start(t, cfg)
	s.append(message("M1", "", "a text"))
	require.Len(t, s.log.from(0), 1)
	s.check()
}

func TestVerify_skips(t *testing.T) {
	tests := []struct {
		name   string
		change func(*commit)
		want   string
	}{
		{"another commit is skipped to", func(c *commit) { c.skip.seq-- }, "skips to another"},
		{"the commit that is skipped to had another hash", func(c *commit) { c.skip.hash[5] ^= 1 }, "skips to another"},
		{"a number is left out", func(c *commit) { c.number++ }, "number of the commit"},
		{"the hash is another", func(c *commit) { c.hash[31] ^= 0x80 }, "hash of the commit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := filledDir(t)
			rewrite(t, filepath.Join(cfg.Dir, segmentName(8)), func(tx *bbolt.Tx) error {
				b := tx.Bucket(bucketRecords)
				o, err := readOutline(b.Get(seqKey(10)))
				require.NoError(t, err)
				require.True(t, o.ends)
				tt.change(&o.commit)
				return b.Put(seqKey(10), appendCommit(clone(o.body), o.commit))
			})
			s, err := OpenReadOnly(cfg)
			require.NoError(t, err)
			v, err := s.Verify(context.Background(), nil)
			require.NoError(t, err)
			require.NotNil(t, v.Difference)
			require.Equal(t, segmentName(8), v.Difference.File)
			require.EqualValues(t, 10, v.Difference.Seq)
			require.ErrorContains(t, v.Difference, tt.want)
			require.NoError(t, s.Close())
		})
	}
}
