package command

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// row is a message of a file, as a line of the batch endpoint. line is where it stands in the file.
type row struct {
	line int
	json []byte
	ref  bool // it has a ref, so that it may be sent again
}

// rowError is a row that cannot be read.
type rowError struct {
	line int
	err  error
}

func (e *rowError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.err) }

func (e *rowError) Unwrap() error { return e.err }

// rowReader reads rows one by one; io.EOF after the last one. After a *rowError it goes on.
type rowReader func() (row, error)

// openRows opens a file of messages. The caller closes it.
func openRows(path, format, refPrefix string) (rowReader, io.Closer, error) {
	if format == "" {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".csv":
			format = "csv"
		case ".ndjson", ".jsonl":
			format = "ndjson"
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	switch format {
	case "csv":
		next, err := csvRows(f, refPrefix)
		if err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
		return next, f, nil
	case "ndjson":
		return jsonRows(f, refPrefix), f, nil
	}
	_ = f.Close()
	return nil, nil, &failure{text: "this is neither .csv nor .ndjson: " + path, hint: "say which with --file-format", code: exitUsage}
}

// csvRows reads a header, then a message a record. A column is a key of a submission; dotted names are
// keys of its addresses (dest.ton). An empty cell leaves the key out.
func csvRows(r io.Reader, refPrefix string) (rowReader, error) {
	in := csv.NewReader(skipBOM(r))
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	columns := slices.Clone(header)
	for i, name := range columns {
		if _, ok := columnKind(name); !ok || slices.Contains(columns[:i], name) {
			return nil, &failure{text: fmt.Sprintf("the header has an unknown or a second column %q", name), hint: "columns are " + strings.Join(columnNames(), ", ")}
		}
	}
	return func() (row, error) {
		record, err := in.Read()
		if err != nil {
			return row{}, csvError(err, len(record), len(columns))
		}
		line, _ := in.FieldPos(0)
		r, err := csvRow(line, columns, record, refPrefix)
		if err != nil {
			return row{}, &rowError{line, err}
		}
		return r, nil
	}, nil
}

// csvError gives an error of the CSV reader its line, if it is about one row.
func csvError(err error, columns, want int) error {
	var parse *csv.ParseError
	switch {
	case !errors.As(err, &parse):
		return err
	case errors.Is(err, csv.ErrFieldCount):
		return &rowError{parse.StartLine, fmt.Errorf("it has %s, the header %d", plural(columns, "column"), want)}
	}
	return &rowError{parse.StartLine, parse.Err}
}

func csvRow(line int, columns, record []string, refPrefix string) (row, error) {
	object, err := csvObject(columns, record)
	if err != nil {
		return row{}, err
	}
	if refPrefix != "" && object["ref"] == nil {
		object["ref"] = refPrefix + strconv.Itoa(line)
	}
	if err := checkRow(object); err != nil {
		return row{}, err
	}
	b, err := json.Marshal(object)
	if err != nil {
		return row{}, err
	}
	return row{line: line, json: b, ref: given(object["ref"])}, nil
}

var errNotUTF8 = errors.New("not UTF-8: save the file in that encoding")

func csvObject(columns, record []string) (map[string]any, error) {
	object := make(map[string]any, len(columns))
	for i, cell := range record {
		if cell == "" {
			continue
		}
		if !utf8.ValidString(cell) {
			return nil, fmt.Errorf("%s: %w", columns[i], errNotUTF8)
		}
		kind, _ := columnKind(columns[i])
		value, err := kind.cell(cell)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", columns[i], err)
		}
		outer, inner, dotted := strings.Cut(columns[i], ".")
		if !dotted {
			object[outer] = value
			continue
		}
		address, _ := object[outer].(map[string]any)
		if address == nil {
			address = map[string]any{}
			object[outer] = address
		}
		address[inner] = value
	}
	return object, nil
}

// jsonRows reads an object a line; blank lines are skipped.
func jsonRows(r io.Reader, refPrefix string) rowReader {
	lines := bufio.NewScanner(skipBOM(r))
	lines.Buffer(make([]byte, 0, 64<<10), maxText)
	n := 0
	return func() (row, error) {
		for lines.Scan() {
			n++
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			if !utf8.Valid(line) {
				return row{}, &rowError{n, errNotUTF8}
			}
			var value any
			dec := json.NewDecoder(bytes.NewReader(line))
			dec.UseNumber()
			if err := dec.Decode(&value); err != nil {
				return row{}, &rowError{n, fmt.Errorf("not JSON: %w", err)}
			}
			object, ok := value.(map[string]any)
			if !ok || dec.More() {
				return row{}, &rowError{n, errors.New("must be one JSON object")}
			}
			return jsonRow(n, slices.Clone(line), object, refPrefix)
		}
		if err := lines.Err(); err != nil {
			return row{}, fmt.Errorf("after line %d: %w", n, err)
		}
		return row{}, io.EOF
	}
}

// jsonRow passes a line on as it is, so that nothing in its texts is read and written anew; a ref is put
// in front.
func jsonRow(n int, line []byte, object map[string]any, refPrefix string) (row, error) {
	if _, has := object["ref"]; !has && refPrefix != "" {
		ref, err := json.Marshal(refPrefix + strconv.Itoa(n))
		if err != nil {
			return row{}, &rowError{n, err}
		}
		object["ref"] = refPrefix
		line = slices.Concat([]byte(`{"ref":`), ref, []byte(","), line[1:])
	}
	if err := checkRow(object); err != nil {
		return row{}, &rowError{n, err}
	}
	return row{line: n, json: line, ref: given(object["ref"])}, nil
}

// checkRow checks what can be told without the daemon.
func checkRow(object map[string]any) error {
	if err := checkKeys(object, submissionKeys); err != nil {
		return err
	}
	dest, _ := object["dest"].(map[string]any)
	switch {
	case !given(object["to"]) && !given(dest["addr"]):
		return errors.New("to is missing")
	case given(object["text"]) && given(object["data_hex"]):
		return errors.New("text and data_hex exclude each other")
	}
	return nil
}

// given reports whether a text is there.
func given(v any) bool {
	s, _ := v.(string)
	return s != ""
}

// skipBOM leaves out the mark that spreadsheets write in front of UTF-8.
func skipBOM(r io.Reader) io.Reader {
	br := bufio.NewReader(r)
	if b, err := br.Peek(3); err == nil && string(b) == "\uFEFF" {
		_, _ = br.Discard(3)
	}
	return br
}
