package command

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"esmed/cmd/esmed/internal/control"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// writeFile makes a file of messages.
func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// readAll reads a file of messages: its rows as JSON, and what is wrong with others. What the rows say they are in
// the file is there.
func readAll(t testing.TB, path, refPrefix string) (rows, wrong []string, err error) {
	t.Helper()
	f, err := openRowFile(path, "", refPrefix)
	require.NoError(t, err)
	defer f.close()
	next, sum, err := f.rows()
	if err != nil {
		return nil, nil, err
	}
	at := int64(0)
	for {
		r, err := next()
		if err == io.EOF {
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			want := &fileSum{sum.Hash}
			want.Reset()
			_, _ = want.Write(whole)
			require.Equal(t, want.String(), sum.String(), "all of it was read")
			return rows, wrong, nil
		}
		if err != nil {
			return rows, wrong, err
		}
		require.GreaterOrEqual(t, r.from, at)
		require.Greater(t, r.to, r.from)
		at = r.to
		if r.err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d: %s", r.line, r.err))
			continue
		}
		require.Equal(t, r.ref, strings.Contains(string(r.json), `"ref":"`), "%s", r.json)
		rows = append(rows, fmt.Sprintf("%d %s", r.line, r.json))
	}
}

func TestRows(t *testing.T) {
	tests := []struct {
		name, file, content, prefix string
		rows, wrong                 []string
	}{
		{
			name: "CSV columns are keys, empty cells are left out", file: "m.csv",
			content: "to,text,ref,priority_flag\n+39333,hello,,1\n+39334,\"a \"\"b\"\"\",r2,\n",
			rows:    []string{`2 {"to":"+39333","text":"hello","priority_flag":1}`, `3 {"to":"+39334","text":"a \"b\"","ref":"r2"}`},
		},
		{
			name: "a spreadsheet's mark is no part of the first column, its line ends are none of the last", file: "m.csv",
			content: "\uFEFFto,text\r\n+39333,hello\r\n\r\n\r\n+39334,\"two\r\nlines\"\r\n+39335,end",
			rows:    []string{`2 {"to":"+39333","text":"hello"}`, `5 {"to":"+39334","text":"two\u000alines"}`, `7 {"to":"+39335","text":"end"}`},
		},
		{
			name: "an address of dotted columns, wherever they stand", file: "m.csv",
			content: "dest.ton,to,source.addr,text,dest.npi\n3,4711,ACME,hello,0x1\n,4711,,hello,1\n,4711,,hello,\n",
			rows: []string{
				`2 {"to":"4711","text":"hello","dest":{"ton":3,"npi":1},"source":{"addr":"ACME"}}`,
				`3 {"to":"4711","text":"hello","dest":{"npi":1}}`,
				`4 {"to":"4711","text":"hello"}`,
			},
		},
		{
			name: "registered_delivery is an octet or a word, tlvs are JSON", file: "m.csv",
			content: "to,text,registered_delivery,tlvs\n1,a,17,\n1,a,none,\"[{\"\"tag\"\":5121,\n\"\"hex\"\":\"\"00\"\"}]\"\n",
			rows:    []string{`2 {"to":"1","text":"a","registered_delivery":17}`, `3 {"to":"1","text":"a","registered_delivery":"none","tlvs":[{"tag":5121, "hex":"00"}]}`},
		},
		{
			name: "wrong rows are named by line, the others are read", file: "m.csv",
			content: "to,text,data_coding,tlvs\n1,a\n1,a,,,\n\"1\n2\",a,,\n1,a,eight,\n1,a,,{}\n1,caff\xe8,,\n1,a\"b,,\n1,\"a\"b,,\n1,c,,\n",
			rows:    []string{`4 {"to":"1\u000a2","text":"a"}`, `11 {"to":"1","text":"c"}`},
			wrong: []string{
				"line 2: it has 2 columns, the header 4",
				"line 3: it has 5 columns, the header 4",
				"line 6: data_coding: must be a whole number",
				"line 7: tlvs: must be a list in JSON",
				"line 8: text: not UTF-8: save the file in that encoding",
				`line 9: bare " in non-quoted-field`,
				`line 10: extraneous or missing " in quoted-field`,
			},
		},
		{
			name: "a quote that is not closed takes what follows, and says so", file: "m.csv",
			content: "to,text\n1,\"a\n1,b\n",
			wrong:   []string{`line 2: extraneous or missing " in quoted-field`},
		},
		{
			name: "rejected rows, corrected: what was said of them is read past, but for their line in a ref", file: "m.csv", prefix: "c-",
			content: "error,line,to,ref,text\nto: is wrong,17,1,,a\n,x,1,,a\n,18,1,own,a\n,,1,,a\n",
			rows:    []string{`2 {"ref":"c-17","to":"1","text":"a"}`, `4 {"to":"1","ref":"own","text":"a"}`, `5 {"ref":"c-5","to":"1","text":"a"}`},
			wrong:   []string{"line 3: line: must be a whole number"},
		},
		{
			name: "likewise in NDJSON", file: "m.ndjson", prefix: "c-",
			content: `{"error":"to: is wrong","line":17,"to":"1","text":"\ud800<"}` + "\n" + `{"to":"1", "text":"a" , "line":18,"ref":"own"}` + "\n" + `{"line":"x","to":"1"}` + "\n" + `{"error":""}`,
			rows:    []string{`1 {"ref":"c-17","to":"1","text":"\ud800<"}`, `2 {"to":"1","text":"a","ref":"own"}`, `4 {"ref":"c-4"}`},
			wrong:   []string{"line 3: line: must be a whole number"},
		},
		{
			name: "NDJSON, blank lines skipped, refs from the line number", file: "m.ndjson", prefix: "c-",
			content: "{\"to\":\"1\",\"text\":\"a\"}\r\n\n  \n{\"to\":\"2\",\"text\":\"a\",\"ref\":\"own\"}\n{\"ref\":\"\",\"to\":\"3\"}",
			rows:    []string{`1 {"ref":"c-1","to":"1","text":"a"}`, `4 {"to":"2","text":"a","ref":"own"}`, `5 {"ref":"c-5","to":"3"}`},
		},
		{
			name: "what an NDJSON line says is the daemon's to judge", file: "m.jsonl", prefix: "c-",
			content: "\uFEFF[]\nnull\n{\"to\":\"1\"} {}\n{\"text\":\"\xe8\n",
			rows:    []string{"1 []", "2 null", `3 {"to":"1"} {}`, "4 {\"text\":\"\xe8"},
		},
		{
			name: "a line that no message fills", file: "m.ndjson",
			content: `{"to":"1","text":"` + strings.Repeat("x", 200<<10) + "\"}\n{\"to\":\"2\"}\n",
			rows:    []string{`2 {"to":"2"}`},
			wrong:   []string{"line 1: longer than any message"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, wrong, err := readAll(t, writeFile(t, tt.file, tt.content), tt.prefix)
			require.NoError(t, err)
			require.Equal(t, tt.rows, rows)
			require.Equal(t, tt.wrong, wrong)
		})
	}
}

func TestRows_filesThatCannotBeRead(t *testing.T) {
	tests := []struct{ name, content, text, hint string }{
		{"no header", "", "the file is empty", "its first line names the columns, as to,from,text,ref"},
		{"an unknown column", "to,phone\n", `there is no column "phone"`, "columns are alphabet, callback_url, "},
		{"a column twice", "to,text,to\n", `the header has two columns "to"`, "leave one of them"},
		{"an address as a column", "to,dest\n", `there is no column "dest"`, "dest.addr, dest.npi, dest.ton"},
		{"another separator", "to;text\n1;a\n", `there is no column "to;text"`, "columns are separated by commas: save the file so"},
		{"another encoding", "to,t\xe9xt\n", "the header is not UTF-8", "save the file in that encoding"},
		{"UTF-16", "\xff\xfet\x00o\x00", "the header is not UTF-8", "save the file in that encoding"},
		{"a quote that is never closed", "to,text\n1,a\n1,\"" + strings.Repeat("x,y\n", 1<<19), "the row after line 2 is longer than any message", "look for a quote that is not closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readAll(t, writeFile(t, "m.csv", tt.content), "")
			require.Error(t, err)
			f := asFailure(err)
			require.Equal(t, tt.text, f.text)
			require.Contains(t, f.hint, tt.hint)
		})
	}
}

func TestOpenRowFile_isForOneAtATime(t *testing.T) {
	path := writeFile(t, "m.csv", "to,text\n")
	f, err := openRowFile(path, "", "")
	require.NoError(t, err)
	_, err = openRowFile(path, "", "")
	require.ErrorContains(t, err, "is being sent by another esmed")
	require.NoError(t, f.close())
	f, err = openRowFile(path, "", "")
	require.NoError(t, err)
	require.NoError(t, f.close())
	_, err = openRowFile(t.TempDir(), formatCSV, "")
	require.ErrorContains(t, err, "is no regular file")
	_, err = openRowFile("-", "", "")
	require.ErrorContains(t, err, "stdin is no regular file")
}

func TestAppendText_isWhatJSONReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		var got string
		require.NoError(t, json.Unmarshal(appendText(nil, want), &got))
		require.Equal(t, want, got)
		require.NotContains(t, string(appendText(nil, want)), "\n")
	})
}

func TestSubmissionKeys_areTheAPIs(t *testing.T) {
	keysOf := func(v any) (keys []string) {
		for f := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			keys = append(keys, name)
		}
		return keys
	}
	require.ElementsMatch(t, keysOf(control.Submission{}), slices.Collect(maps.Keys(submissionKeys)))
	require.ElementsMatch(t, keysOf(control.SubmissionAddress{}), slices.Collect(maps.Keys(addressKeys)))
}

// An operation is a row. A file is read twice.
func BenchmarkRows(b *testing.B) {
	for _, tt := range []struct{ file, header, row string }{
		{"m.csv", "to,from,text\n", "+393331230007,ACME,\"Your code is 4711, keep it\"\n"},
		{"m.ndjson", "", `{"to":"+393331230007","from":"ACME","text":"Your code is 4711, keep it"}` + "\n"},
	} {
		b.Run(filepath.Ext(tt.file), func(b *testing.B) {
			f, err := openRowFile(writeFile(b, tt.file, tt.header+strings.Repeat(tt.row, b.N)), "", "")
			require.NoError(b, err)
			defer f.close()
			next, _, err := f.rows()
			require.NoError(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				r, err := next()
				require.NoError(b, err)
				require.NoError(b, r.err)
			}
		})
	}
}
