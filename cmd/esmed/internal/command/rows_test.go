package command

import (
	"errors"
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
)

// readAll reads a file of messages: the rows as JSON, and what is wrong with others.
func readAll(t *testing.T, name, content, refPrefix string) (rows, wrong []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	next, file, err := openRows(path, "", refPrefix)
	require.NoError(t, err)
	defer file.Close()
	for {
		r, err := next()
		if err == io.EOF {
			return rows, wrong
		}
		var bad *rowError
		if errors.As(err, &bad) {
			wrong = append(wrong, bad.Error())
			continue
		}
		require.NoError(t, err)
		rows = append(rows, string(r.json))
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
			rows:    []string{`{"priority_flag":1,"text":"hello","to":"+39333"}`, `{"ref":"r2","text":"a \"b\"","to":"+39334"}`},
		},
		{
			name: "a spreadsheet's mark is no part of the first column", file: "m.csv",
			content: "\uFEFFto,text\n+39333,hello\n",
			rows:    []string{`{"text":"hello","to":"+39333"}`},
		},
		{
			name: "an address of dotted columns", file: "m.csv",
			content: "to,text,dest.ton,dest.npi\n4711,hello,3,0x1\n",
			rows:    []string{`{"dest":{"npi":1,"ton":3},"text":"hello","to":"4711"}`},
		},
		{
			name: "registered_delivery is an octet or a word, tlvs are JSON", file: "m.csv",
			content: "to,text,registered_delivery,tlvs\n1,a,17,\n1,a,none,\"[{\"\"tag\"\":5121,\"\"hex\"\":\"\"00\"\"}]\"\n",
			rows:    []string{`{"registered_delivery":17,"text":"a","to":"1"}`, `{"registered_delivery":"none","text":"a","tlvs":[{"hex":"00","tag":5121}],"to":"1"}`},
		},
		{
			name: "wrong rows are named by line, the others are read", file: "m.csv",
			content: "to,text\n,hello\n1\n\"1\n2\",a\n1,b\n",
			rows:    []string{`{"text":"a","to":"1\n2"}`, `{"text":"b","to":"1"}`},
			wrong:   []string{"line 2: to is missing", "line 3: it has 1 column, the header 2"},
		},
		{
			name: "NDJSON, blank lines skipped, refs from the line number", file: "m.ndjson", prefix: "c-",
			content: "{\"to\":\"1\",\"text\":\"a\"}\n\n{\"to\":\"2\",\"text\":\"a\",\"ref\":\"own\"}",
			rows:    []string{`{"ref":"c-1","to":"1","text":"a"}`, `{"to":"2","text":"a","ref":"own"}`},
		},
		{
			name: "what NDJSON must not be", file: "m.jsonl",
			content: "[]\nnull\n{\"to\":1}\n{\"to\":\"1\"} {}\n{\"to\":\"1\",\"Text\":\"a\"}\n{\"to\":\"1\",\"text\":\"a\",\"data_hex\":\"00\"}\n{\"text\":\"a\"}\n",
			wrong: []string{
				"line 1: must be one JSON object",
				"line 2: must be one JSON object",
				"line 3: to: must be a text",
				"line 4: must be one JSON object",
				`line 5: unknown key "Text"`,
				"line 6: text and data_hex exclude each other",
				"line 7: to is missing",
			},
		},
		{
			name: "a text that is no UTF-8 is not sent as something else", file: "m.csv",
			content: "to,text\n1,caff\xe8\n",
			wrong:   []string{"line 2: text: not UTF-8: save the file in that encoding"},
		},
		{
			name: "likewise in NDJSON, whose escapes are passed on as they are", file: "m.ndjson",
			content: "{\"to\":\"1\",\"text\":\"\xe8\"}\n{\"to\":\"1\",\"text\":\"\\ud800\"}\n",
			rows:    []string{`{"to":"1","text":"\ud800"}`},
			wrong:   []string{"line 1: not UTF-8: save the file in that encoding"},
		},
		{
			name: "kinds of values", file: "m.ndjson",
			content: `{"to":"1","data_coding":1.5}` + "\n" + `{"to":"1","tlvs":{}}` + "\n" + `{"to":"1","dest":{"tonn":1}}` + "\n" +
				`{"to":"1","dest":"1"}` + "\n" + `{"to":"1","registered_delivery":true}` + "\n" + `{"to":"1","text":null}` + "\n" + `{"to":"1"`,
			wrong: []string{
				"line 1: data_coding: must be a whole number",
				"line 2: tlvs: must be a list",
				`line 3: dest: unknown key "tonn"`,
				"line 4: dest: must be an object with addr, ton and npi",
				"line 5: registered_delivery: must be a word or a whole number",
				"line 6: text: must be a text",
				"line 7: not JSON: unexpected EOF",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, wrong := readAll(t, tt.file, tt.content, tt.prefix)
			require.Equal(t, tt.rows, rows)
			require.Equal(t, tt.wrong, wrong)
		})
	}
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
