package command

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
)

// jsonReader reads an object a line; blank lines are skipped. What the objects say is the daemon's to judge:
// they are passed on as they are, so that nothing in their texts is read and written anew.
type jsonReader struct {
	in        *bufio.Reader
	line      int
	offset    int64
	refPrefix string
}

func jsonRows(r io.Reader, refPrefix string) rowReader {
	j := &jsonReader{in: bufio.NewReaderSize(r, jsonBuffer), refPrefix: refPrefix}
	j.offset = skipMark(j.in)
	return j.next
}

// jsonBuffer holds the longest line that the daemon takes.
const jsonBuffer = 64 << 10

func (j *jsonReader) next() (row, error) {
	for {
		r := row{line: j.line + 1, from: j.offset}
		line, err := j.in.ReadSlice('\n')
		r.to = r.from + int64(len(line))
		for errors.Is(err, bufio.ErrBufferFull) {
			r.err = errTooLong
			line, err = j.in.ReadSlice('\n')
			r.to += int64(len(line))
		}
		if err != nil && err != io.EOF {
			return row{}, err
		}
		j.line, j.offset = r.line, r.to
		switch line = bytes.TrimSpace(line); {
		case r.err != nil:
			return r, nil
		case len(line) > 0:
			j.object(&r, line)
			return r, nil
		case err == io.EOF:
			return row{}, io.EOF
		}
	}
}

// object takes a line over. Only one that may have to be changed is taken apart.
func (j *jsonReader) object(r *row, line []byte) {
	if j.refPrefix == "" && !bytes.Contains(line, []byte(`"ref"`)) && !bytes.Contains(line, []byte(`"error"`)) && !bytes.Contains(line, []byte(`"line"`)) {
		r.json = slices.Clone(line)
		return
	}
	all, err := jsonMembers(line)
	if err != nil {
		r.json = slices.Clone(line) // the daemon says what it is
		return
	}
	ref := lineRef(j.refPrefix, r.line)
	var kept [][]byte
	for _, m := range all {
		switch m.name {
		case errorColumn:
			continue
		case lineColumn:
			n, err := strconv.Atoi(string(m.value))
			if err != nil {
				r.err = errors.New("line: must be a whole number")
				return
			}
			ref = lineRef(j.refPrefix, n)
			continue
		case refColumn:
			r.ref = string(m.value) != `""` && string(m.value) != "null"
		}
		kept = append(kept, m.octets)
	}
	r.json = []byte{'{'}
	if !r.ref && j.refPrefix != "" {
		r.json, r.ref = appendText(appendKey(r.json, refColumn), ref), true
		kept = slices.DeleteFunc(kept, func(m []byte) bool { return bytes.HasPrefix(m, []byte(`"ref"`)) }) // an empty one
	}
	for _, m := range kept {
		r.json = append(appendComma(r.json), m...)
	}
	r.json = append(r.json, '}')
}

// jsonMember is a member of an object, as it is written there.
type jsonMember struct {
	name          string
	value, octets []byte // octets are those of name, colon and value
}

var errNoObject = errors.New("must be one JSON object")

// jsonMembers takes an object apart without reading anything but its names.
func jsonMembers(object []byte) ([]jsonMember, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errNoObject
	}
	var all []jsonMember
	for dec.More() {
		from := dec.InputOffset()
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		text, _ := name.(string)
		octets := bytes.TrimLeft(object[from:dec.InputOffset()], ", \t\r")
		all = append(all, jsonMember{text, value, octets})
	}
	if _, err := dec.Token(); err != nil || dec.More() {
		return nil, errNoObject
	}
	return all, nil
}
