package store

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"

	"github.com/bits-and-blooms/bloom/v3"
)

// A filter says of a sealed partition which keys its indexes do not have: a Bloom filter for each index. It follows
// from the keys that the indexes have now, from nothing that was before. It comes in blocks, each key having all its
// bits in one, so that a late key changes one block of the file.
type filter [len(filteredIndexes)][]byte

// filteredIndex says what a filter spends on an index: so much that of hundreds of partitions that lack a key rarely one
// is looked into, where that is asked for every message.
type filteredIndex struct {
	table  table
	room   uint64 // bits for each message that a partition takes
	hashes int    // how many bits a key sets, filterHashes at most
}

// filteredIndexes are in the order of their tables, which follow each other.
var filteredIndexes = [...]filteredIndex{
	{tableIDs, 20, 7},
	{tableRefs, 16, 7},
	{tableDests, 8, 4},
}

const (
	filterBlock  = 1 << 10 // octets
	blockBits    = 8 * filterBlock
	placeBits    = 13 // of a hash, that say which of blockBits
	filterHashes = 8
)

// blocks is how many the filter of such an index has, in a partition of so many messages.
func (x filteredIndex) blocks(messages uint64) int {
	return int((messages*x.room + blockBits - 1) / blockBits)
}

// filterBlocks are how many blocks a filter has of each index.
type filterBlocks [len(filteredIndexes)]int

// blocksFor are those of a partition of so many messages.
func blocksFor(messages uint64) (n filterBlocks) {
	for i, index := range filteredIndexes {
		n[i] = index.blocks(messages)
	}
	return n
}

// newFilter makes an empty one.
func newFilter(blocks filterBlocks) *filter {
	f := new(filter)
	for i, n := range blocks {
		f[i] = make([]byte, n*filterBlock)
	}
	return f
}

// size is what newFilter made it with.
func (f *filter) size() (n filterBlocks) {
	for i := range f {
		n[i] = len(f[i]) / filterBlock
	}
	return n
}

// keyHash is where a key's bits are, in a filter of any size.
type keyHash struct {
	index int    // in filteredIndexes
	block uint64 // as a fraction of all, of 1<<64
	place [filterHashes]uint16
}

// hashKey hashes what all keys for one thing have in common: of a ref not the owner, of a destination's
// messages not their ids.
func hashKey(t table, key []byte) keyHash {
	switch t {
	case tableRefs:
		if length, n := binary.Uvarint(key[1:]); n > 0 && length <= uint64(len(key)-1-n) { // else it was cut
			key = key[:1+n+int(length)]
		}
	case tableDests:
		key = key[:bytes.LastIndexByte(key, 0)+1]
	}
	var room [64]byte
	from := bloom.Locations(append(append(room[:0], tableNames[t][0]), key...), 3)
	h := keyHash{index: int(t - tableIDs), block: from[0]}
	for i := range h.place {
		word := from[1+i/4]
		h.place[i] = uint16(word >> (i % 4 * placeBits) % blockBits)
	}
	return h
}

// places are the key's bits in its block.
func (h *keyHash) places() []uint16 { return h.place[:filteredIndexes[h.index].hashes] }

// blockOf is the number of the block, of so many, that has the key's bits.
func (h *keyHash) blockOf(blocks int) int {
	n, _ := bits.Mul64(h.block, uint64(blocks))
	return int(n)
}

func (f *filter) block(h *keyHash) []byte {
	all := f[h.index]
	return all[h.blockOf(len(all)/filterBlock)*filterBlock:][:filterBlock]
}

func (f *filter) has(h *keyHash) bool {
	block := f.block(h)
	for _, bit := range h.places() {
		if block[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

func (f *filter) add(h *keyHash) { h.addTo(f.block(h)) }

// addTo sets the key's bits in its block.
func (h *keyHash) addTo(block []byte) {
	for _, bit := range h.places() {
		block[bit/8] |= 1 << (bit % 8)
	}
}

// blockID names a block as it is stored.
type blockID struct{ index, number int }

// key is the index's letter, the same that is hashed, and the number.
func (id blockID) key() []byte {
	letter := tableNames[filteredIndexes[id.index].table][0]
	return binary.BigEndian.AppendUint32([]byte{letter}, uint32(id.number))
}

// blocks are all of a filter's, in the order of the indexes; nil those of an index that has no key, of which none is
// stored: where no message has a ref, that is a third of all.
func (f *filter) blocks() iter.Seq2[blockID, []byte] {
	return func(yield func(blockID, []byte) bool) {
		for i, all := range f {
			empty := !slices.ContainsFunc(all, func(octet byte) bool { return octet != 0 })
			for n := range len(all) / filterBlock {
				block := all[n*filterBlock:][:filterBlock]
				if empty {
					block = nil
				}
				if !yield(blockID{i, n}, block) {
					return
				}
			}
		}
	}
}

// addKeys adds those of an index's rows that take, if not nil, wants.
func (f *filter) addKeys(tx *stateTx, p *partition, t table, take func(key []byte) bool) error {
	return tx.scan(p.table(t), nil, nil, false, func(key, _ []byte) error {
		if take == nil || take(key) {
			h := hashKey(t, key)
			f.add(&h)
		}
		return nil
	})
}

// readFilter reads a sealed partition's.
func readFilter(tx *stateTx, p *partition) (*filter, error) {
	m, err := readStateMeta(tx)
	if err != nil {
		return nil, err
	}
	f, next := newFilter(blocksFor(m.partition)), [len(filteredIndexes)]int{}
	err = tx.scan(p.table(tableFilters), nil, nil, false, func(key, value []byte) error {
		for i := range f {
			to := next[i] * filterBlock
			if to < len(f[i]) && len(value) == filterBlock && bytes.Equal(key, blockID{i, next[i]}.key()) {
				copy(f[i][to:], value)
				next[i]++
				return nil
			}
		}
		return errMalformed
	})
	for i, n := range next {
		if err == nil && n > 0 && n*filterBlock != len(f[i]) {
			err = errMalformed
		}
	}
	return f, err
}

// hasAllKeys reports whether a stored filter has the keys of its partition's indexes.
func hasAllKeys(tx *stateTx, p *partition) (bool, error) {
	f, err := readFilter(tx, p)
	whole := true
	for _, index := range filteredIndexes {
		if err == nil {
			err = tx.scan(p.table(index.table), nil, nil, false, func(key, _ []byte) error {
				h := hashKey(index.table, key)
				whole = whole && f.has(&h)
				return nil
			})
		}
	}
	return whole, err
}
