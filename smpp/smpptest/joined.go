package smpptest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// Joined is a message as a handset puts it together from the submits that were taken on.
type Joined struct {
	Source, Dest string
	By           Joining
	Ref          uint16 // of the parts
	DataCoding   byte
	Text         string // "" of binary ones
	Octets       []byte // of all parts, without what joins them; other elements of a header stand in front
	Parts        int    // that it says it has

	Submits  []uint64 // Submit.N of all that belongs to it, in the order in which it came
	Missing  []int    // parts that never came
	Repeated []int    // parts that came again, as often as they did
	Faults   []string // what no handset reads as it was meant: half a character at a part's end, say
}

// Whole says whether every part came once and can be read.
func (j *Joined) Whole() bool { return len(j.Missing)+len(j.Repeated)+len(j.Faults) == 0 }

// Join puts messages together, in the order in which their first submits came; what was refused is left
// out. zero is the alphabet that data_coding 0 means; "" is GSM7. It shares no code with what an ESME
// splits with.
func Join(submits []Submit, zero Alphabet) []Joined {
	var all []*joining
	open := map[joiningKey]*joining{}
	for i := range submits {
		s := &submits[i]
		if s.number == 0 {
			continue
		}
		p := s.part()
		_, several := p.several()
		key := joiningKey{s.Source.Addr, s.Dest.Addr, p.by, p.ref, p.of}
		j := open[key]
		if j == nil || !several || j.other(p) {
			j = newJoining(s, p)
			open[key] = j
			all = append(all, j)
		}
		j.add(s, p)
	}
	out := make([]Joined, 0, len(all))
	for _, j := range all {
		out = append(out, j.join(cmp.Or(zero, GSM7)))
	}
	return out
}

// joiningKey is what the parts of one message have in common.
type joiningKey struct {
	source, dest string
	by           Joining
	ref          uint16
	of           int
}

// joining is a message of which parts come.
type joining struct {
	Joined
	parts map[int]part
}

func newJoining(s *Submit, p part) *joining {
	return &joining{Joined{Source: s.Source.Addr, Dest: s.Dest.Addr, By: p.by, Ref: p.ref, DataCoding: s.DataCoding, Parts: p.of}, map[int]part{}}
}

// other says whether a part is one of another message, whose reference is the same by chance: this one
// has another text there.
func (j *joining) other(p part) bool {
	have, ok := j.parts[p.n]
	return ok && !bytes.Equal(have.octets, p.octets)
}

func (j *joining) add(s *Submit, p part) {
	j.Submits = append(j.Submits, s.N)
	if _, again := j.parts[p.n]; again {
		j.Repeated = append(j.Repeated, p.n)
		return
	}
	j.parts[p.n] = p
	if p.fault != "" {
		j.Faults = append(j.Faults, p.fault)
	}
	if s.DataCoding != j.DataCoding {
		j.Faults = append(j.Faults, fmt.Sprintf("part %d has data_coding %#x, the first that came %#x", p.n, s.DataCoding, j.DataCoding))
	}
}

func (j *joining) join(zero Alphabet) Joined {
	for n := 1; n <= j.Parts; n++ {
		p, ok := j.parts[n]
		if !ok {
			j.Missing = append(j.Missing, n)
			continue
		}
		text, fault := decodeText(p.octets, alphabetOf(j.DataCoding, zero))
		if fault != "" {
			j.Faults = append(j.Faults, fmt.Sprintf("part %d: %s", n, fault))
		}
		j.Text += text
		j.Octets = slices.Concat(j.Octets, p.inHeader, p.octets)
	}
	return j.Joined
}
