package command

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// row is a message of a file, as a line of the batch endpoint.
type row struct {
	line     int    // where it begins in the file, from 1
	from, to int64  // its octets in the file
	json     []byte // nil when err is set
	ref      bool   // it has a ref, by which it is known
	err      error  // why it cannot be read

	resent bool // it was on its way before, on a connection that was lost
}

// rowReader reads rows one by one; io.EOF after the last one. A row that cannot be read has an err; an error
// of the reader ends the file.
type rowReader func() (row, error)

// maxRow is more than any row has in octets. What is longer is a quote that nobody closed.
const maxRow = 1 << 20

// rowFile is a file of messages. It is held open while it is sent, so that what was checked is what is sent
// even if the name is given to another file meanwhile.
type rowFile struct {
	file      *os.File
	path      string // absolute, without links
	size      int64
	format    string // csv | ndjson
	refPrefix string // "" = rows without ref have none
}

// openRowFile opens a file for this process alone. The caller closes it.
func openRowFile(path, format, refPrefix string) (*rowFile, error) {
	if path == "-" {
		return nil, readTwice("stdin")
	}
	if format == "" {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".csv":
			format = formatCSV
		case ".ndjson", ".jsonl":
			format = string(formatNDJSON)
		}
	}
	if format != formatCSV && format != string(formatNDJSON) {
		return nil, &failure{text: "this is neither .csv nor .ndjson: " + path, hint: "say which with --file-format", code: exitUsage}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &rowFile{file: file, format: format, refPrefix: refPrefix}
	if err := f.claim(path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

const formatCSV = "csv"

// claim finds the file's real name and locks it.
func (f *rowFile) claim(path string) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return readTwice(path)
	}
	f.size = info.Size()
	// Some file systems have no locks; the worst that comes of it is that another one sends the same rows.
	if errors.Is(syscall.Flock(int(f.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return &failure{text: path + " is being sent by another esmed", hint: "wait until that one has ended"}
	}
	if f.path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	f.path, err = filepath.Abs(f.path)
	return err
}

func readTwice(path string) error {
	return &failure{text: path + " is no regular file, and is read twice", hint: "write its rows to a file first", code: exitUsage}
}

func (f *rowFile) close() error { return f.file.Close() }

// rows reads the file from its beginning. sum hashes what was read.
func (f *rowFile) rows() (next rowReader, sum *fileSum, err error) {
	sum = &fileSum{sha256.New()}
	in := io.TeeReader(io.NewSectionReader(f.file, 0, f.size), sum)
	if f.format == formatCSV {
		next, err = csvRows(in, f.refPrefix)
		return next, sum, err
	}
	return jsonRows(in, f.refPrefix), sum, nil
}

// octets are what the file has from an offset to another.
func (f *rowFile) octets(from, to int64) ([]byte, error) {
	b := make([]byte, to-from)
	_, err := f.file.ReadAt(b, from)
	return b, err
}

// fileSum is the SHA-256 of a file.
type fileSum struct{ hash.Hash }

// String is in hex.
func (s *fileSum) String() string { return hex.EncodeToString(s.Sum(nil)) }

var (
	errNotUTF8 = errors.New("not UTF-8: save the file in that encoding")
	errTooLong = errors.New("longer than any message")
)

// mark is what spreadsheets write in front of UTF-8.
const mark = "\uFEFF"

// skipMark leaves the mark out and says how long it was.
func skipMark(r *bufio.Reader) (octets int64) {
	if b, err := r.Peek(len(mark)); err == nil && string(b) == mark {
		_, _ = r.Discard(len(mark))
		return int64(len(mark))
	}
	return 0
}

// lineRef is the ref of a row without one.
func lineRef(prefix string, line int) string { return fmt.Sprintf("%s%d", prefix, line) }
