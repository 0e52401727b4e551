package main

import (
	"fmt"
	"strconv"
	"strings"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// enumValue is a flag that takes one of some words.
type enumValue[T ~string] struct {
	to   *T
	name string
}

func (v enumValue[T]) String() string {
	if v.to == nil {
		return ""
	}
	return string(*v.to)
}
func (v enumValue[T]) Set(s string) error { *v.to = T(s); return nil }
func (v enumValue[T]) Type() string       { return v.name }

// listValue is a flag that may come several times, or once with commas; parse reads one element.
type listValue[T any] struct {
	to    *[]T
	parse func(string) (T, error)
	name  string
}

func (v listValue[T]) String() string { return "" }
func (v listValue[T]) Type() string   { return v.name }

func (v listValue[T]) Set(s string) error {
	for element := range strings.SplitSeq(s, ",") {
		e, err := v.parse(element)
		if err != nil {
			return err
		}
		*v.to = append(*v.to, e)
	}
	return nil
}

// statusValue is a flag that takes a command_status.
type statusValue struct{ to *smpp.Status }

func (v statusValue) Type() string { return "status" }

func (v statusValue) String() string {
	if v.to == nil || *v.to == smpp.StatusOK {
		return ""
	}
	return v.to.String()
}

func (v statusValue) Set(s string) (err error) {
	*v.to, err = smpp.ParseStatus(s)
	return err
}

// parseRefusal reads STATUS=SHARE.
func parseRefusal(s string) (smpptest.Refusal, error) {
	name, share, err := cutShare(s)
	if err != nil {
		return smpptest.Refusal{}, err
	}
	status, err := smpp.ParseStatus(name)
	return smpptest.Refusal{Status: status, Share: share}, err
}

// parseState reads WORD=SHARE or WORD/STATE=SHARE.
func parseState(s string) (smpptest.StateShare, error) {
	name, share, err := cutShare(s)
	word, state, _ := strings.Cut(name, "/")
	return smpptest.StateShare{Word: word, State: state, Share: share}, err
}

func parseDrop(s string) (smpptest.Drop, error) { return smpptest.Drop(s), nil }

func cutShare(s string) (string, float64, error) {
	name, number, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return "", 0, fmt.Errorf("%q: want NAME=SHARE, as DELIVRD=0.9", s)
	}
	share, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return "", 0, fmt.Errorf("%q: %q is no number", s, number)
	}
	return name, share, nil
}

// tagValue is a flag that takes the tag of an optional parameter as a number.
type tagValue struct{ to *smpp.Tag }

func (v tagValue) Type() string { return "tag" }

func (v tagValue) String() string {
	if v.to == nil || *v.to == 0 {
		return ""
	}
	return fmt.Sprintf("0x%04X", uint16(*v.to))
}

func (v tagValue) Set(s string) error {
	n, err := strconv.ParseUint(s, 0, 16)
	if err != nil {
		return fmt.Errorf("%q is no tag: want a number as 0x1401", s)
	}
	*v.to = smpp.Tag(n)
	return nil
}

// cancelValue is a flag that takes the status of all answers to cancel_sm.
type cancelValue struct{ cfg *smpptest.Config }

func (v cancelValue) Type() string   { return "status" }
func (v cancelValue) String() string { return "" }

func (v cancelValue) Set(s string) error {
	status, err := smpp.ParseStatus(s)
	v.cfg.OnCancel = func(c smpptest.Cancel) smpptest.Cancelled {
		if status == smpp.StatusOK && !c.Known {
			return smpptest.Cancelled{Status: smpp.StatusInvMsgID}
		}
		return smpptest.Cancelled{Status: status, Deleted: status == smpp.StatusOK}
	}
	return err
}
