package store

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"esmed/statemachine"
)

// exceptionKey sorts exceptions by the record that opened them: seq and count of their id.
func exceptionKey(id string) ([]byte, error) {
	digits, ok := strings.CutPrefix(id, "x")
	first, count, several := strings.Cut(digits, ".")
	seq, err := strconv.ParseUint(first, 10, 64)
	var n uint64
	if err == nil && several {
		n, err = strconv.ParseUint(count, 10, 32)
	}
	if !ok || err != nil {
		return nil, fmt.Errorf("%w: exception %q", ErrNotFound, id)
	}
	return binary.BigEndian.AppendUint32(seqKey(seq), uint32(n)), nil
}

// appendException encodes state.proto's Exception.
func appendException(b []byte, x *statemachine.Exception) []byte {
	b = putString(b, 1, x.ID)
	b = putString(b, 2, string(x.Kind))
	b = putString(b, 3, x.Group)
	b = putString(b, 4, x.Status)
	b = putString(b, 5, x.SMSC)
	b = putString(b, 6, x.Account)
	b = putString(b, 7, string(x.Message))
	b = putUint(b, 8, uint64(x.Part))
	for _, seq := range x.Records {
		b = protowire.AppendVarint(protowire.AppendTag(b, 9, protowire.VarintType), seq)
	}
	for _, ref := range x.Candidates {
		b = putRef(b, 10, ref)
	}
	b = putUint(b, 11, x.Count)
	b = putTime(b, 12, x.FirstAt)
	b = putTime(b, 13, x.LastAt)
	b = putString(b, 14, x.Reason)
	if r := x.Resolution; r != nil {
		var at int
		b, at = openNested(b, 15)
		b = putString(b, 1, r.Action)
		b = putString(b, 2, r.By)
		b = putTime(b, 3, r.At)
		b = putString(b, 4, r.Reason)
		b = putUint(b, 5, r.Seq)
		b = closeNested(b, at)
	}
	return b
}

func decodeException(b []byte) (*statemachine.Exception, error) {
	x := new(statemachine.Exception)
	f := fields{rest: b}
	for f.next() {
		switch f.num {
		case 1:
			x.ID = f.str()
		case 2:
			x.Kind = statemachine.ExceptionKind(f.str())
		case 3:
			x.Group = f.str()
		case 4:
			x.Status = f.str()
		case 5:
			x.SMSC = f.str()
		case 6:
			x.Account = f.str()
		case 7:
			x.Message = statemachine.ID(f.str())
		case 8:
			x.Part = int(f.u)
		case 9:
			x.Records = append(x.Records, f.u)
		case 10:
			f.nested(func(in *fields) { x.Candidates = append(x.Candidates, readRef(in)) })
		case 11:
			x.Count = f.u
		case 12:
			x.FirstAt = f.time()
		case 13:
			x.LastAt = f.time()
		case 14:
			x.Reason = f.str()
		case 15:
			x.Resolution = new(statemachine.Resolution)
			f.nested(func(in *fields) { *x.Resolution = readResolution(in) })
		}
	}
	return x, f.err
}

func readResolution(f *fields) (r statemachine.Resolution) {
	for f.next() {
		switch f.num {
		case 1:
			r.Action = f.str()
		case 2:
			r.By = f.str()
		case 3:
			r.At = f.time()
		case 4:
			r.Reason = f.str()
		case 5:
			r.Seq = f.u
		}
	}
	return r
}

func putRef(b []byte, num protowire.Number, ref statemachine.AttemptRef) []byte {
	b, at := openNested(b, num)
	b = putString(b, 1, string(ref.Message))
	b = putUint(b, 2, uint64(ref.Part))
	b = putUint(b, 3, uint64(ref.Attempt))
	return closeNested(b, at)
}

func readRef(f *fields) (ref statemachine.AttemptRef) {
	for f.next() {
		switch f.num {
		case 1:
			ref.Message = statemachine.ID(f.str())
		case 2:
			ref.Part = int(f.u)
		case 3:
			ref.Attempt = int(f.u)
		}
	}
	return ref
}
