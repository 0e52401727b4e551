package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"esmed/cmd/esmed/docs"

	"github.com/stretchr/testify/require"
)

var aTest = regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z_]+)`")

// Each guarantee names the tests that hold it, and these are there.
func TestGuarantees_areTestedByWhatTheyName(t *testing.T) {
	text, _ := docs.Text("guarantees")
	_, table, ok := strings.Cut(text, "\n|---|---|---|\n")
	require.True(t, ok)
	for _, row := range strings.Split(strings.TrimSpace(table), "\n") {
		named := aTest.FindAllStringSubmatch(row, -1)
		require.NotEmpty(t, named, row)
		for _, test := range named {
			require.True(t, hasTest(t, filepath.Join("../../..", test[1]), test[2]), test[0])
		}
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(b), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
