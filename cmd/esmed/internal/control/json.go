package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Submissions are read from JSON by hand: encoding/json takes To for to, the last of two equal names, and
// U+FFFD for what is no UTF-8, all of which would send something that nobody wrote.

// checkJSON refuses what is no UTF-8, no JSON or no object.
func checkJSON(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("is not UTF-8")
	}
	if !json.Valid(data) {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return fmt.Errorf("is not JSON: %s", err)
		}
	}
	if data = bytes.TrimLeft(data, jsonBlanks); data[0] != '{' {
		return errors.New("must be an object")
	}
	return nil
}

const jsonBlanks = " \t\r\n"

// members are the names, in their quotes, and values of an object that is valid JSON, in order.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := skipBlanks(object, 0) + 1
		for {
			if i = skipBlanks(object, i); object[i] == '}' {
				return
			}
			if object[i] == ',' {
				i++
				continue
			}
			end := valueEnd(object, i)
			name := object[i:end]
			i = skipBlanks(object, skipBlanks(object, end)+1)
			end = valueEnd(object, i)
			if !yield(name, object[i:end]) {
				return
			}
			i = end
		}
	}
}

// elements are the values of an array that is valid JSON.
func elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		i := 1
		for n := 0; ; n++ {
			if i = skipBlanks(array, i); array[i] == ']' {
				return
			}
			if array[i] == ',' {
				i = skipBlanks(array, i+1)
			}
			end := valueEnd(array, i)
			if !yield(n, array[i:end]) {
				return
			}
			i = end
		}
	}
}

func skipBlanks(data []byte, i int) int {
	for data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r' {
		i++
	}
	return i
}

// valueEnd is where the value ends that begins at i.
func valueEnd(data []byte, i int) int {
	switch data[i] {
	case '"':
		return stringEnd(data, i)
	case '{', '[':
		return groupEnd(data, i)
	}
	for ; i < len(data); i++ {
		switch data[i] {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return i
}

func stringEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func groupEnd(data []byte, i int) int {
	for depth := 0; ; i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// unquote reads a string that is valid JSON. ok is false when it escapes half of a surrogate pair, which
// is no character.
func unquote(raw []byte) (s string, ok bool) {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	return unescape(raw)
}

func unescape(raw []byte) (s string, ok bool) {
	if loneSurrogate(raw[1:len(raw)-1]) || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// loneSurrogate looks for an escaped half of a surrogate pair.
func loneSurrogate(inner []byte) bool {
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			continue
		}
		if i++; inner[i] != 'u' {
			continue
		}
		unit := escapedUnit(inner[i:])
		i += 4
		if !utf16.IsSurrogate(unit) {
			continue
		}
		if i+1 >= len(inner) || inner[i+1] != '\\' || utf16.DecodeRune(unit, escapedUnit(inner[i+2:])) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

// escapedUnit reads uXXXX; 0 if there is something else.
func escapedUnit(at []byte) rune {
	if len(at) < 5 || at[0] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(at[1:5]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}
