package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
)

// Files that only a backup has.
const (
	partialFile = "backup.partial" // there until all the others are
	markerFile  = "backup.json"    // there until the first start from it has put in doubt what must be
	headFile    = "head.json"      // the end of the hash chain as it was
)

// ErrPartialBackup says that a directory is a backup whose making was cut short.
var ErrPartialBackup = errors.New("the directory is a backup that was never finished")

// BackupProgress tells how far Backup is.
type BackupProgress struct {
	File        string // that is being copied, relative to the directory; "" while the copy is verified
	Done, Total int64  // octets; Total is what there was when it began
}

// BackupResult says what was copied.
type BackupResult struct {
	ID    string // names the backup, also in the log of a store that begins from it
	Head  Head   // end of the hash chain in it
	Bytes int64
	// Folded says that the copy's log was folded and compared with its state.db, besides its chain.
	Folded bool
}

// marker is the content of markerFile, and head that of headFile.
type marker struct {
	Backup string    `json:"backup"`
	At     time.Time `json:"at"`
	head
}

type head struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// Backup copies the store into dir, which must be new or empty, while it runs: state.db, then the log, which has
// all that state.db has and more, then the keys and the end of the hash chain; it verifies the copy, as Verify
// does, and a marker comes last. The copy is a store to be opened like any other; see Restore.
//
// Commits go on at any time. state.db is copied in one read transaction: meanwhile the applier goes on but
// uses no page again that it gives up, so the file grows by what it changes; only were it to grow by more than
// 4 GiB since it was opened would it have to wait for the copy. Retention drops no file until it is done.
//
// Folding takes as long and as much room, in dir, as Verify does; chainOnly leaves it out. progress may be nil.
func (s *Store) Backup(ctx context.Context, dir string, chainOnly bool, progress func(BackupProgress)) (BackupResult, error) {
	if progress == nil {
		progress = func(BackupProgress) {}
	}
	b := backup{s: s, ctx: ctx, dir: dir, chainOnly: chainOnly, progress: progress}
	if err := b.run(); err != nil {
		if errors.Is(diskFull(err), ErrDiskFull) && b.began {
			err = errors.Join(err, b.remove()) // it is in the way of everybody who needs room, and good for nothing
		}
		return b.result, fmt.Errorf("store: backup: %w", diskFull(err))
	}
	return b.result, nil
}

// backup is one on its way.
type backup struct {
	s         *Store
	ctx       context.Context // of the one call that it serves
	dir       string
	chainOnly bool
	progress  func(BackupProgress)
	total     int64
	began     bool // the directory is its own
	result    BackupResult
}

func (b *backup) run() error {
	b.s.log.stay.RLock()
	defer b.s.log.stay.RUnlock()
	if err := b.begin(); err != nil {
		return err
	}
	for _, step := range []func() error{b.state, b.base, b.log, b.keys, b.verify} {
		if err := step(); err != nil {
			return err
		}
	}
	return b.finish()
}

// begin makes the directory, and marks it as what it is until it is finished.
func (b *backup) begin() error {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(b.dir)
	switch {
	case err != nil:
		return err
	case len(files) > 0:
		return fmt.Errorf("%s is not empty", b.dir)
	}
	b.began = true
	if err := writeSynced(filepath.Join(b.dir, partialFile), nil); err != nil {
		return err
	}
	if err := syncDir(b.dir); err != nil {
		return err
	}
	for _, segment := range b.s.log.from(0) {
		b.total += segment.bytes.Load()
	}
	if info, err := os.Stat(filepath.Join(b.s.cfg.Dir, stateFile)); err == nil {
		b.total += info.Size()
	}
	return errors.Join(makeDir(filepath.Join(b.dir, keysDir)), makeDir(filepath.Join(b.dir, logDir)))
}

// remove takes away all that is in the directory, which was empty. Until the mark goes it says what the rest is.
func (b *backup) remove() error {
	files, err := os.ReadDir(b.dir)
	for _, f := range files {
		if f.Name() != partialFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, f.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(b.dir, partialFile))
}

func (b *backup) state() error {
	if b.s.readOnly() && (b.s.state == nil || b.s.state.Path() != filepath.Join(b.s.cfg.Dir, stateFile)) {
		return nil // there is none
	}
	return b.copyState(stateFile)
}

// copyState copies state.db, as it is at some record, to a file of the directory.
func (b *backup) copyState(name string) error {
	b.s.copying.Add(1)
	defer b.s.copying.Add(-1)
	b.s.stateUse.RLock()
	defer b.s.stateUse.RUnlock()
	return guard(stateFile, func() error {
		return b.s.state.View(func(tx *bbolt.Tx) error { return b.write(name, tx) })
	})
}

func (b *backup) base() error {
	b.s.baseMu.Lock()
	defer b.s.baseMu.Unlock()
	there, err := exists(b.s.basePath())
	if !there || err != nil {
		return err
	}
	return b.file(baseFile)
}

// log copies the segments: closed ones as they are, since the one behind notes their hash, and of the active
// one what is durable. Meanwhile no hash is noted: it would be of a file that was copied without its own.
func (b *backup) log() error {
	b.s.log.sums.Lock()
	defer b.s.log.sums.Unlock()
	mark := filepath.Join(logDir, droppedMark)
	if there, err := exists(filepath.Join(b.s.cfg.Dir, mark)); err != nil {
		return err
	} else if there {
		if err := b.file(mark); err != nil {
			return err
		}
	}
	segments := b.s.log.from(0)
	last := len(segments) - 1
	for _, segment := range segments[:last] {
		if err := b.file(segment.name); err != nil {
			return err
		}
	}
	return errors.Join(b.active(segments[last]), syncDir(filepath.Join(b.dir, logDir)))
}

func (b *backup) active(s *segment) error {
	return guard(s.name, func() error {
		tx, err := s.durable()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return b.write(s.name, tx)
	})
}

// keys copies those that are not destroyed meanwhile.
func (b *backup) keys() error {
	files, err := os.ReadDir(b.s.keys.dir)
	for _, f := range files {
		if err == nil && filepath.Ext(f.Name()) == keySuffix {
			err = b.file(filepath.Join(keysDir, f.Name()))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return errors.Join(err, syncDir(filepath.Join(b.dir, keysDir)))
}

// file copies a file that nobody changes meanwhile.
func (b *backup) file(name string) error {
	in, err := os.Open(filepath.Join(b.s.cfg.Dir, name))
	if err != nil {
		return err
	}
	defer in.Close()
	return b.write(name, writerTo{in})
}

// writerTo makes a reader an io.WriterTo that goes by way of Write.
type writerTo struct{ r io.Reader }

func (w writerTo) WriteTo(to io.Writer) (int64, error) { return io.Copy(struct{ io.Writer }{to}, w.r) }

func (b *backup) write(name string, from io.WriterTo) error {
	f, err := os.OpenFile(filepath.Join(b.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := &backupFile{b: b, name: name, f: f}
	_, err = from.WriteTo(w)
	if w.err != nil {
		err = w.err // bbolt tells its text alone
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// backupSync is how much is written between two fsyncs: more at once would make the commits' wait.
const backupSync = 16 << 20

// backupFile is a file of a backup while it is written.
type backupFile struct {
	b        *backup
	name     string
	f        *os.File
	unsynced int
	err      error // of the last Write
}

func (w *backupFile) Write(p []byte) (n int, err error) {
	defer func() { w.err = err }()
	if err := w.b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err = w.f.Write(p)
	w.b.result.Bytes += int64(n)
	if w.unsynced += n; err == nil && w.unsynced >= backupSync {
		w.unsynced = 0
		err = w.f.Sync()
		w.b.progress(BackupProgress{w.name, w.b.result.Bytes, max(w.b.total, w.b.result.Bytes)})
	}
	return n, err
}

// verify opens the copy and checks its keys, its chain, and what follows from it.
func (b *backup) verify() error {
	b.progress(BackupProgress{"", b.result.Bytes, b.result.Bytes})
	cfg := b.s.cfg
	cfg.Dir, cfg.partial = b.dir, true
	s := newStore(cfg)
	if err := s.openFiles(false); err != nil { // what it lacks is not folded: in memory that takes room
		return errors.Join(err, s.Close())
	}
	s.setEnd()
	b.result.Head = s.Head()
	v := verifier{s: s, progress: func(VerifyProgress) {}, end: s.end.Load(), scratchDir: b.dir}
	err := v.keys(b.ctx)
	if err == nil {
		err = v.chain(b.ctx)
	}
	if err == nil && b.folds(s) {
		err = v.projection(b.ctx)
		b.result.Folded = err == nil
	}
	return errors.Join(err, s.Close())
}

// folds reports whether the copy's log is folded, up to the record that its state.db ends with. One of an earlier format
// is not compared before it was brought up to today's, which is for who opens the copy.
func (b *backup) folds(copied *Store) bool {
	if b.chainOnly || copied.state == nil {
		return false
	}
	m, err := stateMetaOf(copied.state)
	return err == nil && m.format == stateVersion
}

// finish writes what says that the copy is whole.
func (b *backup) finish() error {
	var id [16]byte
	rand.Read(id[:])
	b.result.ID = hex.EncodeToString(id[:])
	end := head{b.result.Head.Seq, hex.EncodeToString(b.result.Head.Hash[:])}
	err := b.json(headFile, end)
	if err == nil {
		err = b.json(markerFile, marker{b.result.ID, b.s.cfg.Now().UTC(), end})
	}
	if err == nil {
		err = syncDir(b.dir)
	}
	if err == nil {
		err = os.Remove(filepath.Join(b.dir, partialFile))
	}
	if err != nil {
		return err
	}
	return syncDir(b.dir)
}

func (b *backup) json(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(b.dir, name), append(data, '\n'))
}
