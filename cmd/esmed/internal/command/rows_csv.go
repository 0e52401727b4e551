package command

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// csvReader reads a header, then a message a record. A column is a key of a submission; dotted names are
// keys of its addresses (dest.ton). An empty cell leaves the key out.
type csvReader struct {
	in        *csv.Reader
	bound     *boundReader
	base      int64       // octets in front of what in reads
	columns   []csvColumn // that are sent; those of an address side by side, behind all others
	ref, line int         // columns of these names; -1 = none
	last      int         // line of the last row
	refPrefix string
}

// csvColumn is a column of a file.
type csvColumn struct {
	index int
	name  string // as in the header
	group string // address that it is a key of, as dest; "" = none
	key   string // as it is called in there
	kind  keyKind
}

func csvRows(r io.Reader, refPrefix string) (rowReader, error) {
	buffered := bufio.NewReader(r)
	c := &csvReader{base: skipMark(buffered), refPrefix: refPrefix, bound: &boundReader{r: buffered}}
	c.in = csv.NewReader(c.bound)
	c.in.ReuseRecord = true
	header, err := c.record()
	if err == io.EOF {
		return nil, &failure{text: "the file is empty", hint: "its first line names the columns, as to,from,text,ref"}
	}
	if err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	c.ref, c.line = slices.Index(header, refColumn), slices.Index(header, lineColumn)
	c.columns, err = csvColumns(header)
	return c.next, err
}

// csvHeader is the header as it stands in the file, without a mark and its end, and its columns.
func (f *rowFile) csvHeader() (octets []byte, columns []string, err error) {
	in := bufio.NewReader(io.NewSectionReader(f.file, 0, f.size))
	base := skipMark(in)
	r := csv.NewReader(in)
	if columns, err = r.Read(); err != nil {
		return nil, nil, err
	}
	octets, err = f.octets(base, base+r.InputOffset())
	return bytes.Trim(octets, "\r\n"), columns, err
}

func csvColumns(header []string) ([]csvColumn, error) {
	var columns []csvColumn
	for i, name := range header {
		kind, ok := columnKind(name)
		if !ok || slices.Contains(header[:i], name) {
			return nil, badColumn(name, ok, len(header))
		}
		if kind == ignoredKey {
			continue
		}
		c := csvColumn{index: i, name: name, key: name, kind: kind}
		if group, key, dotted := strings.Cut(name, "."); dotted {
			c.group, c.key = group, key
		}
		columns = append(columns, c)
	}
	slices.SortStableFunc(columns, func(a, b csvColumn) int { return cmp.Compare(a.group, b.group) })
	return columns, nil
}

func badColumn(name string, known bool, columns int) error {
	f := &failure{text: "there is no column " + quote(name), hint: "columns are " + strings.Join(columnNames(), ", ")}
	switch {
	case known:
		f.text, f.hint = "the header has two columns "+quote(name), "leave one of them"
	case !utf8.ValidString(name):
		f.text, f.hint = "the header is not UTF-8", "save the file in that encoding"
	case columns == 1 && strings.ContainsAny(name, ";\t"):
		f.hint = "columns are separated by commas: save the file so"
	}
	return f
}

// record reads a record, which has maxRow octets to end.
func (c *csvReader) record() ([]string, error) {
	c.bound.left = maxRow
	return c.in.Read()
}

func (c *csvReader) next() (row, error) {
	r := row{from: c.base + c.in.InputOffset()}
	record, err := c.record()
	var parse *csv.ParseError
	switch {
	case err == nil:
		r.line, _ = c.in.FieldPos(0)
		r.json, r.ref, r.err = c.object(record, r.line)
	case errors.As(err, &parse):
		r.line, r.err = parse.StartLine, parse.Err
		if errors.Is(err, csv.ErrFieldCount) {
			r.err = fmt.Errorf("it has %s, the header %d", plural(len(record), "column"), c.in.FieldsPerRecord)
		}
	case errors.Is(err, errTooLong):
		return r, &failure{text: fmt.Sprintf("the row after line %d is %s", c.last, err), hint: "look for a quote that is not closed"}
	default:
		return r, err
	}
	r.to, c.last = c.base+c.in.InputOffset(), r.line
	return r, nil
}

// object writes a record as JSON.
func (c *csvReader) object(record []string, line int) (object []byte, ref bool, err error) {
	object = make([]byte, 1, objectRoom)
	object[0] = '{'
	if ref = c.ref >= 0 && record[c.ref] != ""; !ref && c.refPrefix != "" {
		if line, err = c.firstLine(record, line); err != nil {
			return nil, false, err
		}
		object, ref = appendText(appendKey(object, refColumn), lineRef(c.refPrefix, line)), true
	}
	group := ""
	for i := range c.columns {
		col := &c.columns[i]
		cell := record[col.index]
		if cell == "" {
			continue
		}
		if col.group != group {
			if group != "" {
				object = append(object, '}')
			}
			object, group = append(appendKey(object, col.group), '{'), col.group
		}
		if object, err = col.kind.appendCell(appendKey(object, col.key), cell); err != nil {
			return nil, false, fmt.Errorf("%s: %w", col.name, err)
		}
	}
	if group != "" {
		object = append(object, '}')
	}
	return append(object, '}'), ref, nil
}

// objectRoom is what most messages take in JSON.
const objectRoom = 256

// firstLine is where a row stood in the file that it was rejected from, or where it stands here.
func (c *csvReader) firstLine(record []string, line int) (int, error) {
	if c.line < 0 || record[c.line] == "" {
		return line, nil
	}
	line, err := strconv.Atoi(record[c.line])
	if err != nil {
		return 0, errors.New("line: must be a whole number")
	}
	return line, nil
}

// boundReader fails when more than left octets are asked for.
type boundReader struct {
	r    io.Reader
	left int
}

func (b *boundReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.r.Read(p)
	b.left -= n
	return n, err
}
