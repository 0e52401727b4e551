package store

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
)

// version is one of the two that a segment's file has, page by page as a meta page leads to it: without bbolt,
// which knows the newer one only and trusts it.
type version struct {
	pageWalk
	tip     tip
	head    []byte // values of the buckets
	records []byte

	format, first uint64 // as the head has them
	chain         chain  // before the first record
}

// errNoTip says that a segment is of a format without tips.
var errNoTip = errors.New("its newest version has no tip")

// readVersion reads what a version begins with, and refuses one that is not what its transaction made.
func readVersion(data []byte, m boltMeta) (*version, error) {
	if m.highWater*uint64(m.pageSize) > uint64(len(data)) {
		return nil, fmt.Errorf("%d octets long where %d pages are in use", len(data), m.highWater)
	}
	v := &version{pageWalk: pageWalk{data: data, meta: m, seen: make([]uint64, m.highWater/64+1)}}
	b, err := v.read(m.root)
	if err != nil {
		return nil, &pageError{m.root, nil, err}
	}
	var names [][]byte
	var values [][]byte
	err = eachElement(b, nil, nil, func(e element) error {
		if !e.bucket {
			return errors.New("no bucket")
		}
		names, values = append(names, e.key), append(values, e.value)
		return nil
	})
	name := func(i int, want []byte) bool { return i < len(names) && bytes.Equal(names[i], want) }
	switch {
	case err != nil:
		return nil, &pageError{m.root, nil, err}
	case !name(0, bucketHead) || !name(1, bucketRecords):
		return nil, &pageError{m.root, nil, errors.New("not a log segment")}
	case len(names) == 2:
		return nil, errNoTip
	case len(names) > 3 || !name(2, bucketTip):
		return nil, &pageError{m.root, nil, errors.New("not a log segment")}
	}
	v.head, v.records = values[0], values[1]
	return v, v.readTip(values[2])
}

func (v *version) readTip(bucket []byte) error {
	err := v.each(bucket, func(key, value []byte) (err error) {
		if !bytes.Equal(key, keyTip) {
			return errors.New("its tip is malformed")
		}
		v.tip, err = readTip(value)
		return err
	})
	if err != nil {
		return err
	}
	sum, err := headSum(func(add func(key, value []byte) error) error {
		return v.each(v.head, func(key, value []byte) error { return errors.Join(add(key, value), v.note(key, value)) })
	})
	switch {
	case err != nil:
		return err
	case v.format > formatVersion:
		return ErrNewerFormat
	case v.tip.txid != v.meta.txid:
		return fmt.Errorf("its tip is of transaction %d, not %d", v.tip.txid, v.meta.txid)
	case sum != v.tip.head:
		return errors.New("its head is not what the tip says")
	}
	return nil
}

// note keeps of the head what the proof of the records begins with.
func (v *version) note(key, value []byte) (err error) {
	switch {
	case bytes.Equal(key, keyFormat):
		v.format, _ = seqOf(value)
	case bytes.Equal(key, keyFirst):
		v.first, _ = seqOf(value)
	case bytes.Equal(key, keyChain):
		copy(v.chain.head[:], value)
	case bytes.Equal(key, keySkips):
		v.chain.skips, err = readSkips(value)
	}
	return err
}

// each hands out the keys and values of a bucket that holds no others.
func (v *version) each(bucket []byte, fn func(key, value []byte) error) error {
	b, root, err := inline(bucket)
	if err != nil {
		return err
	}
	if root != 0 {
		return v.eachOf(root, nil, nil, 0, fn)
	}
	return eachElement(b, nil, nil, func(e element) error {
		if e.branch || e.bucket {
			return errNoValue
		}
		return fn(e.key, e.value)
	})
}

var errNoValue = errors.New("holds what is no value")

// inline gives the page that a bucket's value has in itself, or that of its root.
func inline(bucket []byte) (page []byte, root uint64, err error) {
	switch {
	case len(bucket) < bucketHeader:
		return nil, 0, errors.New("bucket without header")
	case le.Uint64(bucket) != 0:
		return nil, le.Uint64(bucket), nil
	case len(bucket) < bucketHeader+pageHeader:
		return nil, 0, errors.New("inline bucket without page")
	}
	return bucket[bucketHeader:], 0, nil
}

func (v *version) eachOf(id uint64, low, high []byte, depth int, fn func(key, value []byte) error) error {
	if depth > maxDepth {
		return &pageError{id, low, errTooDeep}
	}
	b, err := v.read(id)
	if err != nil {
		return &pageError{id, low, err}
	}
	var children []below
	err = eachElement(b, low, high, func(e element) error {
		switch {
		case e.bucket:
			return errNoValue
		case e.branch:
			children = append(children, below{key: e.key, child: e.child})
			return nil
		}
		return fn(e.key, e.value)
	})
	for i := 0; i < len(children) && err == nil; i++ {
		next := high
		if i+1 < len(children) {
			next = children[i+1].key
		}
		err = v.eachOf(children[i].child, children[i].key, next, depth+1, fn)
	}
	return err
}

// ends gives the first and the last key under a page, for which it reads no page but those that lead there.
func (v *version) ends(id uint64) (first, last []byte, err error) {
	if first, err = v.end(id, false); err == nil {
		last, err = v.end(id, true)
	}
	return first, last, err
}

func (v *version) end(id uint64, last bool) (key []byte, err error) {
	for range maxDepth {
		b, err := v.peek(id)
		if err != nil {
			return nil, &pageError{id, nil, err}
		}
		found, n := element{bucket: true}, 0
		err = eachElement(b, nil, nil, func(e element) error {
			if n++; last || n == 1 {
				found = e
			}
			return nil
		})
		switch {
		case err != nil:
			return nil, &pageError{id, nil, err}
		case found.bucket:
			return nil, &pageError{id, nil, errNoValue}
		case !found.branch:
			return found.key, nil
		}
		id = found.child
	}
	return nil, errTooDeep
}

// mapVersions lends fn the content of a file as far as it goes.
func mapVersions(fd uintptr, size int64, file string, fn func(data []byte) error) error {
	data, err := syscall.Mmap(int(fd), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	defer syscall.Munmap(data)
	return guard(file, func() error { return fn(data) })
}
