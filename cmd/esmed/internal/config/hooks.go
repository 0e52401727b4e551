package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"esmed/smpp"
)

// textValue is a value from the environment or a flag. It is text of any type: what it means depends
// on the key. Values in the file carry their types themselves.
type textValue string

var (
	typeDuration = reflect.TypeFor[time.Duration]()
	typeStatus   = reflect.TypeFor[smpp.Status]()
	typeSMSC     = reflect.TypeFor[SMSC]()
	typeIDRules  = reflect.TypeFor[MessageIDRules]()
	typeText     = reflect.TypeFor[textValue]()
)

// hook converts one value for mapstructure, and is stricter than it: no number is cut off, rounded or
// wrapped, and nothing becomes text that was not.
func hook(from, to reflect.Value) (any, error) {
	v := from.Interface()
	switch to.Type() {
	case typeSMSC:
		// A list element begins with its defaults.
		to.Set(reflect.ValueOf(DefaultSMSC()))
		return v, expect(from, reflect.Map, "a section")
	case typeIDRules:
		return messageIDRules(v)
	case typeDuration:
		return duration(v)
	case typeStatus:
		return status(v)
	}
	switch to.Kind() {
	case reflect.String:
		if from.Type() == typeText {
			return from.String(), nil
		}
		return v, expect(from, reflect.String, "text (in quotes if it looks like a number)")
	case reflect.Bool:
		return boolean(v)
	case reflect.Float64:
		return float(v)
	case reflect.Int, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return integer(v, to)
	case reflect.Slice:
		if from.Type() == typeText {
			return list(from.String()), nil
		}
		return v, expect(from, reflect.Slice, "a list")
	case reflect.Struct, reflect.Map:
		return v, expect(from, reflect.Map, "a section")
	}
	return v, nil
}

func expect(v reflect.Value, kind reflect.Kind, what string) error {
	if v.Kind() == kind && v.Type() != typeText {
		return nil
	}
	return fmt.Errorf("must be %s", what)
}

func duration(v any) (any, error) {
	switch v := v.(type) {
	case textValue:
		return ParseDuration(string(v))
	case string:
		return ParseDuration(v)
	case int:
		if v == 0 {
			return time.Duration(0), nil
		}
	}
	return nil, fmt.Errorf("%w (got %v)", errDuration, v)
}

func status(v any) (any, error) {
	switch v := v.(type) {
	case textValue:
		return parseStatus(string(v))
	case string:
		return parseStatus(v)
	case int:
		return parseStatus(strconv.Itoa(v))
	}
	return nil, errors.New("not a status: write a name as ESME_RINVDSTADR or a number as 0x408")
}

func boolean(v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case textValue:
		switch v {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	}
	return nil, errors.New("must be true or false")
}

func float(v any) (any, error) {
	f, ok := 0.0, false
	switch v := v.(type) {
	case float64:
		f, ok = v, true
	case int:
		f, ok = float64(v), true
	case textValue:
		parsed, err := strconv.ParseFloat(string(v), 64)
		f, ok = parsed, err == nil
	}
	if !ok || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, errors.New("must be a number")
	}
	return f, nil
}

// integer gives v as an int64 or uint64 that fits the target.
func integer(v any, to reflect.Value) (any, error) {
	var n int64
	switch v := v.(type) {
	case int:
		n = int64(v)
	case textValue:
		parsed, err := strconv.ParseInt(string(v), 0, 64)
		if err != nil || octal(strings.TrimLeft(string(v), "+-")) {
			return nil, errors.New("must be a whole number")
		}
		n = parsed
	default:
		return nil, errors.New("must be a whole number")
	}
	if to.CanUint() {
		if limit := uint64(1)<<to.Type().Bits() - 1; n < 0 || uint64(n) > limit {
			return nil, fmt.Errorf("must be 0 to %d (got %d)", limit, n)
		}
		return uint64(n), nil
	}
	return n, nil
}

// list splits a value such as "a, b".
func list(s string) []string {
	var items []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
