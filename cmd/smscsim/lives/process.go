package lives

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// usage is what a process has used, by Linux's /proc (proc(5)).
type usage struct {
	cpu            time.Duration // user and system, in ticks
	anon, rss, hwm int64         // octets: RssAnon, VmRSS, VmHWM
	written        int64         // octets that it caused to be sent to the storage layer
}

const tick = 10 * time.Millisecond // of /proc/PID/stat: USER_HZ is 100 on all of Linux

// usageOf reads a process's usage; pid 0: nothing.
func usageOf(pid int) (usage, error) {
	if pid == 0 {
		return usage{}, nil
	}
	var u usage
	stat, err1 := procFile(pid, "stat")
	err2 := u.readMemory(pid)
	io, err3 := procFile(pid, "io")
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return u, err
		}
	}
	// The name in parentheses may hold anything; behind it begin the fields from the third on.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return u, fmt.Errorf("process %d: stat has %d fields", pid, len(fields))
	}
	for _, f := range fields[11:13] { // utime and stime, the 14th and 15th
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return u, fmt.Errorf("process %d: stat: %w", pid, err)
		}
		u.cpu += time.Duration(n) * tick
	}
	u.written = procValue(io, "write_bytes:")
	return u, nil
}

// readMemory reads what of a usage is memory.
func (u *usage) readMemory(pid int) error {
	status, err := procFile(pid, "status")
	u.anon, u.rss, u.hwm = procValue(status, "RssAnon:")<<10, procValue(status, "VmRSS:")<<10, procValue(status, "VmHWM:")<<10
	return err
}

func procFile(pid int, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
}

// procValue is the number behind a name at the beginning of a line; 0 without it.
func procValue(b []byte, name string) int64 {
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
				return n
			}
		}
	}
	return 0
}

// ownCPU is what this process has used.
func ownCPU() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// allocated is how many octets of the file system the files of a directory take; "": 0. Files that come
// and go meanwhile are no error.
func allocated(dir string) (int64, error) {
	if dir == "" {
		return 0, nil
	}
	var sum int64
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil && name == dir {
			return err
		}
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += st.Blocks * 512
			}
		}
		return nil
	})
	return sum, err
}
