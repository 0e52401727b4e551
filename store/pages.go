package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"syscall"
)

// bbolt trusts its file: it follows page numbers and offsets wherever they lead, and opening a segment
// for writing does so in a goroutine of bbolt's where no panic can be caught. So the pages are looked at
// first, each step checked. The layout is bbolt's, little-endian as on all machines that esmed is built
// for:
//
//	page:   id 8, flags 2, count 2, overflow 4, then count elements, then keys and values
//	meta:   magic 4, version 4, page size 4, flags 4, root 8, sequence 8, freelist 8, high water 8, txid 8, FNV-64a 8
//	branch: offset 4 (from the element), key size 4, page 8
//	leaf:   flags 4, offset 4, key size 4, value size 4
//	freelist: count elements of 8; a count of 0xFFFF: the first element is the count
//	bucket: root 8 (0: a page follows inline), sequence 8
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2

	pageHeader    = 16
	elementSize   = 16
	bucketHeader  = 16
	metaSize      = 64
	metaTxid      = 48
	metaChecked   = 56 // octets that the checksum covers
	branchPage    = 0x01
	leafPage      = 0x02
	freelistPage  = 0x10
	bucketElement = 0x01

	maxDepth     = 64      // of a tree; bbolt's are under 10 deep
	maxPageSize  = 1 << 16 // bbolt takes the system's
	minBoltPages = 2
)

var le = binary.LittleEndian

type boltMeta struct {
	pageSize  int
	root      uint64
	freelist  uint64 // page; all ones: it is not synced
	highWater uint64 // number of pages in use
	txid      uint64
	slot      int // which of the two meta pages it is
}

// readMeta reads a meta page's content, after the page header.
func readMeta(b []byte) (boltMeta, error) {
	sum := fnv.New64a()
	sum.Write(b[:metaChecked])
	switch {
	case le.Uint32(b) != boltMagic:
		return boltMeta{}, errors.New("not a store file")
	case le.Uint32(b[4:]) != boltVersion:
		return boltMeta{}, fmt.Errorf("bbolt version %d", le.Uint32(b[4:]))
	case le.Uint64(b[metaChecked:]) != sum.Sum64():
		return boltMeta{}, errors.New("checksum of a meta page")
	}
	m := boltMeta{pageSize: int(le.Uint32(b[8:])), root: le.Uint64(b[16:]), freelist: le.Uint64(b[32:]), highWater: le.Uint64(b[40:]), txid: le.Uint64(b[48:])}
	if m.pageSize < 1024 || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0 {
		return m, fmt.Errorf("page size %d", m.pageSize)
	}
	return m, nil
}

// readMetas gives the newer of the two meta pages. spoilt is what is wrong with the other one, which a
// power cut may leave so without harm.
func readMetas(f *os.File) (m boltMeta, spoilt, err error) {
	m, _, spoilt, err = readBothMetas(f)
	return m, spoilt, err
}

// readBothMetas gives the older one as well, unless it is spoilt.
func readBothMetas(f *os.File) (newer, older boltMeta, spoilt, err error) {
	size := os.Getpagesize()
	var b [2][pageHeader + metaSize]byte
	if _, err := f.ReadAt(b[0][:], 0); err != nil {
		return newer, older, nil, errors.New("too short for a store file")
	}
	first, err0 := readMeta(b[0][pageHeader:])
	if err0 == nil {
		size = first.pageSize
	}
	if _, err := f.ReadAt(b[1][:], int64(size)); err != nil {
		return newer, older, nil, errors.New("too short for a store file")
	}
	second, err1 := readMeta(b[1][pageHeader:])
	second.slot = 1
	switch {
	case err0 != nil && err1 != nil:
		return newer, older, nil, err0
	case err1 != nil || err0 == nil && first.txid > second.txid:
		return first, second, err1, nil
	}
	return second, first, err0, nil
}

// checkHeader finds what no bbolt file is, and one that was cut short. It gives how many octets are in use.
func checkHeader(path, file string) (used int64, err error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	m, _, err := readMetas(f)
	if err == nil {
		used, err = m.used(f)
	}
	if err != nil {
		return 0, &DamagedError{File: file, Err: err}
	}
	return used, nil
}

// used is how many octets are in use; an error when the file is shorter.
func (m boltMeta) used(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if m.highWater > uint64(info.Size())/uint64(m.pageSize) {
		return 0, fmt.Errorf("%d octets long where %d pages are in use", info.Size(), m.highWater)
	}
	return int64(m.highWater) * int64(m.pageSize), nil
}

// checkPages walks all pages of a file that nobody writes. strict also refuses a spoilt meta page.
func checkPages(path, file string, strict bool) error {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	m, spoilt, err := readMetas(f)
	if err == nil && strict {
		err = spoilt
	}
	if err == nil {
		err = walkPages(f, file, m)
	}
	if err != nil {
		var at uint64
		var page *pageError
		if errors.As(err, &page) {
			at, _ = seqOf(page.low) // the keys of a segment's records are seqs
		}
		return &DamagedError{File: file, Seq: at, Err: err}
	}
	return nil
}

func walkPages(f *os.File, file string, m boltMeta) error {
	size, err := m.used(f)
	if err != nil {
		return err
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	defer syscall.Munmap(data)
	w := pageWalk{data: data, meta: m, seen: make([]uint64, m.highWater/64+1)}
	return guard(file, func() error {
		err := w.page(m.root, nil, nil, 0)
		var page *pageError
		if errors.As(err, &page) {
			page.low = clone(page.low) // data goes
		}
		return err
	})
}

// pageError says which page is wrong, and the least key that it may hold; nil = any.
type pageError struct {
	id  uint64
	low []byte
	err error
}

func (e *pageError) Error() string { return fmt.Sprintf("page %d: %v", e.id, e.err) }

func (e *pageError) Unwrap() error { return e.err }

var errTooDeep = errors.New("tree too deep")

type pageWalk struct {
	data []byte
	meta boltMeta
	seen []uint64 // one bit a page
}

// page walks the tree under a page whose keys must be from low on and below high; nil = no bound.
func (w *pageWalk) page(id uint64, low, high []byte, depth int) error {
	if depth > maxDepth {
		return &pageError{id, low, errTooDeep}
	}
	b, err := w.read(id)
	if err != nil {
		return &pageError{id, low, err}
	}
	leads, err := readElements(b, low, high)
	if err != nil {
		return &pageError{id, low, err}
	}
	for i, e := range leads {
		if e.bucket != nil {
			err = w.bucket(e.bucket, depth+1)
		} else {
			next := high
			if i+1 < len(leads) {
				next = leads[i+1].key
			}
			err = w.page(e.child, e.key, next, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *pageWalk) bucket(value []byte, depth int) error {
	if len(value) < bucketHeader {
		return errors.New("bucket without header")
	}
	if root := le.Uint64(value); root != 0 {
		return w.page(root, nil, nil, depth)
	}
	if len(value) < bucketHeader+pageHeader {
		return errors.New("inline bucket without page")
	}
	_, err := readElements(value[bucketHeader:], nil, nil)
	return err
}

// read gives a page with its overflow pages, and refuses one that was met before.
func (w *pageWalk) read(id uint64) ([]byte, error) {
	b, err := w.peek(id)
	if err != nil {
		return nil, err
	}
	for i := id; i < id+uint64(len(b)/w.meta.pageSize); i++ {
		if w.seen[i/64]&(1<<(i%64)) != 0 {
			return nil, errors.New("used twice")
		}
		w.seen[i/64] |= 1 << (i % 64)
	}
	return b, nil
}

// peek gives a page with its overflow pages.
func (w *pageWalk) peek(id uint64) ([]byte, error) {
	if id < minBoltPages || id >= w.meta.highWater {
		return nil, errors.New("no such page")
	}
	size := uint64(w.meta.pageSize)
	b := w.data[id*size:]
	overflow := uint64(le.Uint32(b[12:]))
	if le.Uint64(b) != id || overflow >= w.meta.highWater-id {
		return nil, fmt.Errorf("names itself %d, with %d more", le.Uint64(b), overflow)
	}
	return b[:(overflow+1)*size], nil
}

// below is what a page leads to: a child of a branch, or a bucket in a leaf.
type below struct {
	key    []byte
	child  uint64
	bucket []byte
}

// readElements gives what a page leads to.
func readElements(b, low, high []byte) (leads []below, err error) {
	err = eachElement(b, low, high, func(e element) error {
		switch {
		case e.branch:
			leads = append(leads, below{key: e.key, child: e.child})
		case e.bucket:
			leads = append(leads, below{bucket: e.value})
		}
		return nil
	})
	return leads, err
}

// element is one of a page.
type element struct {
	key, value     []byte
	child          uint64
	branch, bucket bool // neither: key and value
}

// eachElement checks a page's elements, whose keys must ascend from low on and stay below high, and hands them out.
func eachElement(b, low, high []byte, fn func(element) error) error {
	flags, count := le.Uint16(b[8:]), int(le.Uint16(b[10:]))
	if flags != branchPage && flags != leafPage || pageHeader+count*elementSize > len(b) || flags == branchPage && count == 0 {
		return fmt.Errorf("%d elements of kind %#x", count, flags)
	}
	last := low
	for i := range count {
		at := pageHeader + i*elementSize
		el := b[at : at+elementSize]
		e := element{branch: flags == branchPage}
		var kind uint32
		var offset, keySize, valueSize uint64
		if e.branch {
			offset, keySize, e.child = uint64(le.Uint32(el)), uint64(le.Uint32(el[4:])), le.Uint64(el[8:])
		} else {
			kind = le.Uint32(el)
			offset, keySize, valueSize = uint64(le.Uint32(el[4:])), uint64(le.Uint32(el[8:])), uint64(le.Uint32(el[12:]))
		}
		start := uint64(at) + offset
		if kind > bucketElement || start < uint64(pageHeader+count*elementSize) || start+keySize+valueSize > uint64(len(b)) {
			return fmt.Errorf("element %d lies outside", i)
		}
		e.key, e.value, e.bucket = b[start:start+keySize], b[start+keySize:start+keySize+valueSize], kind == bucketElement
		order := bytes.Compare(e.key, last)
		if order < 0 || order == 0 && i > 0 || high != nil && bytes.Compare(e.key, high) >= 0 {
			return fmt.Errorf("element %d out of order", i)
		}
		last = e.key
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}
