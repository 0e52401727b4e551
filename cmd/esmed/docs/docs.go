// Package docs embeds the operator's documentation, so that "esmed help TOPIC" prints what belongs to the
// program that is installed. A topic is a Markdown file of this directory; its first line is its title.
package docs

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// Topic is one text.
type Topic struct {
	Name  string // the file's name without .md
	Title string
}

// order is that in which the topics are read.
var order = []string{"getting-started", "install", "connecting", "configuration", "commands", "reading-a-message", "reading-receipts", "working-the-exceptions", "decoding", "http-api", "metrics", "alerts", "logs", "upkeep", "backup-and-restore", "guarantees", "performance"}

// Topics lists the topics in the order in which they are read.
func Topics() []Topic {
	topics := make([]Topic, len(order))
	for i, name := range order {
		text, _ := Text(name)
		title, _, _ := strings.Cut(text, "\n")
		topics[i] = Topic{Name: name, Title: strings.TrimPrefix(title, "# ")}
	}
	return topics
}

// Text is a topic's Markdown; false when there is no such topic.
func Text(name string) (string, bool) {
	b, err := files.ReadFile(name + ".md")
	return string(b), err == nil
}
