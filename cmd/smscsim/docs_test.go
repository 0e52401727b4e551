package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	typed     = regexp.MustCompile("(?m)^    (?:bin/)?smscsim ([^&\n]*)|`smscsim ([^`]*)`")
	flagsOnly = regexp.MustCompile("`(--[a-z][^`]*)`")
)

// What esmed's documentation tells people to type is what smscsim takes, values included.
func TestDocs_speakOfFlagsThatExist(t *testing.T) {
	files, err := filepath.Glob("../esmed/docs/*.md")
	require.NoError(t, err)
	var lines []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range typed.FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, found[1]+found[2])
		}
		_, ofTheSimulator, ok := strings.Cut(string(text), "\n## Without an SMSC\n")
		if !ok {
			continue
		}
		ofTheSimulator, _, ok = strings.Cut(ofTheSimulator, "\n## 1. ")
		require.True(t, ok)
		for _, found := range flagsOnly.FindAllStringSubmatch(ofTheSimulator, -1) {
			lines = append(lines, found[1])
		}
	}
	require.Greater(t, len(lines), 8)
	for _, line := range lines {
		root := rootCommand()
		args := withDefaultCommand(root, strings.Fields(strings.ReplaceAll(line, "$(pidof esmed)", "4711")))
		cmd, rest, err := root.Find(args)
		require.NoError(t, err, line)
		require.NotSame(t, root, cmd, line)
		if strings.HasSuffix(line, "--help") {
			continue
		}
		require.NoError(t, cmd.ParseFlags(rest), line)
	}
}
