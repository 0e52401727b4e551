package store

// filterGroupSize is how many filters lie across each other: the bits of a word.
const filterGroupSize = 32

// filterGroup holds the filters of partitions whose numbers follow each other so that each word has the same bit of
// all: a look-up reads filterHashes words for filterGroupSize partitions, and not some octets far apart for each.
type filterGroup struct {
	words  []uint32 // by the number of a bit in a filter
	loaded uint32   // the partitions whose filter is here
}

// newFilterGroup makes room for filters like f.
func newFilterGroup(f filter) *filterGroup { return &filterGroup{words: make([]uint32, len(f)*8)} }

// column is the bit that stands for a partition in every word.
func column(number uint32) uint32 { return 1 << (number % filterGroupSize) }

func (g *filterGroup) has(number uint32) bool { return g.loaded&column(number) != 0 }

// blockOf gives the words of the block that has a key's bits, with its number.
func (g *filterGroup) blockOf(h keyHash) (n int, words []uint32) {
	const bits = filterBlock * 8
	n = int(h[0] % uint64(len(g.words)/bits))
	return n, g.words[n*bits : (n+1)*bits]
}

// having are the columns of the filters that know a key.
func (g *filterGroup) having(h keyHash) uint32 {
	_, words := g.blockOf(h)
	have := g.loaded
	for _, bit := range h[1:] {
		if have &= words[bit%uint64(len(words))]; have == 0 {
			break
		}
	}
	return have
}

// put takes a whole filter. What was there of it stays: a filter's bits are only ever set.
func (g *filterGroup) put(number uint32, f filter) {
	shift := number % filterGroupSize
	for i, octet := range f {
		words := g.words[8*i : 8*i+8]
		for bit := range words {
			words[bit] |= uint32(octet>>bit&1) << shift
		}
	}
	g.loaded |= column(number)
}

// add is filter.add.
func (g *filterGroup) add(number uint32, h keyHash) int {
	if g.having(h)&column(number) != 0 {
		return -1
	}
	n, words := g.blockOf(h)
	for _, bit := range h[1:] {
		words[bit%uint64(len(words))] |= column(number)
	}
	return n
}

// block gives a block of a filter as it is stored.
func (g *filterGroup) block(number uint32, n int) []byte {
	const bits = filterBlock * 8
	b := make([]byte, filterBlock)
	shift := number % filterGroupSize
	for i, word := range g.words[n*bits : (n+1)*bits] {
		b[i/8] |= byte(word>>shift&1) << (i % 8)
	}
	return b
}

// drop forgets a filter whose partition's number is not given again; true when it was the last one.
func (g *filterGroup) drop(number uint32) bool {
	g.loaded &^= column(number)
	return g.loaded == 0
}
