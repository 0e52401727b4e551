package store

import (
	"bytes"
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

// TestFilter counts how often a filter that is as full as it gets errs: over 200 partitions an id that is in none leads into
// less than 0.1 of them, a ref into less than 0.3, a number into less than 7.
func TestFilter(t *testing.T) {
	const messages, asked = DefaultPartitionMessages, 200_000
	f := newFilter(blocksFor(messages))
	key := func(index table, kind string, i int) *keyHash {
		h := hashKey(index, fmt.Appendf(nil, "%s%d\x00", kind, i))
		return &h
	}
	octets := 0
	for i, index := range filteredIndexes {
		octets += len(f[i])
		for i := range messages {
			f.add(key(index.table, "in", i))
		}
	}
	require.InDelta(t, 44, float64(octets*8)/messages, 0.5, "bits a message")
	for _, tt := range []struct {
		index table
		most  float64
	}{{tableIDs, 0.1}, {tableRefs, 0.3}, {tableDests, 7}} {
		for i := range messages {
			require.True(t, f.has(key(tt.index, "in", i)))
		}
		wrong := 0
		for i := range asked {
			if f.has(key(tt.index, "out", i)) {
				wrong++
			}
		}
		require.Less(t, 200*float64(wrong)/asked, tt.most, tableNames[tt.index])
	}
}

// TestFilter_stored reads back what is stored: of an index all blocks or none.
func TestFilter_stored(t *testing.T) {
	e := effectedIn(t, t.TempDir(), 2000)
	defer e.state.Close()
	p := new(partition)
	f := newFilter(blocksFor(2000))
	for _, index := range []table{tableIDs, tableDests} {
		h := hashKey(index, []byte("a key\x00"))
		f.add(&h)
	}
	id := p.table(tableFilters)
	require.NoError(t, e.state.Update(func(bolt *bbolt.Tx) error {
		return replaceFilter(newStateTx(bolt), id, nil, f)
	}))
	read := func() (got *filter, err error) {
		err = e.view(func(tx *stateTx) error {
			got, err = readFilter(tx, p)
			return err
		})
		return got, err
	}
	got, err := read()
	require.NoError(t, err)
	require.Equal(t, f, got)
	for _, spoil := range []func(*stateTx) error{
		func(tx *stateTx) error { return tx.put(id, blockID{1, 1}.key(), make([]byte, filterBlock)) },
		func(tx *stateTx) error { return tx.put(id, blockID{0, 99}.key(), make([]byte, filterBlock)) },
		func(tx *stateTx) error { return tx.put(id, blockID{0, 0}.key(), nil) },
		func(tx *stateTx) error { return tx.delete(id, blockID{0, 0}.key()) },
		func(tx *stateTx) error { return tx.delete(id, blockID{0, len(f[0])/filterBlock - 1}.key()) },
	} {
		require.NoError(t, e.state.Update(func(bolt *bbolt.Tx) error {
			tx := newStateTx(bolt)
			return errors.Join(replaceFilter(tx, id, nil, f), spoil(tx))
		}))
		_, err = read()
		require.Error(t, err)
		require.NoError(t, e.state.Update(func(bolt *bbolt.Tx) error {
			return bolt.Bucket(id.name()).DeleteBucket(id.partName())
		}))
	}
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
		require.Empty(t, holding)
		holding, err = tx.holding(parts, tableRefs, refKey(kindRef, "", "ref4"))
		require.NoError(t, err)
		require.Equal(t, partitions{parts[1]}, holding)
		holding, err = tx.holding(parts, tableRefs, refKey(kindRef, "", "ref19"))
		require.NoError(t, err)
		require.Equal(t, partitions{parts[6]}, holding)
		return nil
	}))
	s.filters.reset() // as after a start: the open one has no filter, and may have all
	require.NoError(t, s.view(func(tx *stateTx) error {
		parts, err := readPartitions(tx)
		require.NoError(t, err)
		holding, err := tx.holding(parts, tableIDs, idKey("alpha", "nobody has it"))
		require.NoError(t, err)
		require.Equal(t, parts[6:], holding)
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
		return tx.Bucket(id.name()).Bucket(id.partName()).Put(blockID{2, 0}.key(), make([]byte, filterBlock))
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

// filtersAreOfKeys requires that the filters that are stored follow from what the indexes hold, and nothing else.
func filtersAreOfKeys(t tb, s *Store) {
	t.Helper()
	require.NoError(t, s.view(func(tx *stateTx) error {
		parts, err := readPartitions(tx)
		require.NoError(t, err)
		m, err := readStateMeta(tx)
		require.NoError(t, err)
		for _, p := range parts[:max(1, len(parts))-1] {
			want := newFilter(blocksFor(m.partition))
			for _, index := range filteredIndexes {
				require.NoError(t, want.addKeys(tx, p, index.table, nil))
			}
			got, err := readFilter(tx, p)
			require.NoError(t, err)
			require.Equal(t, want, got, "partition %d", p.number)
		}
		return nil
	}))
}

// idTakenBack is a store in which the message of a sealed partition had an id, "76", that a person gave it, until the SMSC
// gave it another, "77".
func idTakenBack(t *testing.T) *running {
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 1
	s := start(t, cfg)
	_, err := s.SetRules(context.Background(), rulesOf("1"))
	require.NoError(t, err)
	facts := life("M1", "77", "a text")
	doubt := s.append(facts[0], message("M2", "ref2", "a text"), facts[1],
		&statemachine.AttemptInDoubt{Message: "M1", Part: 1, Attempt: 1, SMSC: "alpha", Cause: "timeout"})[3]
	s.append(&statemachine.Operator{
		Action: statemachine.ActionAccepted, By: "uid:0", Exception: fmt.Sprint("x", doubt.Seq), MessageID: "76",
	})
	found, err := s.MessagesByExternalID(context.Background(), "alpha", "76")
	require.NoError(t, err)
	require.Len(t, found, 1)
	s.append(facts[2])
	for id, want := range map[string]int{"76": 0, "77": 1} {
		found, err := s.MessagesByExternalID(context.Background(), "alpha", id)
		require.NoError(t, err)
		require.Len(t, found, want, id)
	}
	return s
}

// TestFilters_takenBack takes away a key of a sealed partition.
func TestFilters_takenBack(t *testing.T) {
	s := idTakenBack(t)
	filtersAreOfKeys(t, s.Store)
	require.NoError(t, s.view(func(tx *stateTx) error {
		parts, err := readPartitions(tx)
		require.NoError(t, err)
		rules := rulesOf("1")
		was := hashKey(tableIDs, externalKeys(&rules, "alpha", "76")[0])
		f, err := readFilter(tx, parts[0])
		require.NoError(t, err)
		require.False(t, f.has(&was))
		found, missing := tx.filters.narrow(nil, parts[:1], &was)
		require.Nil(t, missing)
		require.Equal(t, parts[:1], found, "a transaction that is older may have it")
		return nil
	}))
	madeAnew(t, s)
}

// TestUpgrade_filters makes filters anew that have a key that is there no more.
func TestUpgrade_filters(t *testing.T) {
	s := idTakenBack(t)
	want, cfg := dump(t, s.Store), s.cfg
	require.NoError(t, s.stop())
	rewrite(t, filepath.Join(cfg.Dir, stateFile), func(bolt *bbolt.Tx) error {
		tx, id := newStateTx(bolt), tableID{table: tableFilters}
		return errors.Join(
			bolt.Bucket(id.name()).DeleteBucket(id.partName()),
			newStateTx(bolt).put(id, make([]byte, 4), bytes.Repeat([]byte{0x55}, filterBlock)), // as format 3 named its blocks
			tx.put(tableID{table: tableMeta}, metaFormat, seqKey(3)),
		)
	})
	r, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	same(t, want, dump(t, r))
	verifies(t, r)
	require.NoError(t, r.Close())
	s = start(t, cfg)
	same(t, want, dump(t, s.Store))
	filtersAreOfKeys(t, s.Store)
	madeAnew(t, s)
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
			filtersAreOfKeys(t, e.Store)
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
