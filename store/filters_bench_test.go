package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkFilters asks the filters of so many sealed partitions, each full and with an id, a ref and a number for each
// message: about keys that none has ("miss"), where it tells how many partitions would be looked into for nothing, and
// about keys that one has ("hit"). What a message takes in memory counts groups in whole.
func BenchmarkFilters(b *testing.B) {
	const most = 200
	random := rand.NewChaCha8([32]byte{})
	keys := map[table]func() []byte{
		tableIDs: func() []byte {
			var id [16]byte
			binary.BigEndian.PutUint64(id[:], random.Uint64())
			binary.BigEndian.PutUint64(id[8:], random.Uint64())
			return appendPairKey(nil, "alpha", fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]))
		},
		tableRefs:  func() []byte { return refKey(kindRef, "uid:0", fmt.Sprintf("order-%d", random.Uint64())) },
		tableDests: func() []byte { return destPrefix(fmt.Sprintf("39%010d", random.Uint64()%1e10)) },
	}
	fs, all, held := &filters{dir: b.TempDir()}, make(partitions, most+1), make(map[table][][]byte)
	for i := range all {
		all[i] = &partition{number: uint32(i)}
		if i == most {
			break
		}
		f := newFilter(blocksFor(DefaultPartitionMessages))
		for _, index := range filteredIndexes {
			for n := range DefaultPartitionMessages {
				key := keys[index.table]()
				h := hashKey(index.table, key)
				f.add(&h)
				if n < 50 {
					held[index.table] = append(held[index.table], key)
				}
			}
		}
		fs.put(uint32(i), f)
	}
	octets := 0
	for _, g := range fs.groups {
		for _, words := range g.words {
			octets += len(words)
		}
	}
	size := 8 * float64(octets) / most / DefaultPartitionMessages
	for _, n := range []int{20, 100, most} {
		for _, index := range filteredIndexes {
			miss := make([][]byte, 100_000)
			for i := range miss {
				miss[i] = keys[index.table]()
			}
			for name, asked := range map[string][][]byte{"miss": miss, "hit": held[index.table][:50*n]} {
				b.Run(fmt.Sprintf("partitions=%d/%s/%s", n, tableNames[index.table], name), func(b *testing.B) {
					tx := newStateTx(nil)
					tx.filters = fs.now()
					b.ReportAllocs()
					found, before, i := 0, cpu(), 0
					for b.Loop() {
						holding, err := tx.holding(all[:n+1], index.table, asked[i%len(asked)])
						if err != nil {
							b.Fatal(err)
						}
						found += len(holding) - 1
						i++
					}
					b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
					b.ReportMetric(float64(found)/float64(b.N), "found")
					b.ReportMetric(size, "bits/message")
				})
			}
		}
	}
	require.Nil(b, fs.unread(all[:most]))
}

// BenchmarkFilterGroup puts a full filter into a group, as is done for each behind a start.
func BenchmarkFilterGroup(b *testing.B) {
	f := newFilter(blocksFor(DefaultPartitionMessages))
	for n := range DefaultPartitionMessages {
		for _, index := range filteredIndexes {
			h := hashKey(index.table, fmt.Appendf(nil, "%d\x00", n))
			f.add(&h)
		}
	}
	g, number := &filterGroup{blocks: f.size()}, uint32(0)
	for b.Loop() {
		g.put(number, f)
		number++
	}
}
