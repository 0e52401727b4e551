package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

func TestFilter(t *testing.T) {
	const messages = 5000
	f := newFilter(messages)
	require.InDelta(t, messages*filterKeys*filterBits/8, len(f), filterBlock)
	key := func(kind string, i int) keyHash {
		return hashKey(tableIDs, idKey("alpha", receipt.Key(fmt.Sprint(kind, i))))
	}
	for i := range messages * filterKeys {
		require.False(t, i < 10 && f.has(key("in", i)))
		f.add(key("in", i))
	}
	wrong := 0
	for i := range messages * filterKeys {
		require.True(t, f.has(key("in", i)))
		require.Equal(t, -1, f.add(key("in", i)), "it is in already")
		if f.has(key("out", i)) {
			wrong++
		}
	}
	require.Less(t, float64(wrong)/(messages*filterKeys), 0.01)
}

// TestHashKey shows that a look-up by what keys have in common is for all of them.
func TestHashKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref, owner := octets.Draw(t, "ref"), octets.Draw(t, "owner")
		require.Equal(t, hashKey(tableRefs, refKey(kindRef, "", ref)), hashKey(tableRefs, refKey(kindRef, owner, ref)))
		require.NotEqual(t, hashKey(tableRefs, refKey(kindRef, owner, ref)), hashKey(tableRefs, refKey(kindIdempotency, owner, ref)))
		dest := octets.Draw(t, "dest")
		require.Equal(t, hashKey(tableDests, destPrefix(dest)), hashKey(tableDests, appendDestKey(nil, dest, "01JDXW5Q0C8Z4Y3K7M2N9P6R5T")))
	})
}

// filteredLives is a store of so many messages in partitions of three.
func filteredLives(t *testing.T, n int) *running {
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 3
	s := startIn(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	for i := range n {
		facts := lifeTo(fmt.Sprint(393330000000+i), fmt.Sprintf("M%03d", i), fmt.Sprint("id", i), "a text")
		accepted := facts[0].(*statemachine.MessageAccepted)
		accepted.Ref = fmt.Sprint("ref", i)
		_, err := s.Accept(context.Background(), accepted)
		require.NoError(t, err)
		s.append(facts[1:]...)
	}
	return s
}

func TestFilters_find(t *testing.T) {
	ctx := context.Background()
	s := filteredLives(t, 20)
	all := func() {
		t.Helper()
		for i := range 20 {
			id := statemachine.ID(fmt.Sprintf("M%03d", i))
			for _, owner := range []string{"", "uid:0"} {
				found, err := s.MessageByRef(ctx, owner, fmt.Sprint("ref", i))
				require.NoError(t, err)
				require.Len(t, found, 1)
				require.Equal(t, id, found[0].ID)
			}
			found, err := s.MessagesByExternalID(ctx, "alpha", fmt.Sprint("id", i))
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Equal(t, id, found[0].ID)
			for _, oldest := range []bool{false, true} {
				found, _, err = s.Messages(ctx, Filter{To: fmt.Sprint("+", 393330000000+i), OldestFirst: oldest})
				require.NoError(t, err)
				require.Len(t, found, 1)
				require.Equal(t, id, found[0].ID)
			}
			again, err := s.Accept(ctx, message("N"+string(id), fmt.Sprint("ref", i), "a text"))
			require.NoError(t, err)
			require.True(t, again.Existing)
			require.Equal(t, id, again.Message)
		}
	}
	all()
	s.filters.reset() // as after a start
	all()
}

// TestFilters_oldTransaction reads a filter as it was, behind a batch that could not be written: who reads what came
// since finds that all the same.
func TestFilters_oldTransaction(t *testing.T) {
	ctx := context.Background()
	s := filteredLives(t, 9)
	require.NoError(t, s.Sync(ctx))
	require.NoError(t, s.viewWritten(func(old *stateTx) error {
		s.append( // a new id for a message whose partition is sealed
			&statemachine.Sent{Message: "M000", Part: 1, Attempt: 2, SMSC: "alpha", Session: "alpha/1", SequenceNumber: 8, PDU: requestPDU(submitSM, 0, "ACME", someDest, "a text")},
			&statemachine.SubmitResp{Message: "M000", Part: 1, Attempt: 2, SMSC: "alpha", MessageID: "late"},
		)
		require.NoError(t, s.Sync(ctx))
		s.filters.reset()
		parts, err := readPartitions(old)
		require.NoError(t, err)
		holding, err := old.holding(parts, tableIDs, idKey("alpha", "late"))
		require.NoError(t, err)
		require.Equal(t, parts, holding, "any may")
		return nil
	}))
	found, err := s.MessagesByExternalID(ctx, "alpha", "late")
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// TestFilters_holding shows which partitions are looked into.
func TestFilters_holding(t *testing.T) {
	s := filteredLives(t, 20)
	require.NoError(t, s.Sync(context.Background()))
	require.NoError(t, s.view(func(tx *stateTx) error {
		parts, err := readPartitions(tx)
		require.NoError(t, err)
		require.Len(t, parts, 7)
		holding, err := tx.holding(parts, tableIDs, idKey("alpha", "nobody has it"))
		require.NoError(t, err)
		require.Equal(t, parts[6:], holding)
		holding, err = tx.holding(parts, tableRefs, refKey(kindRef, "", "ref4"))
		require.NoError(t, err)
		require.Equal(t, partitions{parts[1], parts[6]}, holding)
		return nil
	}))
}

// TestFilters_lateKeys gives ids to messages whose partition was sealed long ago.
func TestFilters_lateKeys(t *testing.T) {
	ctx := context.Background()
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 1
	s := startIn(t, cfg)
	_, err := s.SetRules(ctx, rulesOf("1"))
	require.NoError(t, err)
	const n = 6
	facts := make([][]statemachine.Fact, n)
	for i := range n {
		facts[i] = life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")
		s.append(facts[i][0])
	}
	for i := range n {
		if i%2 == 0 {
			require.NoError(t, s.Sync(ctx)) // one batch, or two
		}
		s.append(facts[i][1:3]...)
	}
	s.filters.reset()
	for i := range n {
		s.append(facts[i][3])
		m, err := s.Message(ctx, statemachine.ID(fmt.Sprint("M", i)))
		require.NoError(t, err)
		require.Equal(t, statemachine.Delivered, m.State)
	}
}

// TestFilters_afterFailure shows that what a batch added that was not committed is forgotten.
func TestFilters_afterFailure(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 1
	s := start(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	for i := range 4 {
		s.append(life(fmt.Sprint("M", i), fmt.Sprint("id", i), "a text")...)
	}
	require.NoError(t, s.stop())

	db, err := createState(filepath.Join(t.TempDir(), stateFile), origin{partition: 1}, true)
	require.NoError(t, err)
	defer db.Close()
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	defer r.Close()
	a := newApplier(db, "scratch", new(filters), r.fold(), r.viewRecord)
	failed := errors.New("no more")
	err = a.run(func(seq uint64) ([]statemachine.Record, error) {
		if seq > 10 {
			return nil, failed
		}
		rec, err := r.Record(context.Background(), seq)
		return []statemachine.Record{rec}, err
	}, nil)
	require.ErrorIs(t, err, failed)
	require.Empty(t, a.filters.groups)
}

// TestFilters_verify takes a key's bits out of a filter.
func TestFilters_verify(t *testing.T) {
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 1
	s := start(t, cfg)
	s.append(message("M1", "", "a text"), message("M2", "", "a text"))
	require.NoError(t, s.Sync(context.Background()))
	require.NoError(t, s.stop())
	id := tableID{table: tableFilters}
	rewrite(t, filepath.Join(cfg.Dir, stateFile), func(tx *bbolt.Tx) error {
		return tx.Bucket(id.name()).Bucket(id.partName()).Put(blockKey(0), make([]byte, filterBlock))
	})
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	v, err := r.Verify(context.Background(), nil)
	require.NoError(t, err)
	require.ErrorContains(t, v.Difference, "a row of filters is not what the log says")
	require.NoError(t, r.view(func(tx *stateTx) error {
		c := comparison{v: &verifier{s: r}}
		whole, err := c.wholeFilter(tx, 0)
		require.NoError(t, err)
		require.False(t, whole)
		return nil
	}))
	require.NoError(t, r.Close())
}

// drawIndexing draws messages of which some come late, and ids that come and go.
func drawIndexing(t *rapid.T) (all []statemachine.Effects) {
	for i := range rapid.IntRange(1, 30).Draw(t, "effects") {
		var eff statemachine.Effects
		if rapid.Bool().Draw(t, "new") {
			id := statemachine.ID(fmt.Sprintf("M%03d", i))
			if rapid.IntRange(0, 4).Draw(t, "early") == 0 {
				id = "A" + id
			}
			eff.Messages = []statemachine.MessageChange{{Message: &statemachine.Message{ID: id, To: dests.Draw(t, "to"), Ref: string(id)}}}
		} else {
			ref := statemachine.AttemptRef{Message: statemachine.ID(fmt.Sprintf("M%03d", rapid.IntRange(0, i).Draw(t, "of"))), Part: 1, Attempt: 1}
			eff.Index = []statemachine.IndexEntry{{Account: "alpha", Key: receipt.Key(external.Draw(t, "id")), Ref: ref, Remove: rapid.Bool().Draw(t, "remove")}}
		}
		all = append(all, eff)
	}
	return all
}

func TestFilters_anyBatches(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		all := drawIndexing(t)
		var dumps [2]map[string]string
		for i := range dumps {
			n++
			dir := filepath.Join(base, fmt.Sprint(n))
			require.NoError(t, os.Mkdir(dir, 0o700))
			e := effectedIn(t, dir, 2)
			for left := all; len(left) > 0; {
				size := 1
				if i == 1 {
					size = rapid.IntRange(1, len(left)).Draw(t, "batch")
				}
				e.take(left[:size]...)
				left = left[size:]
				if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
					e.filters.reset()
				}
			}
			dumps[i] = dump(t, e.Store)
			require.NoError(t, e.state.Close())
		}
		same(t, dumps[0], dumps[1])
	})
}

// BenchmarkMiss looks for ids and refs that nobody has, in one transaction, as the applier and the writer do: with
// filters, and as it would be without. Partitions of 2000 messages make what is without look better than it is.
func BenchmarkMiss(b *testing.B) {
	const messages = 2000
	for _, parts := range []int{1, 20, 100} {
		e := effectedIn(b, b.TempDir(), messages)
		for p := range parts {
			effects := make([]statemachine.Effects, messages)
			for i := range effects {
				id := statemachine.ID(fmt.Sprintf("01JDX%021d", p*messages+i))
				ref := statemachine.AttemptRef{Message: id, Part: 1, Attempt: 1}
				m := &statemachine.Message{ID: id, To: fmt.Sprintf("39333%07d", i), Ref: string(id[5:])}
				effects[i].Messages = []statemachine.MessageChange{{Message: m}}
				effects[i].Index = []statemachine.IndexEntry{{Account: "alpha", Key: receipt.Key(fmt.Sprintf("%x-%d", i*2654435761%(1<<32), p)), Ref: ref}}
			}
			e.take(effects...)
		}
		err := e.view(func(tx *stateTx) error {
			all, err := readPartitions(tx)
			require.NoError(b, err)
			require.Len(b, all, parts)
			look := func(name string, t table, holding func([]byte) (partitions, error), key func(i int) []byte) {
				b.Run(fmt.Sprintf("partitions=%d/%s", parts, name), func(b *testing.B) {
					for i := range b.N {
						k := key(i)
						in, err := holding(k)
						require.NoError(b, err)
						for _, p := range in {
							if tx.get(p.table(t), k) != nil {
								b.Fatal("found")
							}
						}
					}
				})
			}
			id := func(i int) []byte { return idKey("alpha", receipt.Key(fmt.Sprintf("no-%d", i))) }
			ref := func(i int) []byte { return refKey(kindRef, "uid:0", fmt.Sprintf("no-%d", i)) }
			every := func([]byte) (partitions, error) { return all, nil }
			look("id/without", tableIDs, every, id)
			look("id/filters", tableIDs, func(k []byte) (partitions, error) { return tx.holding(all, tableIDs, k) }, id)
			b.Run(fmt.Sprintf("partitions=%d/heads", parts), func(b *testing.B) {
				for range b.N {
					_, err := tx.heads()
					require.NoError(b, err)
				}
			})
			look("ref/without", tableRefs, every, ref)
			look("ref/filters", tableRefs, func(k []byte) (partitions, error) { return tx.holding(all, tableRefs, k) }, ref)
			return nil
		})
		require.NoError(b, errors.Join(err, e.state.Close()))
	}
}
