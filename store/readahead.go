package store

import (
	"context"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"
)

// A page of a mapped file that is not in memory keeps a processor of the program waiting until the disk has it, and with
// it all goroutines that would run there. So what takes many pages that may have lain on the disk for long is read by
// calls first, for which nobody else waits.

// readTable reads all pages of a table, those of each level of its tree in the order of the file, so many at once. What it
// reads is for the system to keep.
func readTable(ctx context.Context, tx *stateTx, id tableID, atOnce int) error {
	b := tx.bucket(id)
	if b == nil || b.Root() == 0 { // it lies in a page of the bucket above
		return nil
	}
	f, err := os.Open(tx.bolt.DB().Path())
	if err != nil {
		return err
	}
	defer f.Close()
	size := tx.bolt.DB().Info().PageSize
	for level := []uint64{uint64(b.Root())}; len(level) > 0 && err == nil; {
		slices.Sort(level)
		var g errgroup.Group
		share := (len(level) + atOnce - 1) / atOnce
		below := make([][]uint64, 0, atOnce)
		for ids := range slices.Chunk(level, share) {
			below = append(below, nil)
			children := &below[len(below)-1]
			g.Go(func() (err error) {
				*children, err = readPages(ctx, f, size, ids)
				return err
			})
		}
		err = g.Wait()
		level = slices.Concat(below...)
	}
	return err
}

// readPages reads pages of a tree and gives those that they lead to.
func readPages(ctx context.Context, f *os.File, size int, ids []uint64) (below []uint64, err error) {
	room := make([]byte, size)
	for _, id := range ids {
		children, err := readPage(f, id, room)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		below = append(below, children...)
	}
	return below, nil
}

// readPage reads a page, for which there is room, with its overflow pages.
func readPage(f *os.File, id uint64, room []byte) (below []uint64, err error) {
	at := int64(id) * int64(len(room))
	if _, err := f.ReadAt(room, at); err != nil {
		return nil, err
	}
	if overflow := int(le.Uint32(room[12:])); overflow > 0 {
		room = make([]byte, len(room)*(1+overflow))
		if _, err := f.ReadAt(room, at); err != nil {
			return nil, err
		}
	}
	if le.Uint16(room[8:]) == leafPage {
		return nil, nil
	}
	leads, err := readElements(room, nil, nil)
	for _, l := range leads {
		below = append(below, l.child)
	}
	return below, err
}
