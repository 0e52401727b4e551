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
	if err := usable(dir, b.dataDir); err != nil {
		return control.BackupResult{}, fmt.Errorf("%w: %w", control.ErrDirectory, err)
	}
	r, err := b.store.Backup(ctx, dir, asked.ChainOnly, func(p store.BackupProgress) { progress(control.BackupProgress(p)) })
	return control.BackupResult{
		Backup: r.ID, Dir: dir, Seq: r.Head.Seq, Hash: hex.EncodeToString(r.Head.Hash[:]), Bytes: r.Bytes, Folded: r.Folded,
	}, backupError(dir, err)
}

// backupError says of a full disk that it is the copy's, which is all that a backup writes.
func backupError(dir string, err error) error {
	if errors.Is(err, store.ErrDiskFull) {
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

// within reports whether a path is in a directory, or is it; links are not followed.
func within(path, dir string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
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
