package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// keyKind is the kind of value that a key of a submission has.
type keyKind int

const (
	textKey    keyKind = iota
	numberKey          // a whole number
	receiptKey         // a word or a whole number
	addressKey         // an object of addressKeys
	listKey            // a list, which a CSV cell has in JSON
)

// submissionKeys are the keys of a row, as POST /v1/messages has them.
var submissionKeys = map[string]keyKind{
	"to": textKey, "from": textKey, "text": textKey, "smsc": textKey, "ref": textKey, "source": addressKey, "dest": addressKey,
	"validity": textKey, "schedule_delivery_time": textKey, "registered_delivery": receiptKey, "alphabet": textKey,
	"data_coding": numberKey, "data_hex": textKey, "udh_hex": textKey, "service_type": textKey, "protocol_id": numberKey,
	"priority_flag": numberKey, "replace_if_present_flag": numberKey, "tlvs": listKey, "in_doubt": textKey, "callback_url": textKey,
}

var addressKeys = map[string]keyKind{"addr": textKey, "ton": numberKey, "npi": numberKey}

// columnKind is the kind of a CSV column: a key, or a key of an address as "dest.ton".
func columnKind(name string) (keyKind, bool) {
	outer, inner, dotted := strings.Cut(name, ".")
	kind, ok := submissionKeys[outer]
	if !dotted {
		return kind, ok && kind != addressKey
	}
	innerKind, innerOK := addressKeys[inner]
	return innerKind, ok && kind == addressKey && innerOK
}

// columnNames are all columns, sorted.
func columnNames() []string {
	var names []string
	for name, kind := range submissionKeys {
		if kind != addressKey {
			names = append(names, name)
			continue
		}
		for inner := range addressKeys {
			names = append(names, name+"."+inner)
		}
	}
	slices.Sort(names)
	return names
}

// cell reads a CSV cell.
func (k keyKind) cell(s string) (any, error) {
	switch k {
	case numberKey, receiptKey:
		n, err := strconv.ParseInt(s, 0, 32)
		switch {
		case err == nil:
			return json.Number(strconv.FormatInt(n, 10)), nil
		case k == numberKey:
			return nil, errors.New("must be a whole number")
		}
	case listKey:
		var list []any
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if dec.Decode(&list) != nil || list == nil {
			return nil, errors.New("must be a list in JSON")
		}
		return list, nil
	}
	return s, nil
}

// checkKeys looks whether every key is known, exactly as written, and has a value of its kind. What the
// value says is the API's to judge.
func checkKeys(object map[string]any, known map[string]keyKind) error {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		kind, ok := known[key]
		if !ok {
			return fmt.Errorf("unknown key %q", key)
		}
		if err := kind.check(object[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func (k keyKind) check(v any) error {
	_, isText := v.(string)
	number, isNumber := v.(json.Number)
	if isNumber {
		_, err := number.Int64()
		isNumber = err == nil
	}
	switch k {
	case textKey:
		return must(isText, "a text")
	case numberKey:
		return must(isNumber, "a whole number")
	case receiptKey:
		return must(isText || isNumber, "a word or a whole number")
	case listKey:
		_, ok := v.([]any)
		return must(ok, "a list")
	}
	address, ok := v.(map[string]any)
	if !ok {
		return must(false, "an object with addr, ton and npi")
	}
	return checkKeys(address, addressKeys)
}

func must(ok bool, what string) error {
	if ok {
		return nil
	}
	return errors.New("must be " + what)
}
