package store

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"syscall"
)

// filterGroupSize is how many filters lie across each other: the bits of a word.
const filterGroupSize = 32

// filterGroup holds the filters of partitions whose numbers follow each other so that each word has the same bit of
// all: a look-up reads some words for filterGroupSize partitions, and not some octets far apart for each.
type filterGroup struct {
	dir    string                            // where its words may lie; "": in memory
	blocks filterBlocks                      // of each filter
	words  [len(filteredIndexes)]filterWords // by the number of a bit in a filter; nil while none has a key of the index
	loaded uint32                            // the partitions whose filter is here
}

// filterWords are of 32 bits, little-endian.
type filterWords []byte

const (
	wordSize   = 4
	blockWords = blockBits * wordSize // octets
)

func (w filterWords) at(i uint16) uint32 { return le.Uint32(w[int(i)*wordSize:]) }

func (w filterWords) set(i int, bits uint32) {
	word := w[i*wordSize:][:wordSize]
	le.PutUint32(word, le.Uint32(word)|bits)
}

// column is the bit that stands for a partition in every word.
func column(number uint32) uint32 { return 1 << (number % filterGroupSize) }

func (g *filterGroup) has(number uint32) bool { return g.loaded&column(number) != 0 }

// block gives the words of the block that has a key's bits. The index has words.
func (g *filterGroup) block(h *keyHash) filterWords {
	n := h.blockOf(g.blocks[h.index])
	return g.words[h.index][n*blockWords:][:blockWords]
}

// having are the columns of the filters that know a key.
func (g *filterGroup) having(h *keyHash) uint32 {
	if g.words[h.index] == nil {
		return 0
	}
	block, have := g.block(h), g.loaded
	for _, bit := range h.places() {
		if have &= block.at(bit); have == 0 {
			break
		}
	}
	return have
}

// room makes that of an index. What lies in a file is given back when nobody has the group any more.
func (g *filterGroup) room(index int) {
	if g.words[index] != nil {
		return
	}
	size := g.blocks[index] * blockWords
	if g.dir != "" {
		if w := spill(g.dir, size); w != nil {
			runtime.AddCleanup(g, func(w []byte) { _ = syscall.Munmap(w) }, w)
			g.words[index] = w
			return
		}
	}
	g.words[index] = make(filterWords, size)
}

// put takes a whole filter. What was there of it stays: here a filter's bits are only ever set.
func (g *filterGroup) put(number uint32, f *filter) {
	for id, block := range f.blocks() {
		if block == nil {
			continue
		}
		g.room(id.index)
		to := g.words[id.index][id.number*blockWords:][:blockWords]
		for at := 0; at < blockBits; at += 64 {
			for set := binary.LittleEndian.Uint64(block[at/8:]); set != 0; set &= set - 1 {
				to.set(at+bits.TrailingZeros64(set), column(number))
			}
		}
	}
	g.loaded |= column(number)
}

// filter is one of them by itself.
func (g *filterGroup) filter(number uint32) *filter {
	f, shift := newFilter(g.blocks), number%filterGroupSize
	for i, w := range g.words {
		for at := 0; at < len(w); at += 8 * wordSize {
			var octet byte
			for bit, eight := 0, w[at:][:8*wordSize]; bit < 8; bit++ {
				octet |= byte(le.Uint32(eight[bit*wordSize:])>>shift&1) << bit
			}
			f[i][at/wordSize/8] = octet
		}
	}
	return f
}

// open begins the filter of a partition that has no key yet.
func (g *filterGroup) open(number uint32) { g.loaded |= column(number) }

// add is filter.add.
func (g *filterGroup) add(number uint32, h *keyHash) {
	g.room(h.index)
	block := g.block(h)
	for _, bit := range h.places() {
		block.set(int(bit), column(number))
	}
}

// drop forgets a filter whose partition's number is not given again; true when it was the last one.
func (g *filterGroup) drop(number uint32) bool {
	g.loaded &^= column(number)
	return g.loaded == 0
}
