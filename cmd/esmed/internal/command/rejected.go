package command

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// rejected is the file of the rows that were refused, as they stand in the file that was sent, each with what is
// wrong with it and its line. It has its name when it is complete.
type rejected struct {
	rows   *rowFile
	path   string // to be
	header []string

	file *os.File // nil until there is a row
	out  *bufio.Writer
}

// newRejected makes none yet. It refuses to write over a chosen path.
func newRejected(rows *rowFile, chosen string) (*rejected, error) {
	if chosen != "" {
		if _, err := os.Lstat(chosen); err == nil {
			return nil, &failure{text: chosen + " is there already", hint: "move it away, or name another file with --rejected", code: exitUsage}
		}
		return newRejectedAt(rows, chosen), nil
	}
	dir, base := filepath.Split(rows.path)
	if !canWrite(dir) {
		if dir = stateDir(); dir == "" || os.MkdirAll(dir, 0o700) != nil {
			dir = "."
		}
	}
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	return newRejectedAt(rows, filepath.Join(dir, stem+".rejected."+rows.format)), nil
}

// newRejectedAt takes away what one that was killed left behind.
func newRejectedAt(rows *rowFile, path string) *rejected {
	r := &rejected{rows: rows, path: path}
	_ = os.Remove(r.partial()) // mostly there is none; else it is written over
	return r
}

// canWrite tries to make a file.
func canWrite(dir string) bool {
	f, err := os.CreateTemp(dir, ".esmed-*")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// partial is its name while it is not complete.
func (r *rejected) partial() string {
	dir, base := filepath.Split(r.path)
	return filepath.Join(dir, "."+base+".part")
}

// add writes a row and why it was refused.
func (r *rejected) add(bad row, why string) error {
	if r.file == nil {
		if err := r.open(); err != nil {
			return err
		}
	}
	octets, err := r.rows.octets(bad.from, bad.to)
	if err != nil {
		return err
	}
	octets = bytes.Trim(octets, "\r\n")
	if r.rows.format == formatCSV {
		return r.addCSV(octets, bad.line, why)
	}
	return r.addJSON(octets, bad.line, why)
}

func (r *rejected) open() (err error) {
	if r.file, err = os.OpenFile(r.partial(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	r.out = bufio.NewWriter(r.file)
	if r.rows.format != formatCSV {
		return nil
	}
	octets, header, err := r.rows.csvHeader()
	if err != nil {
		return err
	}
	r.header = header
	for _, name := range []string{errorColumn, lineColumn} {
		if !slices.Contains(header, name) {
			_, _ = r.out.WriteString(name + ",")
		}
	}
	_, err = fmt.Fprintf(r.out, "%s\n", octets)
	return err
}

// addCSV puts the two columns in front of a record, which stays as it is, be it CSV or not. Where they are there
// already the record is written anew: line stays that of the first file.
func (r *rejected) addCSV(octets []byte, line int, why string) error {
	hasError, hasLine := slices.Index(r.header, errorColumn), slices.Index(r.header, lineColumn)
	if hasError >= 0 || hasLine >= 0 {
		if record, err := csv.NewReader(bytes.NewReader(octets)).Read(); err == nil && len(record) == len(r.header) {
			if hasError >= 0 {
				record[hasError] = why
			}
			octets = csvRecord(record)
		}
	}
	var front []string
	if hasError < 0 {
		front = append(front, why)
	}
	if hasLine < 0 {
		front = append(front, strconv.Itoa(line))
	}
	if len(front) > 0 {
		octets = slices.Concat(csvRecord(front), []byte(","), octets)
	}
	_, err := fmt.Fprintf(r.out, "%s\n", octets)
	return err
}

// csvRecord writes a record without its end.
func csvRecord(record []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(record) // into memory
	w.Flush()
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// addJSON puts the two keys in front of an object's, whose octets stay as they are. What is no object is kept as a
// text.
func (r *rejected) addJSON(octets []byte, line int, why string) error {
	object := appendText(appendKey([]byte{'{'}, errorColumn), strings.ToValidUTF8(why, "?"))
	members, err := jsonMembers(octets)
	if err != nil {
		raw, err := json.Marshal(string(octets))
		if err != nil {
			return err
		}
		members = []jsonMember{{name: "raw", octets: append([]byte(`"raw":`), raw...)}}
	}
	if !slices.ContainsFunc(members, func(m jsonMember) bool { return m.name == lineColumn }) {
		object = strconv.AppendInt(appendKey(object, lineColumn), int64(line), 10)
	}
	for _, m := range members {
		if m.name != errorColumn {
			object = append(appendComma(object), m.octets...)
		}
	}
	_, err = r.out.Write(append(object, '}', '\n'))
	return err
}

// keep completes the file and gives it its name, which is "" when no row was refused. A file that is there already
// is never written over: the name gets a number.
func (r *rejected) keep() (path string, err error) {
	if r.file == nil {
		return "", nil
	}
	if err := errors.Join(r.out.Flush(), r.file.Sync(), r.file.Close()); err != nil {
		return "", err
	}
	r.file = nil
	ext := filepath.Ext(r.path)
	for n := 1; ; n++ {
		path = r.path
		if n > 1 {
			path = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(r.path, ext), n, ext)
		}
		reserved, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return path, errors.Join(reserved.Close(), os.Rename(r.partial(), path), syncDir(filepath.Dir(path)))
	}
}

// discard leaves nothing behind of a file that is not complete. It may be called after keep.
func (r *rejected) discard() {
	if r.file != nil {
		_ = errors.Join(r.file.Close(), os.Remove(r.partial())) // the next run writes over it
		r.file = nil
	}
}
