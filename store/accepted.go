package store

import (
	"cmp"
	"slices"

	"esmed/statemachine"
)

// acceptedRecord is a record that accepted a message, its texts unsealed.
type acceptedRecord struct {
	fact     *statemachine.MessageAccepted
	textGone bool // their key was destroyed: they are zeros
}

// acceptedApart is how many records are rather passed over, to get from one that is wanted to the next, than
// the latter is looked for.
const acceptedApart = 32

// accepted reads the records that accepted messages, by their seqs: from memory those that are new, else from
// the log, neighbours in one walk. ErrNotFound when one of them is not there.
func (s *Store) accepted(seqs []uint64) ([]acceptedRecord, error) {
	all := make([]acceptedRecord, len(seqs))
	s.recent.fill(all, seqs)
	var missing []int
	for i := range all {
		if all[i].fact == nil {
			missing = append(missing, i)
		}
	}
	slices.SortFunc(missing, func(a, b int) int { return cmp.Compare(seqs[a], seqs[b]) })
	for len(missing) > 0 {
		n, err := s.readAccepted(all, seqs, missing)
		if err != nil {
			return nil, err
		}
		missing = missing[n:]
	}
	return all, nil
}

// readAccepted reads the first that is missing, and those that follow it closely. n is how many it read.
func (s *Store) readAccepted(all []acceptedRecord, seqs []uint64, missing []int) (n int, err error) {
	err = s.journal.readFrom(seqs[missing[0]], func(seq uint64, value []byte) (bool, error) {
		if want := seqs[missing[n]]; seq != want {
			return seq < want && want-seq <= acceptedApart, nil
		}
		read, err := s.decodeAccepted(seq, value)
		for ; n < len(missing) && seqs[missing[n]] == seq; n++ { // once for all parts of a message
			all[missing[n]] = read
		}
		return n < len(missing), err
	})
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return n, err
}

// decodeAccepted reads a record that state.db says accepted a message.
func (s *Store) decodeAccepted(seq uint64, value []byte) (read acceptedRecord, err error) {
	e, err := s.decode(seq, value)
	if err != nil {
		return read, err
	}
	fact, ok := e.Fact.(*statemachine.MessageAccepted)
	if !ok {
		return read, &DamagedError{File: stateFile, Seq: seq, Err: errMalformed}
	}
	return acceptedRecord{fact, e.textGone}, nil
}
