package smpptest

import "strconv"

// Sum is a hash of octets, or a sum of such that says, in any order, what was hashed: 16 hex digits as text.
type Sum uint64

// FNV-1a, 64 bits.
const (
	fnvOffset Sum = 14695981039346656037
	fnvPrime  Sum = 1099511628211
)

func addOctets[T string | []byte](h Sum, octets T) Sum {
	for i := range len(octets) {
		h = (h ^ Sum(octets[i])) * fnvPrime
	}
	return h
}

// Fingerprint is what Stats.TextSum adds up: the FNV-1a hash of a submit's destination_addr, a NUL, and
// the octets of its text.
func Fingerprint[D, T string | []byte](dest D, text T) Sum {
	return addOctets(addOctets(fnvOffset, dest)*fnvPrime, text)
}

// sum is the FNV-1a hash by which the truth names octets.
func sum(octets []byte) string { return addOctets(fnvOffset, octets).String() }

// String gives 16 hex digits.
func (s Sum) String() string {
	b, _ := s.MarshalText()
	return string(b)
}

// MarshalText implements encoding.TextMarshaler.
func (s Sum) MarshalText() ([]byte, error) {
	b := make([]byte, 16)
	for i := range b {
		b[i] = "0123456789abcdef"[s>>(60-4*i)&15]
	}
	return b, nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sum) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*s = Sum(n)
	return err
}
