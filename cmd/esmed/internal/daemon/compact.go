package daemon

import (
	"context"

	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

// Compact implements control.Compacter. state.db is in use all the time, and left as it is.
func (b *backend) Compact(ctx context.Context, progress func(control.CompactProgress)) (control.CompactResult, error) {
	u, err := b.store.Usage(ctx)
	if err != nil {
		return control.CompactResult{}, apiError(err)
	}
	r := control.CompactResult{Files: []control.CompactedFile{{
		File: "state.db", Before: u.State.Bytes, After: u.State.Bytes, Left: "is in use; esmed compact writes it anew while the daemon is stopped",
	}}}
	var reserve uint64
	if b.room != nil {
		reserve = b.room.reading().reserve
	}
	done, err := b.store.CompactBase(ctx, reserve, func(p store.CompactProgress) { progress(control.CompactProgress(p)) })
	if done != nil {
		r.Files = append(r.Files, control.CompactedFile{File: done.File, Before: done.Before, After: done.After})
	}
	return r, apiError(err)
}
