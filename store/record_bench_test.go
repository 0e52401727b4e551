package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"esmed/statemachine"
)

// rawLimit is how many of these records, as they stand in the log, a second a plain file takes, appended with
// one fdatasync a group.
func rawLimit(b *testing.B, records [][]byte, group int) float64 {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	require.NoError(b, err)
	defer f.Close()
	var data []byte
	n, from := 0, time.Now()
	for time.Since(from) < time.Second/2 {
		data = data[:0]
		for i := range group {
			data = append(data, records[(n+i)%len(records)]...)
		}
		_, err := f.Write(data)
		require.NoError(b, err)
		require.NoError(b, unix.Fdatasync(int(f.Fd())))
		n += group
	}
	return float64(n) / time.Since(from).Seconds()
}

// newest are up to n of the last records of the log.
func (r *running) newest(n uint64) (records [][]byte) {
	end := r.end.Load()
	require.NoError(r.t, r.journal.readFrom(end+1-min(end, n), func(_ uint64, value []byte) (bool, error) {
		records = append(records, clone(value))
		return true, nil
	}))
	return records
}

// rawRecords is how many records rawLimit is given.
const rawRecords = 1 << 14

// lifeRecord is one of a life's records, with what it takes to encode it.
type lifeRecord struct {
	statemachine.Record
	spans []Span
	key   *sealKey
}

// lifeRecords are the records of lives, in their order.
func lifeRecords(t tb, lives int) (records []lifeRecord) {
	key, err := newSealKey(1, make([]byte, secretSize))
	require.NoError(t, err)
	for n := range lives {
		for _, fact := range lifeN(n) {
			r := lifeRecord{Record: statemachine.Record{Seq: uint64(len(records) + 1), At: began, Fact: fact}}
			if pdu := sealedPDU(fact); len(pdu) > 0 {
				r.spans = textSpans(pdu, nil)
			}
			if hasText(fact, r.spans) {
				r.key = key
			}
			records = append(records, r)
		}
	}
	return records
}

func (r *lifeRecord) append(e *encoder, b []byte) []byte {
	b, err := e.appendRecord(b, r.Record, r.spans, r.key)
	if err != nil {
		panic(err)
	}
	return b
}

func (r *lifeRecord) name() string {
	o, err := readOutline(r.append(new(encoder), nil))
	if err != nil {
		panic(err)
	}
	return string(typeOf(o.fact))
}

// BenchmarkEncode is a record into room that is used again, its text sealed.
func BenchmarkEncode(b *testing.B) {
	for _, r := range lifeRecords(b, 1) {
		b.Run(r.name(), func(b *testing.B) {
			var e encoder
			buf := r.append(&e, nil)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf = r.append(&e, buf[:0])
			}
		})
	}
}

// BenchmarkDecode is a record as it stands in the log, its text unsealed.
func BenchmarkDecode(b *testing.B) {
	for _, r := range lifeRecords(b, 1) {
		b.Run(r.name(), func(b *testing.B) {
			value := r.append(new(encoder), nil)
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				e, err := decodeRecord(r.Seq, value)
				require.NoError(b, err)
				e.unseal(r.key)
			}
		})
	}
}

// BenchmarkAppend is the log alone: records of lives that are encoded already.
func BenchmarkAppend(b *testing.B) {
	var e encoder
	var encoded [][]byte
	for _, r := range lifeRecords(b, 4096) {
		value := r.append(&e, make([]byte, 0, 1024)) // with room for the commit
		encoded = append(encoded, value)
	}
	for _, group := range []int{1, 16, 128, 1024} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			dir := b.TempDir()
			require.NoError(b, makeDir(filepath.Join(dir, logDir)))
			l, err := openLog(dir, true, DefaultSegmentRecords, 0)
			require.NoError(b, err)
			require.NoError(b, l.begin())
			defer l.close()
			values := make([][]byte, group)
			b.ReportAllocs()
			b.ResetTimer()
			before, n := cpu(), 0
			for b.Loop() {
				for i := range values {
					values[i] = encoded[n%len(encoded)]
					n++
				}
				require.NoError(b, l.append(began, values, nil))
			}
			rate := float64(n) / b.Elapsed().Seconds()
			b.ReportMetric(float64(cpu()-before)/float64(n)/1000, "cpu-us/record")
			b.ReportMetric(rate, "records/s")
			b.ReportMetric(rate/rawLimit(b, encoded, group), "of-raw")
		})
	}
}

// BenchmarkChain is the hash of a record in its commit, and that of a commit of 128.
func BenchmarkChain(b *testing.B) {
	value := make([]byte, 300)
	b.Run("record", func(b *testing.B) {
		var c chain
		b.ReportAllocs()
		for b.Loop() {
			c.add(hashRecord(1, value))
			c.abandon()
		}
	})
	b.Run("commit", func(b *testing.B) {
		var c chain
		b.ReportAllocs()
		for seq := uint64(128); b.Loop(); seq += 128 {
			for range 128 {
				c.add(hash{})
			}
			c.follow(c.next(seq), seq)
		}
	})
}
