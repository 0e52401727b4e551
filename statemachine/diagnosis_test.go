package statemachine_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

// diagnose concludes about all that the lab holds.
func (l *lab) diagnose() []*statemachine.SMSCDiagnosis {
	var rules *statemachine.Rules
	if _, rules = l.mem.Rules(); rules == nil {
		rules = &statemachine.Rules{}
	}
	d := statemachine.NewDiagnosis(l.mem.Fold, rules, l.mem.Record)
	for _, row := range l.mem.Inbox {
		d.Wait(row)
	}
	for _, m := range l.mem.Messages {
		require.True(l.t, d.Add(m))
	}
	found, err := d.Conclude(context.Background())
	require.NoError(l.t, err)
	return found
}

// number is the nth destination.
func number(n int) string { return fmt.Sprintf("39333%07d", 1000+n) }

// submitted brings a message that was accepted with an id.
func (l *lab) submitted(n int, id string) {
	l.play(fmt.Sprintf("accepted M%03d to=+%s\nsent M%03d\nsubmit_resp M%03d id=%q", n, number(n), n, n, id))
}

// shapes are habits of SMSCs: how the nth id looks in the answer, in the TLV and in the text of the receipt.
var shapes = []struct {
	name   string
	answer func(n int) string
	tlv    func(answer string) string // nil: there is none
	text   func(answer string) string
	want   string // the first proposal
}{
	{"hex in the answer, decimal in the text", hexID, nil, decimalOf, "tlv= text=hex_to_dec"},
	{"hex in the answer, decimal in both", hexID, decimalOf, decimalOf, "tlv=hex_to_dec text=hex_to_dec"},
	{"hex in the answer and the TLV, decimal in the text, the addresses alike", hexID, nil, func(a string) string { return "0" + decimalOf(a) }, "tlv= text=hex_to_dec"},
	{"decimal in the answer, hex in the text", func(n int) string { return decimalOf(hexID(n)) }, nil, func(a string) string { return strings.ToLower(hexOf(a)) }, "tlv= text=dec_to_hex"},
	{"zeros before it in the receipt", decimalID, nil, func(a string) string { return "0000" + a }, "tlv= text=strip_zeros"},
	{"another case", hexID, nil, strings.ToLower, "tlv= text=fold_case"},
	{"another case and zeros before it", hexID, nil, func(a string) string { return "000" + strings.ToLower(a) }, "tlv= text=fold_case,strip_zeros"},
	{"the first ten characters", func(n int) string { return scattered(n) + hexID(n) }, nil, func(a string) string { return a[:10] }, "tlv= text=truncate:10"},
	{"a number and # before it", decimalID, nil, func(a string) string { return "447700900123#" + a }, "tlv= text=cut_before:#"},
	{"the centre's name before it", decimalID, nil, func(a string) string { return "smsc1:" + a }, "tlv= text=cut_before::"},
	{"a host behind that of the answer", func(n int) string { return decimalID(n) + "@smsc-b" }, nil, func(a string) string { a, _, _ = strings.Cut(a, "@"); return a }, "tlv= text=cut_after:@"},
	{"the part behind it", decimalID, nil, func(a string) string { return a + "-1" }, "tlv= text=cut_after:-"},
	{"a word before it", decimalID, nil, func(a string) string { return "MSG" + a }, "tlv= text=cut_before:MSG"},
	{"its octets in hex", func(n int) string { return "Q" + decimalID(n) }, nil, func(a string) string { return hex.EncodeToString([]byte(a)) }, "tlv= text=hex_string"},
	{"a name before it, and decimal for hex", hexID, nil, func(a string) string { return "smsc1:" + decimalOf(a) }, "tlv= text=cut_before::,hex_to_dec"},
	{"the TLV is decimal, the text in another case", hexID, decimalOf, strings.ToLower, "tlv=hex_to_dec text=fold_case"},
	{"a text id that has nothing to do with it", hexID, strings.ToLower, func(a string) string { return a[3:] + "Z" }, "tlv=fold_case text="},
}

// hexID is a hexadecimal id with a letter in it and no regularity of its last digits.
func hexID(n int) string { return fmt.Sprintf("5A%06X", 7919*(n+1)) }

func decimalID(n int) string { return fmt.Sprint(1_500_000_000 + 7919*n) }

func scattered(n int) string { return fmt.Sprintf("%08x", uint32(n+1)*2654435761) }

func decimalOf(id string) string {
	n, _ := new(big.Int).SetString(id, 16)
	return n.String()
}

func hexOf(id string) string {
	n, _ := new(big.Int).SetString(id, 10)
	return strings.ToUpper(n.Text(16))
}

// written is a pair of lists as scripts write it.
func written(tlv, text receipt.IDRules) string {
	list := func(rules receipt.IDRules) string {
		words := make([]string, len(rules))
		for i, r := range rules {
			words[i] = r.Name
			if r.N != 0 {
				words[i] += fmt.Sprint(":", r.N)
			} else if r.Sep != "" {
				words[i] += ":" + r.Sep
			}
		}
		return strings.Join(words, ",")
	}
	return "tlv=" + list(tlv) + " text=" + list(text)
}

func TestDiagnosis_findsHowAnSMSCWritesIDs(t *testing.T) {
	const n = 40
	for _, tt := range shapes {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha")
			for i := range n {
				answer := tt.answer(i)
				l.submitted(i, answer)
				tlv := ""
				if tt.tlv != nil {
					tlv = fmt.Sprintf("tlv=%q", tt.tlv(answer))
				}
				l.play(fmt.Sprintf(`reception src=%s %s text="id:%s stat:DELIVRD"`, number(i), tlv, tt.text(answer)))
			}
			l.submitted(n, tt.answer(n)) // one that nothing was heard of
			require.Len(t, l.mem.Inbox, n)
			before := len(l.mem.Decisions)
			found := l.diagnose()
			require.Len(t, found, 1)
			d := found[0]
			require.Equal(t, statemachine.Fits{None: n}, d.Today.Fits)
			require.NotEmpty(t, d.Proposals)
			best := d.Proposals[0]
			require.Equal(t, tt.want, written(best.TLV, best.Text))
			require.Equal(t, statemachine.Fits{Unique: n, Confirmed: n}, best.Fits)
			require.Equal(t, statemachine.QualityGood, best.Quality)
			require.Len(t, l.mem.Decisions, before)
			require.Len(t, l.mem.Inbox, n)
		})
	}
}

// TestDiagnosis_promisesWhatHappens: with the rules that it proposes, or those in force, the same log matches
// as many receipts, leaves as many, and for the same reasons, as it said.
func TestDiagnosis_promisesWhatHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var script []string
		n := rapid.IntRange(1, 12).Draw(rt, "messages")
		shape := shapes[rapid.IntRange(0, len(shapes)-1).Draw(rt, "shape")]
		id := rapid.IntRange(0, 14)
		for i := range n {
			script = append(script, fmt.Sprintf("accepted M%03d to=+%s\nsent M%03d\nsubmit_resp M%03d id=%q",
				i, number(id.Draw(rt, "to")%4), i, i, shape.answer(id.Draw(rt, "id"))))
		}
		from := map[string]int{} // an id comes from one address, as a row of the inbox has one
		for range rapid.IntRange(1, 12).Draw(rt, "receipts") {
			answer := shape.answer(id.Draw(rt, "id"))
			tlv := ""
			if shape.tlv != nil && rapid.Bool().Draw(rt, "tlv") {
				tlv = fmt.Sprintf("tlv=%q", shape.tlv(answer))
			}
			text := shape.text(answer)
			if rapid.IntRange(0, 4).Draw(rt, "as received") == 0 {
				text = answer
			}
			if _, ok := from[text+tlv]; !ok {
				from[text+tlv] = id.Draw(rt, "src") % 4
			}
			stat := rapid.SampledFrom([]string{"DELIVRD", "ENROUTE", "EXPIRED"}).Draw(rt, "stat")
			script = append(script, fmt.Sprintf(`reception src=%s %s text="id:%s stat:%s"`, number(from[text+tlv]), tlv, text, stat))
		}
		log := strings.Join(script, "\n")
		held := play(t, "rules alpha\n"+strings.Join(script[n:], "\n")).mem
		d := statemachine.NewDiagnosis(held.Fold, &statemachine.Rules{}, held.Record)
		for _, row := range held.Inbox {
			d.Wait(row)
		}
		for _, m := range play(t, "rules alpha\n"+strings.Join(script[:n], "\n")).mem.Messages {
			d.Add(m)
		}
		found, err := d.Conclude(context.Background())
		require.NoError(rt, err)
		require.Len(rt, found, 1)
		for _, p := range append(found[0].Proposals, found[0].Today) {
			mem := play(t, "rules alpha "+written(p.TLV, p.Text)+"\n"+log).mem
			got := statemachine.Fits{Confirmed: p.Confirmed}
			for _, row := range mem.Inbox {
				switch row.Why {
				case statemachine.Ambiguous:
					got.Several++
				case statemachine.AddressMismatch:
					got.Contradicted++
				default:
					got.None++
				}
			}
			got.Unique = found[0].Receipts - len(mem.Inbox)
			require.Equal(rt, p.Fits, got, "%s", written(p.TLV, p.Text))
		}
	})
}

// pair is a line of testdata/receipts/message_ids.jsonl.
type pair struct {
	Answer  string `json:"submit_resp_id"`
	Receipt string `json:"receipt_id"`
	Match   bool   `json:"match"`
	Rule    string `json:"rule"`
}

func corpusPairs(t *testing.T) []pair {
	data, err := os.ReadFile("../testdata/receipts/message_ids.jsonl")
	require.NoError(t, err)
	var pairs []pair
	for line := range strings.Lines(string(data)) {
		var p pair
		require.NoError(t, json.Unmarshal([]byte(line), &p))
		pairs = append(pairs, p)
	}
	return pairs
}

// TestDiagnosis_corpus: for each pair of ids that may match there is a list of rules, among those that are
// tried, under which it does; pairs that must never match do so under none.
func TestDiagnosis_corpus(t *testing.T) {
	never := []string{
		"binary-prefix", "empty", "float-rounding", "int64-clamp", "int64-wrap", "look-alike", "mask-32-bit", "near-miss",
		"numeric-prefix", "numeric-suffix", "octal", "part-id", "placeholder", "scientific", "underscore", "unicode-digits", "zero-id",
	}
	for _, p := range corpusPairs(t) {
		if !p.Match && !slices.Contains(never, p.Rule) {
			continue
		}
		t.Run(p.Rule+" "+p.Answer+" "+p.Receipt, func(t *testing.T) {
			d := statemachine.NewDiagnosis(statemachine.Fold{Decode: delivery}, nil, func(uint64) (statemachine.Record, error) {
				return statemachine.Record{}, nil
			})
			address := receipt.Address{Addr: number(1)}
			d.Wait(&statemachine.InboxRow{SMSC: "alpha", Account: "alpha", TextID: p.Receipt, Source: address, Receptions: []uint64{9}})
			require.True(t, d.Add(&statemachine.Message{
				ID: "M1", SMSC: "alpha", Account: "alpha", Dest: address, State: statemachine.Submitted,
				Parts: []statemachine.Part{{Number: 1, Asked: true, State: statemachine.Submitted, Attempts: []statemachine.Attempt{
					{Number: 1, Outcome: statemachine.AcceptedBy, AnswerSeq: 3, MessageID: p.Answer},
				}}},
			}))
			found, err := d.Conclude(context.Background())
			require.NoError(t, err)
			fitting := slices.IndexFunc(found[0].Text, func(trial statemachine.Trial) bool { return trial.Unique == 1 })
			if !p.Match {
				require.Negative(t, fitting)
				require.Empty(t, found[0].Proposals)
				return
			}
			require.Zero(t, fitting, "%+v", found[0].Text)
			if p.Rule != "exact" && p.Rule != "trim" {
				require.Equal(t, statemachine.QualityThin, found[0].Proposals[0].Quality, "one receipt proves little")
			}
		})
	}
}

func TestDiagnosis_tellsWhatARuleWouldBreak(t *testing.T) {
	l := play(t, "rules alpha")
	for i := range 60 { // all digits, so that hex and decimal read alike
		l.submitted(i, fmt.Sprint(10_000+i))
	}
	for i := range 30 { // found as they are
		l.play(fmt.Sprintf(`reception src=%s text="id:%d stat:DELIVRD"`, number(i), 10_000+i))
	}
	for i := 30; i < 55; i++ { // in decimal, from another node of the SMSC
		l.play(fmt.Sprintf(`reception src=%s text="id:%s stat:DELIVRD"`, number(i), decimalOf(fmt.Sprint(10_000+i))))
	}
	d := l.diagnose()[0]
	require.Equal(t, 30, d.Controls)
	require.NotEmpty(t, d.Proposals)
	p := d.Proposals[0]
	require.Equal(t, "tlv= text=hex_to_dec", written(p.TLV, p.Text))
	require.Equal(t, 25, p.Confirmed)
	require.Equal(t, 30, p.Lost)
	require.Equal(t, statemachine.QualityDoubtful, p.Quality)
}

func TestDiagnosis_isNotGoodWhereManyFitSeveralOrAnotherAddress(t *testing.T) {
	tests := []struct {
		name   string
		answer func(i int) string
		text   func(i int) string
		src    func(i int) string
		want   statemachine.Fits
	}{
		{
			"the first characters are those of others too", func(i int) string { return fmt.Sprintf("%08d-%d", i/2, i) },
			func(i int) string { return fmt.Sprintf("%08d", i/2) + fmt.Sprintf("-%d", i)[:1] }, func(int) string { return "" },
			statemachine.Fits{},
		},
		{
			"the addresses are others'", hexID, func(i int) string { return decimalOf(hexID(i)) }, func(i int) string { return number(i + 500) },
			statemachine.Fits{Contradicted: 40},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha")
			for i := range 40 {
				l.submitted(i, tt.answer(i))
			}
			for i := range 40 {
				l.play(fmt.Sprintf(`reception src=%q dst=ACME text="id:%s stat:DELIVRD err:%03d"`, tt.src(i), tt.text(i), i))
			}
			for _, p := range l.diagnose()[0].Proposals {
				require.NotEqual(t, statemachine.QualityGood, p.Quality, "%+v", p)
			}
		})
	}
}

func TestDiagnosis_twoDoorsToOneSMSC(t *testing.T) {
	l := play(t, "rules alpha; beta")
	for i := range 20 {
		l.submitted(i, hexID(i))
		l.play(fmt.Sprintf(`reception smsc=beta src=%s text="id:%s stat:DELIVRD"`, number(i), hexID(i)))
	}
	found := l.diagnose()
	require.Equal(t, "beta", found[0].SMSC)
	require.Equal(t, 20, found[0].Elsewhere)
	require.Equal(t, "alpha", found[0].ElsewhereAccount)
	require.Zero(t, found[0].Open)
	require.Empty(t, found[0].Proposals)
}

func TestDiagnosis_zone(t *testing.T) {
	tests := []struct {
		name   string
		offset time.Duration
		want   string
	}{
		{"Greenwich", 0, "UTC"},
		{"east of it", 3 * time.Hour, "Etc/GMT-3"},
		{"west of it", -5 * time.Hour, "Etc/GMT+5"},
		{"half an hour", 5*time.Hour + 30*time.Minute, "Asia/Kolkata"},
		{"no zone's", 2*time.Hour + 15*time.Minute, ""},
	}
	for _, tt := range tests {
		for _, label := range []string{"submit date", "done date"} {
			t.Run(tt.name+" by the "+label, func(t *testing.T) {
				l := play(t, "rules alpha ids=hex_to_dec")
				for i := range 30 {
					l.submitted(i, hexID(i))
					date := l.now.Add(tt.offset).Format("0601021504")
					id := hexID(i)
					if i%2 == 0 {
						id = decimalOf(hexID(i)) // matched at once
					} else {
						id = "0x" + id // waits, and no rule helps
					}
					l.play(fmt.Sprintf(`reception src=%s text="id:%s %s:%s stat:DELIVRD"`, number(i), id, label, date))
				}
				zone := l.diagnose()[0].Zone
				require.Equal(t, tt.want, zone.Timezone)
				require.False(t, zone.Agrees)
			})
		}
	}
}
