package command

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What alert rules tell people to type is what the program takes.
func TestRules_speakOfCommandsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../dist/prometheus/esmed.rules.yml")
	require.NoError(t, err)
	root := newRoot(Streams{})
	root.InitDefaultHelpCmd()
	typed := quoted.FindAllStringSubmatch(strings.Join(strings.Fields(string(text)), " "), -1)
	require.Greater(t, len(typed), 10)
	for _, line := range typed {
		cmd, _, err := root.Find(strings.Fields(line[1]))
		require.NoError(t, err, line[1])
		require.NotEqual(t, root, cmd, "esmed %s", line[1])
		for _, f := range aFlag.FindAllStringSubmatch(line[1], -1) {
			require.True(t, hasFlag(cmd, f[1]), "esmed %s has no flag %s", line[1], f[1])
		}
	}
}
