package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"esmed/receipt"
)

// plainIDRules are those without a value.
var plainIDRules = []string{
	receipt.RuleFoldCase, receipt.RuleStripZeros, receipt.RuleHexToDec, receipt.RuleDecToHex, receipt.RuleHexString, receipt.RuleIgnore,
}

// messageIDRules reads smscs[].rules.message_id: a list for TLV and text alike, or a list for each.
func messageIDRules(v any) (MessageIDRules, error) {
	switch v := v.(type) {
	case MessageIDRules:
		return v, nil
	case []any:
		rules, err := idRules(v)
		return MessageIDRules{TLV: rules, Text: slices.Clone(rules)}, err
	case map[string]any:
		var m MessageIDRules
		var errs []error
		for _, name := range slices.Sorted(maps.Keys(v)) {
			steps, ok := v[name].([]any)
			if !ok && v[name] != nil {
				errs = append(errs, fmt.Errorf("%s must be a list of rules", name))
				continue
			}
			rules, err := idRules(steps)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
			switch name {
			case "tlv":
				m.TLV = rules
			case "text":
				m.Text = rules
			default:
				errs = append(errs, fmt.Errorf("%s: unknown key (there are tlv and text)", name))
			}
		}
		return m, oneError(errs)
	}
	return MessageIDRules{}, errors.New("must be a list of rules, or a section with the lists tlv and text")
}

func idRules(steps []any) (receipt.IDRules, error) {
	var rules receipt.IDRules
	var errs []error
	for i, step := range steps {
		r, err := idRule(step)
		if err != nil {
			errs = append(errs, fmt.Errorf("rule %d: %w", i+1, err))
			continue
		}
		rules = append(rules, r)
	}
	return rules, oneError(errs)
}

func idRule(step any) (receipt.IDRule, error) {
	switch step := step.(type) {
	case string:
		if slices.Contains(plainIDRules, step) {
			return receipt.IDRule{Name: step}, nil
		}
		if step == receipt.RuleTruncate || step == receipt.RuleCutBefore || step == receipt.RuleCutAfter {
			return receipt.IDRule{}, fmt.Errorf(`%s needs a value, as {truncate: 10}, {cut_before: "#"} or {cut_after: "@"}`, step)
		}
		return receipt.IDRule{}, fmt.Errorf("there is no rule %q", step)
	case map[string]any:
		if len(step) != 1 {
			return receipt.IDRule{}, errors.New("write one rule an element: their order matters")
		}
		for name, value := range step {
			return idRuleWithValue(name, value)
		}
	}
	return receipt.IDRule{}, errors.New(`must be a name as hex_to_dec, or a name with its value as {truncate: 10}`)
}

func idRuleWithValue(name string, value any) (receipt.IDRule, error) {
	switch name {
	case receipt.RuleTruncate:
		if n, ok := value.(int); ok && n > 0 {
			return receipt.IDRule{Name: name, N: n}, nil
		}
		return receipt.IDRule{}, errors.New("truncate needs a number of characters, 1 or more")
	case receipt.RuleCutBefore, receipt.RuleCutAfter:
		if sep, ok := value.(string); ok && sep != "" {
			return receipt.IDRule{Name: name, Sep: sep}, nil
		}
		return receipt.IDRule{}, fmt.Errorf(`%s needs the text to cut at, in quotes: {%s: "#"}`, name, name)
	}
	if slices.Contains(plainIDRules, name) {
		return receipt.IDRule{}, fmt.Errorf("%s takes no value: write its name alone", name)
	}
	return receipt.IDRule{}, fmt.Errorf("there is no rule %q", name)
}

// oneError puts several findings at one path into one line.
func oneError(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	text := errs[0].Error()
	for _, err := range errs[1:] {
		text += "; " + err.Error()
	}
	return errors.New(text)
}
