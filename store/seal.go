package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"

	"esmed/receipt"
	"esmed/statemachine"
)

// Texts are sealed where they stand, octet for octet, by AES-256 in counter mode. A key seals the texts
// of one hour of one process, so that no counter is used twice: seq and the count of the field within
// its record make it (8 octets and 4, then 4 that count blocks), and a seq is given again only by a
// process that was started later, or after a failed commit, which makes the key be changed.

// sealKey is one key of the keys directory.
type sealKey struct {
	name  uint64 // when it was made, seconds since 1970; unique
	block cipher.Block
}

func newSealKey(name uint64, secret []byte) (*sealKey, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return &sealKey{name, block}, nil
}

// longText is from where on a stream of the library's is worth the half kilobyte that it takes.
const longText = 1024

// sealRoom is scratch for xor. It is lent: what a cipher.Block is given goes to the heap.
type sealRoom [2 * aes.BlockSize]byte

// xor seals what is clear and unseals what is sealed, in place.
func (k *sealKey) xor(b []byte, seq uint64, field uint32, room *sealRoom) {
	counter, pad := room[:aes.BlockSize], room[aes.BlockSize:]
	binary.BigEndian.PutUint64(counter, seq)
	binary.BigEndian.PutUint32(counter[8:], field)
	binary.BigEndian.PutUint32(counter[12:], 0) // the block
	if len(b) >= longText {
		cipher.NewCTR(k.block, counter).XORKeyStream(b, b)
		return
	}
	for block := uint32(0); len(b) > 0; block++ {
		binary.BigEndian.PutUint32(counter[12:], block)
		k.block.Encrypt(pad, counter)
		b = b[subtle.XORBytes(b, b, pad):]
	}
}

// fieldSealer seals the texts of one record, in the order in which they are met.
type fieldSealer struct {
	key   *sealKey // nil: texts stay as they are
	seq   uint64
	field uint32
	room  sealRoom
}

// last seals the last n octets of b.
func (s *fieldSealer) last(b []byte, n int) {
	if n == 0 {
		return
	}
	if s.key != nil {
		s.key.xor(b[len(b)-n:], s.seq, s.field, &s.room)
	}
	s.field++
}

func (s *fieldSealer) spans(pdu []byte, spans []Span) {
	for _, span := range spans {
		s.last(pdu[:span.End], span.End-span.Start)
	}
}

// unseal makes the texts of a decoded record readable. A nil key was destroyed: they read as zeros.
func (e *entry) unseal(key *sealKey) {
	if e.key == 0 {
		return
	}
	e.textGone = key == nil
	s := fieldSealer{key: key, seq: e.Seq}
	for _, text := range texts(e.Fact, e.spans) {
		if e.textGone {
			clear(text)
			continue
		}
		s.last(text, len(text))
	}
}

// texts are the octets of a fact that are sealed, in the order in which the encoder meets them.
func texts(fact statemachine.Fact, spans []Span) [][]byte {
	var all [][]byte
	if a, ok := fact.(*statemachine.MessageAccepted); ok {
		all = payloads(append(all, a.RequestHash), a.TLVs)
		for i := range a.Parts {
			all = payloads(append(all, a.Parts[i].ShortMessage), a.Parts[i].TLVs)
		}
		return all
	}
	pdu := sealedPDU(fact)
	for _, s := range spans {
		all = append(all, pdu[s.Start:s.End])
	}
	return all
}

// payloads adds the values that are message text.
func payloads(all [][]byte, tlvs []receipt.TLV) [][]byte {
	for _, t := range tlvs {
		if t.Tag == receipt.TagMessagePayload {
			all = append(all, t.Value)
		}
	}
	return all
}

// hasText reports whether there is anything to seal.
func hasText(fact statemachine.Fact, spans []Span) bool {
	if len(spans) > 0 {
		return true
	}
	_, ok := fact.(*statemachine.MessageAccepted)
	return ok
}

// sealedPDU is the PDU that may hold message text; nil for facts that have none.
func sealedPDU(fact statemachine.Fact) []byte {
	switch f := fact.(type) {
	case *statemachine.Sent:
		return f.PDU
	case *statemachine.SubmitResp:
		return f.PDU
	case *statemachine.Reception:
		return f.PDU
	case *statemachine.QueryResp:
		return f.PDU
	case *statemachine.CancelResp:
		return f.PDU
	case *statemachine.SessionEvent:
		return f.PDU
	}
	return nil
}
