package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"esmed/cmd/esmed/docs"
	"esmed/cmd/esmed/internal/config"

	"github.com/stretchr/testify/require"
)

var (
	yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")
	toTopic   = regexp.MustCompile("`esmed help ([a-z-]+)`")
)

// What the documentation shows of a configuration, the daemon takes: a block is a whole file.
func TestSnippets_areValidConfigurations(t *testing.T) {
	seen := 0
	for _, topic := range docs.Topics() {
		text, _ := docs.Text(topic.Name)
		for _, block := range yamlBlock.FindAllStringSubmatch(text, -1) {
			seen++
			file := filepath.Join(t.TempDir(), "esmed.yaml")
			require.NoError(t, os.WriteFile(file, []byte(block[1]), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "alpha.password"), []byte("secret\n"), 0o600))
			_, err := config.Load(file, nil, nil)
			require.NoError(t, err, "%s:\n%s", topic.Name, block[1])
		}
	}
	require.Positive(t, seen)
}

// Who is sent from one text to another finds it.
func TestTopics_leadToEachOther(t *testing.T) {
	seen := 0
	for _, topic := range docs.Topics() {
		text, _ := docs.Text(topic.Name)
		for _, link := range toTopic.FindAllStringSubmatch(text, -1) {
			seen++
			_, ok := docs.Text(link[1])
			require.True(t, ok, "%s leads to %s", topic.Name, link[1])
		}
	}
	require.Positive(t, seen)
}

func TestReadme_namesEveryTopic(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	for _, topic := range docs.Topics() {
		require.Contains(t, string(readme), "`"+topic.Name+"`")
	}
}
