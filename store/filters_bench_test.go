package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkFilters asks the filters of so many sealed partitions about keys that none has.
func BenchmarkFilters(b *testing.B) {
	for _, n := range []int{2, 20, 200} {
		b.Run(fmt.Sprintf("partitions=%d", n), func(b *testing.B) {
			fs := new(filters)
			sealed := make(partitions, n)
			random := rand.NewChaCha8([32]byte{})
			for i := range sealed {
				f := newFilter(DefaultPartitionMessages)
				for range DefaultPartitionMessages * filterKeys {
					f.add(hashKey(tableIDs, binary.BigEndian.AppendUint64(nil, random.Uint64())))
				}
				sealed[i] = &partition{number: uint32(i)}
				fs.put(uint32(i), f)
			}
			var key [8]byte
			found, before := 0, cpu()
			for b.Loop() {
				binary.BigEndian.PutUint64(key[:], random.Uint64())
				holding, _ := fs.narrow(sealed, hashKey(tableIDs, key[:]))
				found += len(holding)
			}
			b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(found)/float64(b.N)/float64(n), "false")
		})
	}
}
