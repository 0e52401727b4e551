package statemachine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"esmed/receipt"
)

const (
	// sampledIDs is how many ids of each side are looked at for lengths and separators.
	sampledIDs = 1000
	// rare is the share of ids, one in so many, below which a length or a separator is chance.
	rare = 50
	// maxLengths and maxMarks bound how many lengths and separators are tried.
	maxLengths = 2
	maxMarks   = 3
	// leastLength is how many characters of an id at least must be left for its beginning to tell anything.
	leastLength = 4
)

// idLists gives the lists of rules that may bring the ids of answers and of receipts together, the
// simplest first: each rule by itself, and the pairs that SMSCs are known for. What the rules about
// lengths and separators need is read off the ids.
func idLists(answers, receipts []string) []receipt.IDRules {
	lists := []receipt.IDRules{
		nil,
		{{Name: receipt.RuleFoldCase}},
		{{Name: receipt.RuleStripZeros}},
		{{Name: receipt.RuleHexToDec}},
		{{Name: receipt.RuleDecToHex}},
		{{Name: receipt.RuleHexString}},
	}
	// What stands on one side only was put there; what stands on both may be a part of the id.
	cuts, lengths := separators(answers, receipts), truncations(answers, receipts)
	for _, cut := range cuts.oneSided {
		lists = append(lists, receipt.IDRules{cut})
	}
	for _, n := range lengths {
		lists = append(lists, receipt.IDRules{n})
	}
	for _, cut := range cuts.twoSided {
		lists = append(lists, receipt.IDRules{cut})
	}
	lists = append(lists,
		receipt.IDRules{{Name: receipt.RuleFoldCase}, {Name: receipt.RuleStripZeros}},
		receipt.IDRules{{Name: receipt.RuleHexString}, {Name: receipt.RuleFoldCase}},
		receipt.IDRules{{Name: receipt.RuleHexString}, {Name: receipt.RuleStripZeros}},
	)
	for _, n := range lengths {
		lists = append(lists, receipt.IDRules{{Name: receipt.RuleFoldCase}, n})
	}
	all := slices.Concat(cuts.oneSided, cuts.twoSided)
	for _, cut := range all {
		lists = append(lists, behindCut(cut, answers, receipts, all)...)
	}
	return lists
}

// behindCut gives the lists that begin with a cut.
func behindCut(cut receipt.IDRule, answers, receipts []string, cuts []receipt.IDRule) []receipt.IDRules {
	var lists []receipt.IDRules
	for _, name := range [...]string{
		receipt.RuleFoldCase, receipt.RuleStripZeros, receipt.RuleHexToDec, receipt.RuleDecToHex, receipt.RuleHexString,
	} {
		lists = append(lists, receipt.IDRules{cut, {Name: name}})
	}
	for _, n := range truncations(cutAll(cut, answers), cutAll(cut, receipts)) {
		lists = append(lists, receipt.IDRules{cut, n})
	}
	for _, other := range cuts {
		if cut.Name == receipt.RuleCutBefore && other.Name == receipt.RuleCutAfter {
			lists = append(lists, receipt.IDRules{cut, other})
		}
	}
	return lists
}

func cutAll(cut receipt.IDRule, ids []string) []string {
	left := make([]string, len(ids))
	for i, id := range ids {
		before, after, found := strings.Cut(id, cut.Sep)
		if left[i] = before; cut.Name == receipt.RuleCutBefore && found {
			left[i] = after
		}
	}
	return left
}

// truncations are the lengths that many of the receipts' ids have and that answers exceed.
func truncations(answers, receipts []string) []receipt.IDRule {
	longest := 0
	for _, id := range answers {
		longest = max(longest, utf8.RuneCountInString(id))
	}
	counts := map[int]int{}
	for _, id := range receipts {
		if n := utf8.RuneCountInString(id); n >= leastLength && n < longest {
			counts[n]++
		}
	}
	var rules []receipt.IDRule
	for _, n := range mostFrequent(counts, len(receipts), maxLengths) {
		rules = append(rules, receipt.IDRule{Name: receipt.RuleTruncate, N: n})
	}
	return rules
}

// cuts are those at what the ids of one side have, and at what those of both have.
type cuts struct{ oneSided, twoSided []receipt.IDRule }

// separators are cuts at characters that are neither letter nor digit, and at words that all ids of one
// side, and not those of the other, begin or end with.
func separators(answers, receipts []string) (c cuts) {
	ours, theirs := marks(answers), marks(receipts)
	total := maps.Clone(ours)
	for mark, n := range theirs {
		total[mark] += n
	}
	for _, mark := range mostFrequent(total, min(len(answers), len(receipts)), maxMarks) {
		rules := []receipt.IDRule{{Name: receipt.RuleCutBefore, Sep: mark}, {Name: receipt.RuleCutAfter, Sep: mark}}
		if ours[mark] > 0 && theirs[mark] > 0 {
			c.twoSided = append(c.twoSided, rules...)
		} else {
			c.oneSided = append(c.oneSided, rules...)
		}
	}
	for _, sides := range [...][2][]string{{answers, receipts}, {receipts, answers}} {
		if word := commonPrefix(sides[0]); word != "" && commonPrefix(sides[1]) != word {
			c.oneSided = append(c.oneSided, receipt.IDRule{Name: receipt.RuleCutBefore, Sep: word})
		}
		if word := commonSuffix(sides[0]); word != "" && commonSuffix(sides[1]) != word {
			c.oneSided = append(c.oneSided, receipt.IDRule{Name: receipt.RuleCutAfter, Sep: word})
		}
	}
	return c
}

// marks counts the ids in which a character that is neither letter nor digit stands.
func marks(ids []string) map[string]int {
	counts := map[string]int{}
	for _, id := range ids {
		var seen []rune
		for _, c := range id {
			if !unicode.IsLetter(c) && !unicode.IsDigit(c) && unicode.IsPrint(c) && !slices.Contains(seen, c) {
				seen = append(seen, c)
				counts[string(c)]++
			}
		}
	}
	return counts
}

// mostFrequent gives the keys that are not rare among of, the most frequent first, at most limit.
func mostFrequent[K cmp.Ordered](counts map[K]int, of, limit int) []K {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	keys = slices.DeleteFunc(keys, func(k K) bool { return counts[k]*rare < of })
	return keys[:min(len(keys), limit)]
}

// fewIDs is how many ids at least must have a word in common before it is more than chance.
const fewIDs = 3

// commonPrefix is the word of letters that all ids begin with; "" when there is none, or when it could
// be the beginning of a hexadecimal number.
func commonPrefix(ids []string) string {
	if len(ids) < fewIDs {
		return ""
	}
	word := ids[0]
	for _, id := range ids {
		n := 0
		for n < min(len(word), len(id)) && word[n] == id[n] {
			n++
		}
		word = word[:n]
	}
	end := 0
	for end < len(word) && isLetter(word[end]) {
		end++
	}
	return wordOnly(word[:end])
}

// commonSuffix is the same at the end.
func commonSuffix(ids []string) string {
	turned := make([]string, len(ids))
	for i, id := range ids {
		turned[i] = backwards(id)
	}
	return backwards(commonPrefix(turned))
}

func backwards(s string) string {
	octets := []byte(s)
	slices.Reverse(octets)
	return string(octets)
}

func wordOnly(word string) string {
	if strings.Trim(word, "abcdefABCDEF") == "" {
		return ""
	}
	return word
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
