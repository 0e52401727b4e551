package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-viper/mapstructure/v2"
)

// Problem is one thing that is wrong with the configuration. Load's error is a join of these.
type Problem struct {
	Path string // "smscs[0].window"; "" for the whole file
	Text string // never quotes a secret
}

func (p *Problem) Error() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// problems collects what is wrong in the order in which it was found.
type problems struct{ list []*Problem }

func (p *problems) add(path, format string, args ...any) {
	p.list = append(p.list, &Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

// check adds a problem unless ok. A value that is known to be wrong already, because it could not be
// read, is not complained about twice.
func (p *problems) check(ok bool, path, format string, args ...any) {
	if !ok && !slices.ContainsFunc(p.list, func(q *Problem) bool { return q.Path == path }) {
		p.add(path, format, args...)
	}
}

func (p *problems) err() error {
	errs := make([]error, len(p.list))
	for i, q := range p.list {
		errs[i] = q
	}
	return errors.Join(errs...)
}

// addDecode takes mapstructure's tree of errors apart into problems with paths. The texts at its leaves
// are our hook's.
func (p *problems) addDecode(err error) {
	switch e := err.(type) {
	case *mapstructure.DecodeError:
		switch inner := e.Unwrap().(type) {
		case interface{ Unwrap() []error }, *mapstructure.DecodeError:
			p.addDecode(inner)
		default:
			p.add(e.Name(), "%s", inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			p.addDecode(inner)
		}
	case interface{ Unwrap() error }:
		p.addDecode(e.Unwrap())
	default:
		p.add("", "%s", err)
	}
}
