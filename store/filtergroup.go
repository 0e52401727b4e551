package store

import (
	"encoding/binary"
	"math/bits"
)

// filterGroupSize is how many filters lie across each other: the bits of a word.
const filterGroupSize = 32

// filterGroup holds the filters of partitions whose numbers follow each other so that each word has the same bit of
// all: a look-up reads some words for filterGroupSize partitions, and not some octets far apart for each.
type filterGroup struct {
	blocks [len(filteredIndexes)]int      // of each filter
	words  [len(filteredIndexes)][]uint32 // by the number of a bit in a filter; nil while none has a key of the index
	loaded uint32                         // the partitions whose filter is here
}

// newFilterGroup makes room for filters like f.
func newFilterGroup(f *filter) *filterGroup {
	g := new(filterGroup)
	for i := range f {
		g.blocks[i] = len(f[i]) / filterBlock
	}
	return g
}

// column is the bit that stands for a partition in every word.
func column(number uint32) uint32 { return 1 << (number % filterGroupSize) }

func (g *filterGroup) has(number uint32) bool { return g.loaded&column(number) != 0 }

// block gives the words of the block that has a key's bits. The index has words.
func (g *filterGroup) block(h *keyHash) *[blockBits]uint32 {
	n := h.blockOf(g.blocks[h.index])
	return (*[blockBits]uint32)(g.words[h.index][n*blockBits:])
}

// having are the columns of the filters that know a key.
func (g *filterGroup) having(h *keyHash) uint32 {
	if g.words[h.index] == nil {
		return 0
	}
	block, have := g.block(h), g.loaded
	for _, bit := range h.places() {
		if have &= block[bit%blockBits]; have == 0 {
			break
		}
	}
	return have
}

// room makes that of an index.
func (g *filterGroup) room(index int) {
	if g.words[index] == nil {
		g.words[index] = make([]uint32, g.blocks[index]*blockBits)
	}
}

// put takes a whole filter. What was there of it stays: here a filter's bits are only ever set.
func (g *filterGroup) put(number uint32, f *filter) {
	for id, block := range f.blocks() {
		if block == nil {
			continue
		}
		g.room(id.index)
		words := (*[blockBits]uint32)(g.words[id.index][id.number*blockBits:])
		for at := 0; at < blockBits; at += 64 {
			for set := binary.LittleEndian.Uint64(block[at/8:]); set != 0; set &= set - 1 {
				words[at+bits.TrailingZeros64(set)] |= column(number)
			}
		}
	}
	g.loaded |= column(number)
}

// add is filter.add.
func (g *filterGroup) add(number uint32, h *keyHash) {
	g.room(h.index)
	block := g.block(h)
	for _, bit := range h.places() {
		block[bit%blockBits] |= column(number)
	}
}

// drop forgets a filter whose partition's number is not given again; true when it was the last one.
func (g *filterGroup) drop(number uint32) bool {
	g.loaded &^= column(number)
	return g.loaded == 0
}
