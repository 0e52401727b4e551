package store

import (
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
)

// ErrCutShort says that the newest commit of the log is there in part: the power went while it was written, and nobody
// was answered. Open sets it aside; a store that is opened read-only cannot.
var ErrCutShort = errors.New("the log's last commit was cut short")

// lookAtLast looks at the last segment of a log, if it has any.
func lookAtLast(dir string, write bool, least uint64) (cut bool, err error) {
	firsts, _, err := listSegments(dir)
	if n := len(firsts); n > 0 && err == nil {
		cut, err = lookAt(dir, segmentName(firsts[n-1]), write, least)
	}
	return cut, err
}

// lookAt looks at the segment that records were last appended to, unless it was closed in good order. Of its two
// versions the newest that holds what its tip says is to be opened, and with write it is made durable and the only
// one; cut says that this is not the newer one. Records up to least were durable: without them it is damage.
func lookAt(dir, name string, write bool, least uint64) (cut bool, err error) {
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR
	}
	f, err := openFile(filepath.Join(dir, name), flag)
	if err != nil {
		return false, err
	}
	defer f.Close()
	newer, older, spoilt, err := readBothMetas(f)
	if err != nil {
		return false, &DamagedError{File: name, Err: err}
	}
	if spoilt == nil && settled(newer, older) {
		return false, nil
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	err = mapVersions(f.Fd(), info.Size(), name, func(data []byte) error {
		v, wrong := holding(data, newer)
		switch {
		case wrong == nil && write && v.tip.last >= least:
			return v.settle(f)
		case wrong == nil, errors.Is(wrong, errNoTip): // that one bbolt's own fsyncs keep whole
			return nil
		}
		if spoilt == nil {
			v, spoilt = holding(data, older)
		}
		switch {
		case errors.Is(wrong, ErrNewerFormat) && spoilt != nil:
			return wrong
		case spoilt != nil || v.tip.last < least:
			return damagedVersion(name, wrong)
		case !write:
			return ErrCutShort
		}
		cut = true
		return settle(f, older)
	})
	return cut, err
}

// holding gives a version that holds what its tip says. In a segment that is not too large to be appended to again
// all pages are looked at.
func holding(data []byte, m boltMeta) (*version, error) {
	v, err := readVersion(data, m)
	if err == nil {
		err = v.prove()
	}
	if err == nil && m.highWater*uint64(m.pageSize) <= reopenBytes {
		all := pageWalk{data: data, meta: m, seen: make([]uint64, len(v.seen))}
		err = all.page(m.root, nil, nil, 0)
	}
	return v, err
}

func damagedVersion(file string, err error) error {
	damaged := &DamagedError{File: file, Err: err}
	var record *recordError
	var page *pageError
	switch {
	case errors.As(err, &record):
		damaged.Seq, damaged.Err = record.seq, record.err
	case errors.As(err, &page):
		damaged.Seq, _ = seqOf(page.low)
		page.low = nil // it lies in the file's map
	}
	return damaged
}

// settled reports whether both meta pages lead to the same version.
func settled(newer, older boltMeta) bool {
	return newer.root == older.root && newer.highWater == older.highWater && newer.pageSize == older.pageSize
}

// settle makes the newer version durable, and then the only one. It writes anew what its transaction wrote: where an
// fsync failed the system may take for written what is not on the disk.
func (v *version) settle(f *os.File) error {
	page := make([]byte, v.meta.pageSize)
	write := func(id uint64) error {
		at := int64(id) * int64(len(page))
		copy(page, v.data[at:])
		_, err := f.WriteAt(page, at)
		return err
	}
	for id := range v.meta.highWater {
		if v.seen[id/64]&(1<<(id%64)) == 0 {
			continue
		}
		if err := write(id); err != nil {
			return err
		}
	}
	if err := write(uint64(v.meta.slot)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return settle(f, v.meta)
}

// settle makes the other meta page lead to a version that is durable as well: no other one is left.
func settle(f *os.File, m boltMeta) error {
	b := make([]byte, pageHeader+metaSize)
	if _, err := f.ReadAt(b, int64(m.slot)*int64(m.pageSize)); err != nil {
		return err
	}
	other := 1 - m.slot
	le.PutUint64(b, uint64(other))
	meta := b[pageHeader:]
	le.PutUint64(meta[metaTxid:], m.txid-1)
	sum := fnv.New64a()
	sum.Write(meta[:metaChecked])
	le.PutUint64(meta[metaChecked:], sum.Sum64())
	if _, err := f.WriteAt(b, int64(other)*int64(m.pageSize)); err != nil {
		return err
	}
	return f.Sync()
}

// settleClosed settles a segment that nobody has open any more, and whose newer version is durable. Where there is no
// room for that it stays as it is, to be looked at.
func settleClosed(path string) error {
	f, err := openFile(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	newer, older, spoilt, err := readBothMetas(f)
	if err != nil || spoilt == nil && settled(newer, older) {
		return err
	}
	if err := diskFull(settle(f, newer)); !errors.Is(err, ErrDiskFull) {
		return err
	}
	return nil
}
