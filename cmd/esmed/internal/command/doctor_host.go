package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/store"
)

const (
	// Free space, and files that can still be made, with less of which the daemon would soon refuse messages.
	doctorLeastRoom  = 64 << 20
	doctorLittleRoom = 1 << 30
	doctorFewFiles   = 1000
	// An fsync beyond this is slow: each commit takes one, and each answer waits for a commit.
	slowFsync = 50 * time.Millisecond
	// doctorFsyncs is how many are measured.
	doctorFsyncs = 5
	// doctorNoFile is how many open files are enough for the API's connections, sessions and segments.
	doctorNoFile = 1024
	// certificateDays is how long a certificate should still be valid.
	certificateDays = 30
	// clockAhead is by how much the log's end may be ahead of the clock.
	clockAhead = time.Minute
)

// oddFileSystems are those that bbolt's memory maps and fsync cannot be trusted on, by statfs(2)'s magic number.
var oddFileSystems = map[int64]string{0x6969: "NFS", 0xFF534D42: "CIFS", 0xFE534D42: "SMB2", 0x65735546: "FUSE", 0x01021994: "tmpfs, which a restart empties"}

// dataDir looks at who may use data_dir.
func (d *doctor) dataDir() {
	dir := d.cfg.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.result("data_dir", writable(filepath.Dir(dir)), dir+" is made when the daemon starts first", "make it, owned by the daemon's user, mode 0700")
	case err != nil:
		d.result("data_dir", err, "", "run this as the daemon's user")
	case !info.IsDir():
		d.add("data_dir", doctorFail, dir+" is not a directory", "move it away, or name another data_dir")
	default:
		detail := dir
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
			detail = fmt.Sprintf("%s belongs to uid %d, this is uid %d", dir, st.Uid, os.Geteuid())
		}
		d.result("data_dir", writable(dir), detail, "run this as the daemon's user; if it is: chown the directory to it")
	}
}

// writable reports why a directory cannot be written to; nil when it can.
func writable(dir string) error {
	const writeAndSearch = 0x3
	if err := syscall.Access(dir, writeAndSearch); err != nil {
		return &os.PathError{Op: "write", Path: dir, Err: err}
	}
	return nil
}

// disk looks at the file system of data_dir, or of where it will be.
func (d *doctor) disk() {
	dir := d.cfg.DataDir
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Dir(dir)
	}
	disk, err := store.DiskOf(dir)
	if err != nil {
		d.result("disk", err, "", "name a data_dir that is there")
		return
	}
	d.room(disk)
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err == nil {
		d.fileSystem(dir, int64(fs.Type))
	}
	if writable(dir) == nil {
		slowest, err := measureFsync(dir)
		d.fsync(slowest, err)
	}
}

// room judges how much there is on the disk.
func (d *doctor) room(disk store.Disk) {
	room := fmt.Sprintf("%s free of %s", octets(disk.Free), octets(disk.Size))
	const makeRoom = "free space, or keep less (store.retention): esmed store stat says when it will be full"
	switch {
	case disk.Free < min(doctorLeastRoom, disk.Size/10):
		d.add("disk", doctorFail, room+": messages are refused", makeRoom)
	case disk.Free < min(doctorLittleRoom, disk.Size/20):
		d.add("disk", doctorWarn, room, makeRoom)
	default:
		d.add("disk", doctorOK, room, "")
	}
	if !disk.FilesUnlimited && disk.Files < doctorFewFiles {
		d.add("disk files", doctorWarn, fmt.Sprintf("%d more files can be made", disk.Files), "delete files there, or make the file system anew with more inodes")
	}
}

// fileSystem judges one by its number, which some systems have signed.
func (d *doctor) fileSystem(dir string, number int64) {
	if name := oddFileSystems[int64(uint32(number))]; name != "" {
		d.add("file system", doctorWarn, dir+" is on "+name, "put data_dir on a local disk (ext4, xfs)")
	}
}

// fsync judges how long the disk took to make a page durable.
func (d *doctor) fsync(slowest time.Duration, err error) {
	switch {
	case err != nil:
		d.result("fsync", err, "", "the disk takes nothing: see the system's log")
	case slowest > slowFsync:
		d.add("fsync", doctorWarn, "the slowest of "+fmt.Sprint(doctorFsyncs)+" took "+within(slowest), "each answer waits for one: use a faster disk, or one with a write cache that outlasts a power cut")
	default:
		d.add("fsync", doctorOK, "the slowest of "+fmt.Sprint(doctorFsyncs)+" took "+within(slowest), "")
	}
}

func measureFsync(dir string) (slowest time.Duration, err error) {
	f, err := os.CreateTemp(dir, "doctor-*.tmp")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	page := make([]byte, os.Getpagesize())
	for range doctorFsyncs {
		if _, err = f.Write(page); err != nil {
			break
		}
		began := time.Now()
		if err = f.Sync(); err != nil {
			break
		}
		slowest = max(slowest, time.Since(began))
	}
	return slowest, errors.Join(err, f.Close())
}

// socketDir looks whether the socket can be made.
func (d *doctor) socketDir() {
	dir := filepath.Dir(d.cfg.API.Socket)
	const hint = "make it, owned by the daemon's user: with systemd RuntimeDirectory=esmed does"
	if d.binds != nil {
		return
	}
	d.result("api.socket", writable(dir), dir+" can be written to", hint)
}

// limits looks how many files may be open.
func (d *doctor) limits() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		d.result("limits", err, "", "")
		return
	}
	d.openFiles(limit.Cur)
}

// openFiles judges how many files may be open.
func (d *doctor) openFiles(limit uint64) {
	detail := fmt.Sprintf("%d files may be open, here", limit)
	if limit < doctorNoFile {
		d.add("limits", doctorWarn, detail, "allow more: LimitNOFILE= of the unit, or ulimit -n")
		return
	}
	d.add("limits", doctorOK, detail, "")
}

// clock compares it with what is known.
func (d *doctor) clock(ctx context.Context) {
	const unsynchronised = 0x40 // STA_UNSYNC of adjtimex(2)
	var t syscall.Timex
	_, err := syscall.Adjtimex(&t)
	d.time(time.Now(), d.newest(ctx), err == nil && t.Status&unsynchronised != 0)
}

// time judges what the system says it is: nobody runs this in years gone by, nor before what the log holds.
func (d *doctor) time(now time.Time, newest *time.Time, unkept bool) {
	const hint = "set the clock, and have it kept (chrony, systemd-timesyncd)"
	if now.Year() < 2025 {
		d.add("clock", doctorFail, "it is "+clock(now)+", says the system", hint)
		return
	}
	if newest != nil && newest.After(now.Add(clockAhead)) {
		d.add("clock", doctorFail, "the log's last record is of "+clock(*newest)+", which is still to come", hint+"; if the record's is wrong nothing expires until then")
		return
	}
	if unkept {
		d.add("clock", doctorWarn, clock(now)+", which nothing keeps right, says the kernel", hint)
		return
	}
	d.add("clock", doctorOK, clock(now), "")
}

// newest is when the log's last record was made; nil where that is not known.
func (d *doctor) newest(ctx context.Context) *time.Time {
	client := d.client
	if d.binds == nil {
		reader, err := daemon.OpenReader(d.cfg.DataDir, version())
		switch {
		case errors.Is(err, store.ErrNoStore), errors.Is(err, os.ErrNotExist):
			d.add("store", doctorOK, "there is none yet", "")
			return nil
		case err != nil:
			d.result("store", err, "", asFailure(err).hint)
			return nil
		}
		defer reader.Close()
		client = control.NewInProcess(reader)
	}
	s, err := client.Store(ctx)
	d.result("store", err, fmt.Sprintf("%s, %s", plural(s.Log.Records, "record"), octets(s.Bytes)), "esmed verify says more")
	return s.Log.NewestAt
}
