package store

import (
	"google.golang.org/protobuf/encoding/protowire"

	"esmed/receipt"
	"esmed/statemachine"
)

// appendRow encodes state.proto's InboxRow.
func appendRow(b []byte, r *statemachine.InboxRow) []byte {
	b = putString(b, 1, string(r.Key))
	b = putString(b, 2, r.SMSC)
	b = putString(b, 3, r.Account)
	b = putString(b, 4, r.TLVID)
	b = putString(b, 5, r.TextID)
	b = putString(b, 6, r.RawStat)
	b = putUint(b, 7, uint64(r.State))
	b = putAddress(b, 8, r.Source)
	b = putAddress(b, 9, r.Dest)
	b = putDate(b, 10, r.ReportedAt)
	b = putTime(b, 11, r.ReceivedAt)
	b = putString(b, 12, string(r.Why))
	for _, key := range r.Keys {
		b = putString(b, 13, string(key))
	}
	for _, dest := range r.WaitsFor {
		b = putString(b, 14, dest)
	}
	var seqs []byte
	var last uint64
	for _, seq := range r.Receptions {
		seqs = protowire.AppendVarint(seqs, seq-last)
		last = seq
	}
	b = putBytes(b, 15, seqs)
	return putString(b, 16, r.Dismissed)
}

func decodeRow(b []byte) (*statemachine.InboxRow, error) {
	r := new(statemachine.InboxRow)
	f := fields{rest: b}
	for f.next() {
		switch f.num {
		case 1:
			r.Key = statemachine.InboxKey(f.str())
		case 2:
			r.SMSC = f.str()
		case 3:
			r.Account = f.str()
		case 4:
			r.TLVID = f.str()
		case 5:
			r.TextID = f.str()
		case 6:
			r.RawStat = f.str()
		case 7:
			r.State = receipt.MessageState(f.u)
		case 8:
			f.nested(func(in *fields) { r.Source = readAddress(in) })
		case 9:
			f.nested(func(in *fields) { r.Dest = readAddress(in) })
		case 10:
			f.nested(func(in *fields) { r.ReportedAt = readDate(in) })
		case 11:
			r.ReceivedAt = f.time()
		case 12:
			r.Why = statemachine.Correlation(f.str())
		case 13:
			r.Keys = append(r.Keys, receipt.Key(f.str()))
		case 14:
			r.WaitsFor = append(r.WaitsFor, f.str())
		case 15:
			r.Receptions = readSeqs(&f)
		case 16:
			r.Dismissed = f.str()
		}
	}
	return r, f.err
}

func readSeqs(f *fields) (seqs []uint64) {
	var last uint64
	for rest := f.b; len(rest) > 0; {
		delta, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			f.fail()
			return nil
		}
		last += delta
		seqs = append(seqs, last)
		rest = rest[n:]
	}
	return seqs
}
