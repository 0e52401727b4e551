package store

import (
	"bytes"
	"encoding/binary"

	"github.com/bits-and-blooms/bloom/v3"
)

// A filter is a Bloom filter of the keys of a sealed partition's indexes: what it does not know is not in
// them. It holds those that were there when the partition was sealed, and those put since; none is ever
// taken out, so that it follows from the log in whichever batches. It comes in blocks, each key having all
// its bits in one, so that a late key changes one block of the file.
const (
	filterBits   = 12 // of room for a key …
	filterKeys   = 3  // … of which a message has so many: an id, a ref, a destination
	filterHashes = 6
	filterBlock  = 1 << 10 // octets
)

// filteredTables are the indexes that a filter knows the keys of.
var filteredTables = [...]table{tableIDs, tableRefs, tableDests}

type filter []byte

// newFilter makes an empty one for a partition of so many messages.
func newFilter(messages uint64) filter {
	const bits = filterBlock * 8
	return make(filter, (messages*filterKeys*filterBits+bits-1)/bits*filterBlock)
}

// keyHash is where a key's bits are, in a filter of any size.
type keyHash []uint64

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
	return bloom.Locations(append(append(room[:0], tableNames[t][0]), key...), filterHashes+1)
}

// block is the one that has the key's bits, with its number.
func (f filter) block(h keyHash) (n int, block []byte) {
	n = int(h[0] % uint64(len(f)/filterBlock))
	return n, f[n*filterBlock : (n+1)*filterBlock]
}

func (f filter) has(h keyHash) bool {
	_, block := f.block(h)
	for _, bit := range h[1:] {
		bit %= filterBlock * 8
		if block[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// add gives the block that it changed; -1 when it had the key.
func (f filter) add(h keyHash) int {
	if f.has(h) {
		return -1
	}
	n, block := f.block(h)
	for _, bit := range h[1:] {
		bit %= filterBlock * 8
		block[bit/8] |= 1 << (bit % 8)
	}
	return n
}

func blockKey(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// readFilter reads a sealed partition's.
func readFilter(tx *stateTx, p *partition) (filter, error) {
	m, err := readStateMeta(tx)
	if err != nil {
		return nil, err
	}
	f, n := newFilter(m.partition), 0
	err = tx.scan(p.table(tableFilters), nil, nil, false, func(key, value []byte) error {
		if !bytes.Equal(key, blockKey(n)) || len(value) != filterBlock || (n+1)*filterBlock > len(f) {
			return errMalformed
		}
		copy(f[n*filterBlock:], value)
		n++
		return nil
	})
	if err == nil && n*filterBlock != len(f) {
		err = errMalformed
	}
	return f, err
}

// hasAllKeys reports whether a stored filter has the keys of its partition's indexes.
func hasAllKeys(tx *stateTx, p *partition) (bool, error) {
	f, err := readFilter(tx, p)
	whole := true
	for _, t := range filteredTables {
		if err == nil {
			err = tx.scan(p.table(t), nil, nil, false, func(key, _ []byte) error {
				whole = whole && f.has(hashKey(t, key))
				return nil
			})
		}
	}
	return whole, err
}
