package store

// arenaChunk is how much an arena grows by.
const arenaChunk = 128 << 10

// arena keeps octets in chunks, which never move: what it holds stays as it is until reset.
type arena struct {
	chunks [][]byte
	at     int // of the chunk that is being filled; those behind are empty
}

// span is where octets lie in an arena.
type span struct{ chunk, start, size uint32 }

// keep copies octets into the arena.
func (a *arena) keep(b []byte) span {
	for a.at < len(a.chunks) && cap(a.chunks[a.at])-len(a.chunks[a.at]) < len(b) {
		a.at++
	}
	if a.at == len(a.chunks) {
		a.chunks = append(a.chunks, make([]byte, 0, max(arenaChunk, len(b))))
	}
	c := a.chunks[a.at]
	a.chunks[a.at] = append(c, b...)
	return span{uint32(a.at), uint32(len(c)), uint32(len(b))}
}

// bytes are those of a span, good until reset. Nothing can be appended to them in place.
func (a *arena) bytes(s span) []byte {
	return a.chunks[s.chunk][s.start : s.start+s.size : s.start+s.size]
}

// size is about how much is in it, in whole chunks.
func (a *arena) size() int { return a.at * arenaChunk }

// reset forgets everything. The room is used again.
func (a *arena) reset() {
	for i := range a.chunks {
		a.chunks[i] = a.chunks[i][:0]
	}
	a.at = 0
}
