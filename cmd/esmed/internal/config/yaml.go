package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
)

// fileParser reads YAML and refuses what it would read otherwise than it looks: keys that are not strings,
// numbers in octal, and all but the first of several documents.
type fileParser struct{ ps *problems }

func (f fileParser) Unmarshal(b []byte) (map[string]any, error) {
	f.checkText(string(b))
	m, err := yaml.Parser().Unmarshal(b)
	if err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " ")) // yaml tells over several lines
	}
	clean, _ := f.clean("", m).(map[string]any)
	return clean, nil
}

// Marshal is a part of koanf's interface that is never called.
func (f fileParser) Marshal(m map[string]any) ([]byte, error) { return yaml.Parser().Marshal(m) }

// clean gives v with string keys only. YAML reads an unquoted 027 as the number 23: put back into
// text it would name another error code.
func (f fileParser) clean(path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = f.clean(join(path, key), inner)
		}
		return v
	case map[any]any:
		m := make(map[string]any, len(v))
		for key, inner := range v {
			name, ok := key.(string)
			if !ok {
				f.ps.add(path, `the key %v is not in quotes, so YAML does not read it as text (027 becomes 23): write "027"`, key)
				continue
			}
			m[name] = f.clean(join(path, name), inner)
		}
		return m
	case []any:
		for i := range v {
			v[i] = f.clean(fmt.Sprintf("%s[%d]", path, i), v[i])
		}
		return v
	default:
		return v
	}
}

// checkText finds what the parsed values do not show any more.
func (f fileParser) checkText(text string) {
	begun, ended := false, false
	n := 0
	for line := range strings.Lines(text) {
		n++
		at := fmt.Sprintf("line %d", n)
		line = strings.TrimRight(line, "\r\n")
		switch marker, _, _ := strings.Cut(line, " "); {
		case marker == "---" && (begun || ended), ended && !blank(line):
			f.ps.add(at, "a second document begins: only one is read")
			return
		case marker == "...":
			ended = true
			continue
		case marker != "---" && !blank(line) && line[0] != '%':
			begun = true
		}
		if hasOctal(line) {
			f.ps.add(at, `a number that begins with 0 is octal in YAML (010 is 8): write it without the 0, or in quotes if it is text`)
		}
	}
}

// blank reports whether a line has nothing but a comment.
func blank(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return line == "" || line[0] == '#'
}

// hasOctal looks for a value of digits that begins with 0, outside quotes and comments. A key is not meant:
// it is refused because it is not text.
func hasOctal(line string) bool {
	const between = " \t,[]{}"
	quote, before := byte(0), byte(':') // before is what stands in front, but for blanks
	for i := 0; i < len(line); i++ {
		c := line[i]
		first := i == 0 || strings.IndexByte(between, line[i-1]) >= 0
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case first && (c == '"' || c == '\''):
			quote = c
		case first && c == '#':
			return false
		case first && strings.IndexByte(":,[{-", before) >= 0 && beginsOctal(line[i:]):
			return true
		}
		if c != ' ' && c != '\t' {
			before = c
		}
	}
	return false
}

// beginsOctal reports whether a line's rest begins with a whole value in octal.
func beginsOctal(rest string) bool {
	rest = strings.TrimLeft(rest, "+-")
	behind := strings.TrimLeft(rest, "0123456789_")
	if !octal(rest[:len(rest)-len(behind)]) {
		return false
	}
	next := strings.TrimLeft(behind, " \t")
	return next == "" || strings.IndexByte(",]}", next[0]) >= 0 || next[0] == '#' && next != behind
}

// octal reports whether a number has a 0 in front that changes what it is.
func octal(token string) bool {
	return len(token) > 1 && token[0] == '0' && strings.Trim(token, "0123456789_") == ""
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
