package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
)

// format is how a command prints.
type format string

const (
	formatText   format = "text"
	formatJSON   format = "json"
	formatNDJSON format = "ndjson"
)

// String, Set and Type make a format a flag.
func (f *format) String() string { return string(*f) }

func (f *format) Set(s string) error {
	switch format(s) {
	case formatText, formatJSON, formatNDJSON:
		*f = format(s)
		return nil
	}
	return fmt.Errorf("want text, json or ndjson")
}

func (*format) Type() string { return "format" }

// output is where and how a command prints its answer.
type output struct {
	w      io.Writer
	format format
}

func outputFlag(cmd *cobra.Command, f *format) {
	*f = formatText
	cmd.Flags().VarP(f, "output", "o", "text, json (the API's objects) or ndjson (a list's rows, one a line)")
}

func (f format) to(cmd *cobra.Command) output { return output{cmd.OutOrStdout(), f} }

// text reports whether people read it.
func (o output) text() bool { return o.format == formatText }

// object prints one object of the API: indented as json, on a line of its own as ndjson.
func (o output) object(v any) error {
	enc := json.NewEncoder(o.w)
	enc.SetEscapeHTML(false)
	if o.format == formatJSON {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// printf prints text for people. Arguments that came from outside are cleaned by the caller.
func (o output) printf(format string, args ...any) { fmt.Fprintf(o.w, format, args...) }

// flush lets what was printed be seen.
func (o output) flush() error {
	if f, ok := o.w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// pager asks for a page of a list.
type pager[T any] func(ctx context.Context, cursor string, limit int) (control.List[T], error)

// printList pages through a list until limit rows (0 = all) and prints them as they come: as json in the
// API's envelope, as ndjson one a line, as text in a table a page.
func printList[T any](ctx context.Context, o output, limit count, page pager[T], text func([]T)) error {
	enc := json.NewEncoder(o.w)
	enc.SetEscapeHTML(false)
	if o.format == formatJSON {
		o.printf(`{"items":[`)
	}
	rows := 0
	next, err := eachPage(ctx, int(limit), page, func(items []T) error {
		if o.text() {
			if len(items) > 0 || rows == 0 {
				text(items)
			}
			rows += len(items)
			return nil
		}
		for _, item := range items {
			if o.format == formatJSON && rows > 0 {
				o.printf(",")
			}
			if err := enc.Encode(item); err != nil {
				return err
			}
			rows++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if o.format == formatJSON {
		quoted, err := json.Marshal(next)
		if err != nil {
			return err
		}
		o.printf("],\"next\":%s}\n", quoted)
	}
	return nil
}

// printWhole prints a list that the API gives in one piece.
func printWhole[T any](o output, items []T, text func([]T)) error {
	switch o.format {
	case formatJSON:
		return o.object(control.List[T]{Items: append([]T{}, items...)})
	case formatNDJSON:
		for _, item := range items {
			if err := o.object(item); err != nil {
				return err
			}
		}
	default:
		text(items)
	}
	return nil
}

func eachPage[T any](ctx context.Context, limit int, page pager[T], see func([]T) error) (next string, err error) {
	for left := limit; ; {
		size := control.MaxLimit
		if limit > 0 {
			size = min(size, left)
		}
		l, err := page(ctx, next, size)
		if err != nil {
			return "", err
		}
		if err := see(l.Items); err != nil {
			return "", err
		}
		left -= len(l.Items)
		if next = l.Next; next == "" || limit > 0 && left <= 0 {
			return next, nil
		}
	}
}

// limitFlag adds --limit.
func limitFlag(cmd *cobra.Command, limit *count) {
	*limit = control.DefaultLimit
	cmd.Flags().Var(limit, "limit", "print this many rows at most; 0 prints all")
}

// count is a flag of 0 or more.
type count int

func (c *count) String() string { return strconv.Itoa(int(*c)) }

func (c *count) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return fmt.Errorf("want a number, 0 or more")
	}
	*c = count(n)
	return nil
}

func (*count) Type() string { return "number" }

// clean makes text from outside fit for a terminal and for one line: whatever is not printable is
// written as an escape.
func clean(s string) string {
	if !strings.ContainsFunc(s, unprintable) && !strings.ContainsRune(s, unicode.ReplacementChar) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// quote is text from outside in quotes.
func quote(s string) string { return strconv.Quote(s) }

// or is s, or what stands for nothing.
func or(s, nothing string) string {
	if s == "" {
		return nothing
	}
	return clean(s)
}

// terminal reports whether a person looks at w.
func terminal(w io.Writer) bool {
	switch w := w.(type) {
	case *stdout:
		return w.terminal
	case *os.File:
		info, err := w.Stat()
		return err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return false
}

// plural is "1 row" or "2 rows".
func plural[N int | uint64 | int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
