package command

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"esmed/cmd/esmed/docs"

	"github.com/stretchr/testify/require"
)

// example is a command line and what it prints.
var example = regexp.MustCompile("(?ms)^```console\n\\$ esmed ([^\n]*)\n(.*?)^```$")

// What the documentation shows as printed is what is printed.
func TestDocs_examplesPrintWhatTheyShow(t *testing.T) {
	config := filepath.Join(t.TempDir(), "esmed.yaml")
	require.NoError(t, os.WriteFile(config, []byte(`smscs:
  - {name: alpha, addr: ["127.0.0.1:2775"], system_id: esme, rules: {message_id: {text: [hex_to_dec]}}}
`), 0o600))
	seen := 0
	for _, topic := range docs.Topics() {
		text, _ := docs.Text(topic.Name)
		for _, shown := range example.FindAllStringSubmatch(text, -1) {
			seen++
			before, argument, quoted := strings.Cut(shown[1], ` "`)
			args := strings.Fields(strings.Replace(before, "esmed.yaml", config, 1))
			if quoted {
				args = append(args, strings.TrimSuffix(argument, `"`))
			}
			var out, errs bytes.Buffer
			require.Equal(t, exitDone, Main(args, Streams{Out: &out, Err: &errs}), "%s: %s\n%s", topic.Name, shown[1], &errs)
			require.Equal(t, shown[2], out.String(), "%s: %s", topic.Name, shown[1])
		}
	}
	require.GreaterOrEqual(t, seen, 5)
}
