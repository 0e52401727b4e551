package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// rawLimit is what the disk and one goroutine can do with the records that a run left: appended to a plain
// file in groups of the size that the run's commits had, each followed by fdatasync. Nothing is indexed.
type rawLimit struct {
	Records int     `json:"records"`
	Octets  float64 `json:"octets_per_record"`
	Group   int     `json:"group"` // records
	Lives   float64 `json:"lives_per_second"`
	SyncP50 float64 `json:"sync_p50_us"`
	SyncP99 float64 `json:"sync_p99_us"`
	Ratio   float64 `json:"ratio"` // of the run's lives a second to Lives
}

// rawFor bounds how long it is measured.
const rawFor = 3 * time.Second

// measureRaw appends the newest records of a log, which nobody has open, to a file beside it. perLife is how many
// records a life has.
func measureRaw(logDir, file string, records, group int, perLife, rate float64) (rawLimit, error) {
	r := rawLimit{Group: max(group, 1)}
	newest, err := newestRecords(logDir, records)
	if err != nil || len(newest) == 0 {
		return r, err
	}
	f, err := os.Create(file)
	if err != nil {
		return r, err
	}
	defer os.Remove(file)
	defer f.Close()
	var syncs []time.Duration
	var buf []byte
	octets := 0
	began := time.Now()
	for at := 0; at < len(newest) && time.Since(began) < rawFor; at += r.Group {
		buf = buf[:0]
		for _, record := range newest[at:min(at+r.Group, len(newest))] {
			buf = append(buf, record...)
			r.Records++
		}
		octets += len(buf)
		start := time.Now()
		if _, err := f.Write(buf); err != nil {
			return r, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return r, fmt.Errorf("fdatasync: %w", err)
		}
		syncs = append(syncs, time.Since(start))
	}
	took := time.Since(began).Seconds()
	slices.Sort(syncs)
	r.Octets = float64(octets) / float64(r.Records)
	r.SyncP50, r.SyncP99 = micros(quantile(syncs, 0.5)), micros(quantile(syncs, 0.99))
	r.Lives = float64(r.Records) / max(perLife, 1) / took
	r.Ratio = rate / r.Lives
	return r, nil
}

// newestRecords are the values of at most n records of a log's segments, in their order (see package store).
func newestRecords(dir string, n int) ([][]byte, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var newest [][]byte
	for _, file := range slices.Backward(files) {
		db, err := bbolt.Open(file, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		err = db.View(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("records"))
			if b == nil {
				return errors.New("no records")
			}
			c := b.Cursor()
			for k, v := c.Last(); k != nil && len(newest) < n; k, v = c.Prev() {
				newest = append(newest, slices.Clone(v))
			}
			return nil
		})
		if err = errors.Join(err, db.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		if len(newest) >= n {
			break
		}
	}
	slices.Reverse(newest)
	return newest, nil
}

// quantile is that of sorted durations; 0 if there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
