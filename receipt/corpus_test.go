package receipt_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

const corpusDir = "../testdata/receipts"

// corpusCase is one line of testdata/receipts, described in the README there.
type corpusCase struct {
	Name         string `json:"name"`
	PDU          string `json:"pdu"`
	ESMClass     byte   `json:"esm_class"`
	DataCoding   byte   `json:"data_coding"`
	ShortMessage string `json:"short_message_hex"`
	TLVs         []struct {
		Tag uint16 `json:"tag"`
		Hex string `json:"hex"`
	} `json:"tlvs"`
	SourceAddr string          `json:"source_addr"`
	DestAddr   string          `json:"dest_addr"`
	Want       json.RawMessage `json:"want"`
}

func (c *corpusCase) delivery(t testing.TB) receipt.Delivery {
	d := receipt.Delivery{
		CommandID: deliverSM, ESMClass: c.ESMClass, DataCoding: c.DataCoding,
		Source: receipt.Address{Addr: c.SourceAddr}, Dest: receipt.Address{Addr: c.DestAddr},
	}
	if c.PDU == "data_sm" {
		d.CommandID = dataSM
	} else {
		d.ShortMessage = unhex(t, c.ShortMessage)
	}
	for _, tlv := range c.TLVs {
		d.TLVs = append(d.TLVs, receipt.TLV{Tag: tlv.Tag, Value: unhex(t, tlv.Hex)})
	}
	return d
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// readLines decodes each line of a file of the corpus.
func readLines[T any](t testing.TB, path string) []T {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []T
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var v T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v), path)
		all = append(all, v)
	}
	require.NotEmpty(t, all)
	return all
}

// corpus gives all cases by file.
func corpus(t testing.TB) map[string][]corpusCase {
	paths, err := filepath.Glob(filepath.Join(corpusDir, "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := make(map[string][]corpusCase)
	for _, path := range paths {
		if name := filepath.Base(path); name != "message_ids.jsonl" {
			all[name] = readLines[corpusCase](t, path)
		}
	}
	return all
}

func TestDecode_corpus(t *testing.T) {
	rules := receipt.DefaultRules()
	for file, cases := range corpus(t) {
		for _, c := range cases {
			t.Run(file+"/"+c.Name, func(t *testing.T) {
				r := receipt.Decode(c.delivery(t), &rules)
				got, err := json.Marshal(r.Reading())
				require.NoError(t, err)
				require.JSONEq(t, string(c.Want), string(got))
			})
		}
	}
}

func TestKeys_corpus(t *testing.T) {
	type pair struct {
		Response string `json:"submit_resp_id"`
		Receipt  string `json:"receipt_id"`
		Match    bool   `json:"match"`
		Rule     string `json:"rule"`
	}
	rules := map[string]receipt.IDRule{
		"case":             {Name: receipt.RuleFoldCase},
		"leading-zeros":    {Name: receipt.RuleStripZeros},
		"hex-to-dec":       {Name: receipt.RuleHexToDec},
		"dec-to-hex":       {Name: receipt.RuleDecToHex},
		"hex-string":       {Name: receipt.RuleHexString},
		"prefix-truncated": {Name: receipt.RuleTruncate, N: 10},
		"prefix-stripped":  {Name: receipt.RuleCutBefore, Sep: "#"},
		"suffix-stripped":  {Name: receipt.RuleCutAfter, Sep: "@"},
	}
	// These are the pairs that a rule does join, since it names what was done to the id.
	named := map[string]string{
		"ambiguous-base":   "hex-to-dec",
		"ambiguous-prefix": "prefix-truncated",
		"hex-string":       "hex-string",
	}
	for _, p := range readLines[pair](t, filepath.Join(corpusDir, "message_ids.jsonl")) {
		t.Run(p.Rule+"/"+p.Response+"/"+p.Receipt, func(t *testing.T) {
			unruled := p.Match && (p.Rule == "exact" || p.Rule == "trim")
			require.Equal(t, unruled, matches(nil, p.Response, p.Receipt), "without rules")
			for name, rule := range rules {
				got := matches(receipt.IDRules{rule}, p.Response, p.Receipt)
				switch {
				case p.Match && name == p.Rule:
					require.True(t, got, "under its own rule %s", name)
				case !p.Match && named[p.Rule] == name:
				case !unruled:
					require.False(t, got, "under %s", name)
				}
			}
		})
	}
}
