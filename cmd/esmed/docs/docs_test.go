package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"esmed/cmd/esmed/docs"

	"github.com/stretchr/testify/require"
)

func TestTopics_areTheFiles(t *testing.T) {
	files, err := filepath.Glob("*.md")
	require.NoError(t, err)
	var names []string
	for _, topic := range docs.Topics() {
		names = append(names, topic.Name+".md")
		text, ok := docs.Text(topic.Name)
		require.True(t, ok)
		onDisk, err := os.ReadFile(topic.Name + ".md")
		require.NoError(t, err)
		require.Equal(t, string(onDisk), text)
		require.True(t, strings.HasPrefix(text, "# "+topic.Title+"\n"), "%s begins with its title", topic.Name)
		require.NotEmpty(t, topic.Title)
	}
	require.ElementsMatch(t, files, names)
	_, ok := docs.Text("../docs")
	require.False(t, ok)
}
