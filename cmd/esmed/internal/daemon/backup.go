package daemon

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

// Backup implements control.Copier.
func (b *backend) Backup(ctx context.Context, asked control.Backup, progress func(control.BackupProgress)) (control.BackupResult, error) {
	dir := asked.Dir
	err := usable(dir, b.dataDir)
	if err == nil {
		err = b.roomFor(ctx, dir)
	}
	if err != nil {
		return control.BackupResult{}, fmt.Errorf("%w: %w", control.ErrDirectory, err)
	}
	r, err := b.store.Backup(ctx, dir, asked.ChainOnly, func(p store.BackupProgress) { progress(control.BackupProgress(p)) })
	return control.BackupResult{
		Backup: r.ID, Dir: dir, Seq: r.Head.Seq, Hash: hex.EncodeToString(r.Head.Hash[:]), Bytes: r.Bytes, Folded: r.Folded,
	}, backupError(dir, err)
}

// roomFor refuses a copy that there is no room for. On the disk of data_dir twice the reserve is left, so that messages are
// still taken when it is made.
func (b *backend) roomFor(ctx context.Context, dir string) error {
	u, err := b.store.Usage(ctx)
	if err != nil {
		return err
	}
	disk, err := store.DiskOf(dir)
	if err != nil || disk.Size == 0 {
		return err
	}
	need, why := uint64(u.Log+u.State.Bytes+u.Base.Bytes+u.Keys), ""
	if b.room != nil && sameDisk(dir, b.dataDir) {
		need, why = need+2*b.room.reading().reserve, ", of which some are for what data_dir there still grows by"
	}
	if disk.Free < need {
		return &fs.PathError{Op: "backup", Path: dir, Err: fmt.Errorf("it needs %d MiB%s, and %d are free", need>>20+1, why, disk.Free>>20)}
	}
	return nil
}

func sameDisk(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	if err1 != nil || err2 != nil {
		return false
	}
	x, ok1 := one.Sys().(*syscall.Stat_t)
	y, ok2 := other.Sys().(*syscall.Stat_t)
	return ok1 && ok2 && x.Dev == y.Dev
}

// backupError says of a full disk that it is the copy's, which is all that a backup writes.
func backupError(dir string, err error) error {
	if errors.Is(err, store.ErrDiskFull) && !errors.Is(err, store.ErrNoFiles) {
		return fmt.Errorf("%w: %w", control.ErrDirectory, &fs.PathError{Op: "backup", Path: dir, Err: syscall.ENOSPC})
	}
	return apiError(err)
}

// usable makes a directory for a backup, or says why one cannot be made there: within the data directory it
// would be lost together with what it is a copy of.
func usable(dir, dataDir string) error {
	if within(dir, dataDir) {
		return &fs.PathError{Op: "backup", Path: dir, Err: errors.New("the directory is within data_dir")}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(dir)
	if err == nil && len(files) > 0 {
		err = &fs.PathError{Op: "backup", Path: dir, Err: errors.New("the directory is not empty")}
	}
	return err
}

// within reports whether a path is in a directory, or is it, by whatever links.
func within(path, dir string) bool {
	path, err := followed(path)
	if err != nil {
		return false
	}
	if dir, err = followed(dir); err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// followed is a path without links, as far as it is there.
func followed(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	whole, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		parent, err := followed(filepath.Dir(path))
		return filepath.Join(parent, filepath.Base(path)), err
	}
	return whole, err
}

// restore makes a store that is a backup a store of its own before anything is sent. What it holds as queued
// may have been sent since it was made: it is put in doubt, unless the daemon was told to send it.
func (d *daemon) restore(ctx context.Context) error {
	if d.store.RestoredFrom() == "" {
		if d.opts.Restored != "" {
			d.log.Info("--restored has no effect: the store is no backup, or has been started from before")
		}
		return nil
	}
	r, err := d.store.Restore(ctx, d.opts.Restored == RestoredSend)
	if err != nil {
		return err
	}
	d.log.Warn("the store begins anew from a backup", zap.String("backup", r.Backup), zap.Bool("send", r.Send),
		zap.Int("in_doubt_queued", r.Queued), zap.Int("in_doubt_unanswered", r.Unanswered))
	if told := d.opts.Restored != ""; told && r.Send != (d.opts.Restored == RestoredSend) {
		d.log.Warn("--restored has no effect: the first start from this backup was told otherwise", zap.Bool("send", r.Send))
	}
	return nil
}
