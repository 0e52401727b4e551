package receipt

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// FingerprintVersion is the first octet of every Fingerprint. It changes whenever the components or
// the way they are put together do; fingerprints of different versions are never equal.
const FingerprintVersion = 1

// Fingerprint names the fact that one or more receptions report, the logical event: FingerprintVersion,
// then 15 octets of a SHA-256. The zero Fingerprint is none. See (*Receipt).Fingerprint.
type Fingerprint [16]byte

// IsZero reports whether there is no fingerprint.
func (f Fingerprint) IsZero() bool { return f == Fingerprint{} }

// String gives 32 hex digits, "" for none.
func (f Fingerprint) String() string {
	if f.IsZero() {
		return ""
	}
	return hex.EncodeToString(f[:])
}

// MarshalText gives String.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText takes what String gives.
func (f *Fingerprint) UnmarshalText(text []byte) error {
	*f = Fingerprint{}
	if len(text) == 0 {
		return nil
	}
	if len(text) != 2*len(f) {
		return fmt.Errorf("receipt: a fingerprint has %d hex digits, not %d", 2*len(f), len(text))
	}
	if _, err := hex.Decode(f[:], text); err != nil {
		return fmt.Errorf("receipt: fingerprint: %w", err)
	}
	return nil
}

// Component is one of the stable fields that a fingerprint is made from.
type Component struct {
	Name  string // as in JSON, in the order of FingerprintComponents
	Value string // as received; the body's octets may be a user's text
}

// FingerprintComponents gives what the fingerprint is made from, for explanation. d must be what r
// was decoded from.
func (r *Receipt) FingerprintComponents(account string, d Delivery) []Component {
	var all []Component
	r.components(account, &d, func(name, text string, octets []byte) {
		all = append(all, Component{name, text + string(octets)})
	})
	return all
}

// Fingerprint makes the fingerprint of what r reports in account; d must be what r was decoded from.
//
// It is made from the account, kind, both ids, both addresses (without type and plan), the state word,
// message_state, err, network_error_code, both dates, sub and dlvrd, all as received and each with its
// length; without an id, or Undecodable, also from the whole body. It leaves out the sequence number,
// the bind, the local time, every other TLV and, where there is an id, the quoted text.
//
// So it merges what an SMSC says twice in the same words: the same receipt sent again, but also the
// receipts of several parts that were given one id, and two reports for a recycled id that agree in
// everything including their dates. It does not merge two spellings of one fact (DELIVRD and
// DELIVERED, another done date): those are two events that report the same state.
//
// Only the fingerprint of evidence (IsEvidence) and of an Undecodable makes a logical event. Two
// messages from a mobile with the same fingerprint are two messages that may be the same one.
func (r *Receipt) Fingerprint(account string, d Delivery) Fingerprint {
	var room [512]byte
	data := append(room[:0], FingerprintVersion)
	r.components(account, &d, func(_, text string, octets []byte) {
		data = binary.AppendUvarint(data, uint64(len(text)+len(octets)))
		data = append(append(data, text...), octets...)
	})
	sum := sha256.Sum256(data)
	f := Fingerprint{FingerprintVersion}
	copy(f[1:], sum[:])
	return f
}

// components hands the fields out in order, each as text or as octets; the body is last and only there where it counts.
func (r *Receipt) components(account string, d *Delivery, each func(name, text string, octets []byte)) {
	each("account", account, nil)
	each("kind", r.Kind.String(), nil)
	each("tlv_id", r.TLVID, nil)
	each("text_id", r.TextID, nil)
	each("source_addr", r.Source.Addr, nil)
	each("dest_addr", r.Dest.Addr, nil)
	each("raw_stat", r.RawStat, nil)
	each("message_state", "", r.MessageStateRaw)
	each("err", r.Err, nil)
	each("network_error_code", "", r.NetworkErrorCode)
	each("submit_date_raw", r.SubmitDateRaw, nil)
	each("done_date_raw", r.DoneDateRaw, nil)
	each("sub", r.Sub, nil)
	each("dlvrd", r.Dlvrd, nil)
	if r.ID == "" || r.Kind == Undecodable {
		each("body", "", d.wholeBody())
	}
}

// wholeBody is the text with its header, or all there is of a PDU that could not be taken apart.
func (d *Delivery) wholeBody() []byte {
	if !d.readable() {
		return d.Raw
	}
	var r Receipt
	_, octets := chooseBody(d, &r)
	return octets
}
