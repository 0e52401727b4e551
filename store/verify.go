package store

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// VerifyProgress tells how far Verify is.
type VerifyProgress struct {
	Phase       string // chain | fold | compare
	Done, Total uint64 // records; while comparing, tables
}

// VerifyResult is what Verify found.
type VerifyResult struct {
	Records  uint64
	Commits  uint64
	Segments int
	// TakenStored counts decisions that are taken as stored: those of an older parser that today's makes
	// otherwise, with those that follow from them; and receptions whose text's key was destroyed, of which
	// what rested on the text cannot be decided again.
	TakenStored uint64
	Difference  *DamagedError // the first one; nil when all agrees
}

// Verify reads everything: the keys' checks, the pages of closed files, the hash chain, the heads and
// file hashes of the segments; then it folds the log anew into a scratch file (in the system's directory
// for temporary files, as large as state.db) and compares every table with it. In memory that takes some
// 200 MB, and 5 octets for each message that is stored. A running store goes on meanwhile: the applier stands
// still only while a few hundred rows are compared, and no segment is dropped.
// Where records were dropped the fold begins with base.db. progress may be nil.
func (s *Store) Verify(ctx context.Context, progress func(VerifyProgress)) (VerifyResult, error) {
	v := verifier{s: s, progress: progress, end: s.end.Load()}
	if v.progress == nil {
		v.progress = func(VerifyProgress) {}
	}
	s.log.stay.RLock()
	defer s.log.stay.RUnlock()
	err := s.Sync(ctx)
	for _, step := range []func(context.Context) error{v.keys, v.chain, v.projection} {
		if err == nil {
			err = step(ctx)
		}
	}
	if errors.As(err, &v.result.Difference) {
		return v.result, nil
	}
	if err != nil {
		return v.result, fmt.Errorf("store: verify: %w", err)
	}
	return v.result, nil
}

type verifier struct {
	s        *Store
	progress func(VerifyProgress)
	end      uint64 // of the log when it began
	result   VerifyResult

	scratchDir string // where the scratch file is made; "" = the system's directory for temporary files
}

func (v *verifier) keys(context.Context) error { return v.s.keys.check(math.MaxInt) }
