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

	"esmed/cmd/esmed/internal/control"
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
		if _, ok := csvColumns[name]; !ok || slices.Contains(columns[:i], name) {
			return nil, &failure{text: fmt.Sprintf("the header has an unknown or a second column %q", name), hint: "columns are " + strings.Join(columnNames(), ", "), code: exitFailed}
		}
	}
	return func() (row, error) {
		record, err := in.Read()
		if err == io.EOF {
			return row{}, io.EOF
		}
		line, _ := in.FieldPos(0)
		if err != nil {
			var parse *csv.ParseError
			if errors.As(err, &parse) {
				if errors.Is(err, csv.ErrFieldCount) {
					return row{}, &rowError{parse.StartLine, fmt.Errorf("it has %d columns, the header %d", len(record), len(columns))}
				}
				return row{}, &rowError{parse.StartLine, parse.Err}
			}
			return row{}, err
		}
		object, err := csvObject(columns, record)
		if err != nil {
			return row{}, &rowError{line, err}
		}
		return makeRow(line, object, refPrefix)
	}, nil
}

// csvColumns are the columns, and how a cell is written in JSON.
var csvColumns = map[string]func(string) (json.RawMessage, error){
	"to": cellText, "from": cellText, "text": cellText, "smsc": cellText, "ref": cellText, "validity": cellText,
	"schedule_delivery_time": cellText, "alphabet": cellText, "data_hex": cellText, "udh_hex": cellText,
	"service_type": cellText, "in_doubt": cellText, "callback_url": cellText, "registered_delivery": cellReceipt,
	"data_coding": cellNumber, "protocol_id": cellNumber, "priority_flag": cellNumber, "replace_if_present_flag": cellNumber,
	"source.addr": cellText, "source.ton": cellNumber, "source.npi": cellNumber,
	"dest.addr": cellText, "dest.ton": cellNumber, "dest.npi": cellNumber,
	"tlvs": cellJSON,
}

func columnNames() []string {
	names := make([]string, 0, len(csvColumns))
	for name := range csvColumns {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func cellText(s string) (json.RawMessage, error) { return json.Marshal(s) }

func cellNumber(s string) (json.RawMessage, error) {
	n, err := strconv.ParseInt(s, 0, 32)
	if err != nil {
		return nil, errors.New("must be a whole number")
	}
	return strconv.AppendInt(nil, n, 10), nil
}

func cellReceipt(s string) (json.RawMessage, error) {
	if n, err := cellNumber(s); err == nil {
		return n, nil
	}
	return cellText(s)
}

func cellJSON(s string) (json.RawMessage, error) {
	if !json.Valid([]byte(s)) {
		return nil, errors.New("must be JSON")
	}
	return json.RawMessage(s), nil
}

func csvObject(columns, record []string) (map[string]any, error) {
	object := make(map[string]any, len(columns))
	for i, cell := range record {
		if cell == "" {
			continue
		}
		value, err := csvColumns[columns[i]](cell)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", columns[i], err)
		}
		outer, inner, dotted := strings.Cut(columns[i], ".")
		if !dotted {
			object[outer] = value
			continue
		}
		address, _ := object[outer].(map[string]json.RawMessage)
		if address == nil {
			address = map[string]json.RawMessage{}
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
			var object map[string]any
			dec := json.NewDecoder(bytes.NewReader(line))
			dec.UseNumber()
			if err := dec.Decode(&object); err != nil {
				return row{}, &rowError{n, fmt.Errorf("not a JSON object: %w", err)}
			}
			if object == nil || dec.More() {
				return row{}, &rowError{n, errors.New("must be one JSON object")}
			}
			return makeRow(n, object, refPrefix)
		}
		if err := lines.Err(); err != nil {
			return row{}, fmt.Errorf("after line %d: %w", n, err)
		}
		return row{}, io.EOF
	}
}

// makeRow checks what can be told without the daemon, and fills in the ref.
func makeRow(line int, object map[string]any, refPrefix string) (row, error) {
	if refPrefix != "" && object["ref"] == nil {
		object["ref"] = refPrefix + strconv.Itoa(line)
	}
	b, err := json.Marshal(object)
	if err != nil {
		return row{}, &rowError{line, err}
	}
	var s control.Submission
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return row{}, &rowError{line, plainJSONError(err)}
	}
	switch {
	case s.To == "" && (s.Dest == nil || s.Dest.Addr == ""):
		return row{}, &rowError{line, errors.New("to is missing")}
	case s.Text != "" && s.DataHex != "":
		return row{}, &rowError{line, errors.New("text and data_hex exclude each other")}
	}
	return row{line: line, json: b, ref: s.Ref != ""}, nil
}

// plainJSONError speaks of keys, not of Go.
func plainJSONError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: must not be a %s", wrong.Field, wrong.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// skipBOM leaves out the mark that spreadsheets write in front of UTF-8.
func skipBOM(r io.Reader) io.Reader {
	br := bufio.NewReader(r)
	if b, err := br.Peek(3); err == nil && string(b) == "\uFEFF" {
		_, _ = br.Discard(3)
	}
	return br
}
