package receipt

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Validate gives every problem of the rules, joined, each with its place in the configuration below
// path, as "smscs[0].rules.message_id[1].truncate: must be 1 or more (got 0)". Nil: Decode and the keys
// do what the rules say.
func (r *Rules) Validate(path string) error {
	p := problems{path: path}
	p.oneOf("detect", string(r.Detect), string(DetectESMClass), string(DetectTLV), string(DetectText))
	p.oneOf("state", string(r.Believe), string(BelieveAgree), string(BelieveTLV), string(BelieveText))
	p.oneOf("address_check", string(r.AddressCheck), string(AddressHold), string(AddressFlag), string(AddressOff))
	if reflect.DeepEqual(r.TLVID, r.TextID) {
		p.idRules("message_id", r.TLVID)
	} else {
		p.idRules("message_id.tlv", r.TLVID)
		p.idRules("message_id.text", r.TextID)
	}
	if _, err := loadZone(r.Timezone); err != nil {
		p.add("timezone", "must be a name of the time zone database, as Europe/Rome (got %q)", r.Timezone)
	}
	for _, word := range slices.Sorted(maps.Keys(r.States)) {
		if word == "" || word != strings.ToUpper(word) {
			p.add("states", "words must be in capitals (got %q)", word)
		}
		if s := r.States[word]; s == NoState || s > Skipped {
			p.add("states."+word, "must be an SMPP state, as UNDELIVERABLE (got %q)", s)
		}
	}
	switch r.ClientRefTLV {
	case TagReceiptedMessageID, TagUserMessageReference, TagNetworkErrorCode, TagMessagePayload, TagMessageState:
		p.add("client_ref_tlv", "must be a vendor's tag (got 0x%04X, which SMPP gives another meaning)", r.ClientRefTLV)
	}
	return errors.Join(p.found...)
}

// problems collects errors with their paths.
type problems struct {
	path  string
	found []error
}

func (p *problems) add(place, format string, args ...any) {
	if p.path != "" {
		place = p.path + "." + place
	}
	p.found = append(p.found, fmt.Errorf("%s: %s", place, fmt.Sprintf(format, args...)))
}

func (p *problems) oneOf(place, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		p.add(place, "must be one of %s (got %q)", strings.Join(allowed, ", "), got)
	}
}

func (p *problems) idRules(place string, rules IDRules) {
	notation := ""
	for i, rule := range rules {
		at := fmt.Sprintf("%s[%d]", place, i)
		p.idRule(at, rule)
		if rule.Name != RuleHexToDec && rule.Name != RuleDecToHex {
			continue
		}
		if notation != "" {
			p.add(at, "%s cannot follow %s: an id is in one notation", rule.Name, notation)
		}
		notation = rule.Name
	}
}

func (p *problems) idRule(at string, rule IDRule) {
	switch rule.Name {
	case RuleTruncate:
		if rule.N < 1 {
			p.add(at+"."+rule.Name, "must be 1 or more (got %d)", rule.N)
		}
	case RuleCutBefore, RuleCutAfter:
		if rule.Sep == "" {
			p.add(at+"."+rule.Name, "must not be empty")
		}
	case RuleFoldCase, RuleStripZeros, RuleHexToDec, RuleDecToHex, RuleHexString, RuleIgnore:
	default:
		p.add(at, "there is no rule %q", rule.Name)
		return
	}
	if rule.N != 0 && rule.Name != RuleTruncate || rule.Sep != "" && rule.Name != RuleCutBefore && rule.Name != RuleCutAfter {
		p.add(at+"."+rule.Name, "takes no such value")
	}
}
