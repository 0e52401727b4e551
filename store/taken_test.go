package store

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

// upgraded is a store's configuration after an upgrade to a parser that reads EXPIRED and ids of 2 otherwise
// than the tests' own, and a rules record that says so.
func upgraded(cfg Config) (Config, statemachine.Rules) {
	cfg.Parser = "next"
	cfg.Decode = func(pdu []byte) receipt.Delivery {
		d := decodePDU(pdu)
		for _, change := range [][2]string{{"stat:EXPIRED", "stat:DELETED"}, {"id:2 ", "id:1 "}} {
			d.ShortMessage = bytes.ReplaceAll(d.ShortMessage, []byte(change[0]), []byte(change[1]))
		}
		if bytes.Contains(d.ShortMessage, []byte("stat:NONSENSE")) {
			d.ESMClass = 0
		}
		return d
	}
	return cfg, rulesOf(cfg.Parser)
}

func report(id, stat, dest string) *statemachine.Reception {
	pdu := receiptPDU(id, stat, dest, "x", 4)
	return &statemachine.Reception{SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: pdu, Length: uint32(len(pdu))}
}

// upgrade is a store that was upgraded: what was reported expired before it would be deleted now.
func upgrade(t *testing.T) Config {
	cfg := testConfig(t.TempDir())
	s := start(t, cfg)
	_, err := s.SetRules(context.Background(), rulesToday())
	require.NoError(t, err)
	for i, stat := range []string{"DELIVRD", "EXPIRED", "DELIVRD"} {
		dest := fmt.Sprintf("39333123450%d", i)
		facts := lifeTo(dest, fmt.Sprint("M", i), fmt.Sprintf("5A%d", i), "a text")
		s.append(facts[:3]...)
		s.append(report(fmt.Sprintf("5A%d", i), stat, dest))
	}
	require.NoError(t, s.stop())
	cfg, rules := upgraded(cfg)
	s = start(t, cfg)
	_, err = s.SetRules(context.Background(), rules)
	require.NoError(t, err)
	s.append(report("5A1", "EXPIRED", "393331234501"), report("5A2", "EXPIRED", "393331234502"))
	require.NoError(t, s.Sync(context.Background()))
	m, err := s.Message(context.Background(), "M1")
	require.NoError(t, err)
	require.Equal(t, statemachine.Expired, m.State, "never decided anew in silence")
	require.NoError(t, s.stop())
	return cfg
}

func verified(t *testing.T, cfg Config) VerifyResult {
	s, err := OpenReadOnly(cfg)
	require.NoError(t, err)
	v, err := s.Verify(context.Background(), nil)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return v
}

func TestVerify_olderParser(t *testing.T) {
	cfg := upgrade(t)
	v := verified(t, cfg)
	require.Nil(t, v.Difference)
	require.EqualValues(t, 2, v.TakenStored, "the receipt that was read otherwise, and the one after it about the same message")
	t.Run("with a daemon", func(t *testing.T) {
		s := start(t, cfg)
		v, err := s.Verify(context.Background(), nil)
		require.NoError(t, err)
		require.Nil(t, v.Difference)
		require.EqualValues(t, 2, v.TakenStored)
		require.NoError(t, s.stop())
	})
	t.Run("by the parser that decided it", func(t *testing.T) {
		cfg := cfg
		cfg.Parser, cfg.Decode = "", decodePDU
		v := verified(t, cfg)
		require.Nil(t, v.Difference)
		require.Positive(t, v.TakenStored, "what came after the upgrade")
	})
	// What the receipt has nothing to do with is checked as ever.
	message := func(id string, tx *bbolt.Tx) (*bbolt.Bucket, *statemachine.Message) {
		table := tableID{table: tableMessages}
		b := tx.Bucket(table.name()).Bucket(table.partName())
		m, err := decodeMessage(b.Get([]byte(id)))
		require.NoError(t, err)
		return b, m
	}
	tests := []struct {
		name  string
		table table
		spoil func(*bbolt.Tx) error
	}{
		{"another message", tableMessages, func(tx *bbolt.Tx) error {
			b, m := message("M2", tx)
			m.Counts.Repeat++
			return b.Put([]byte("M2"), appendMessage(nil, m))
		}},
		{"a counter that both messages are in", tableTallies, func(tx *bbolt.Tx) error {
			b := tx.Bucket(tableID{table: tableTallies}.name())
			k, v := b.Cursor().First()
			tally, err := readTally(v)
			tally.Delivered++
			require.NoError(t, err)
			return b.Put(bytes.Clone(k), appendTally(nil, tally))
		}},
		{"an index", tableIDs, func(tx *bbolt.Tx) error {
			table := tableID{table: tableIDs}
			b := tx.Bucket(table.name()).Bucket(table.partName())
			k, _ := b.Cursor().First()
			return b.Put(bytes.Clone(k), putBytes(nil, 1, appendRefElement(nil, statemachine.AttemptRef{Message: "M2", Part: 1, Attempt: 1})))
		}},
		{"a decision of today's parser about another message", tableDecisions, func(tx *bbolt.Tx) error {
			table := tableID{table: tableDecisions}
			b := tx.Bucket(table.name()).Bucket(table.partName())
			k, v := b.Cursor().Last()
			d, err := decodeDecision(k, v)
			require.NoError(t, err)
			require.EqualValues(t, "M2", d.Message)
			d.Verdict = statemachine.VerdictApplied
			return b.Put(bytes.Clone(k), appendDecision(nil, &d))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			copyDir(t, cfg.Dir, dir)
			cfg := cfg
			cfg.Dir = dir
			rewrite(t, filepath.Join(dir, stateFile), tt.spoil)
			v := verified(t, cfg)
			require.NotNil(t, v.Difference)
			require.ErrorContains(t, v.Difference, "a row of "+tableNames[tt.table])
		})
	}
}

// TestVerify_olderParserRandom upgrades in the middle of random histories.
func TestVerify_olderParserRandom(t *testing.T) {
	n, base := 0, t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n++
		cfg := testConfig(filepath.Join(base, fmt.Sprint(n)))
		cfg.Now = clock(t)
		cfg.PartitionMessages = rapid.SampledFrom([]int{1, 50_000}).Draw(t, "partition")
		var w world
		bring := func(cfg Config, rules statemachine.Rules) {
			s := start(t, cfg)
			_, err := s.SetRules(context.Background(), rules)
			require.NoError(t, err)
			for range rapid.IntRange(1, 20).Draw(t, "facts") {
				if fact := w.next(t); fact.Type() != statemachine.TypeRules {
					s.bring(fact)
				}
			}
			v, err := s.Verify(context.Background(), nil)
			require.NoError(t, err)
			require.Nil(t, v.Difference, "%v", v.Difference)
			require.NoError(t, s.stop())
		}
		bring(cfg, rulesToday())
		bring(upgraded(cfg))
	})
}

// TestTaken_lists compares two lists of which some elements are taken as stored.
func TestTaken_lists(t *testing.T) {
	for _, tt := range []struct {
		name         string
		stored, anew []string
		want         bool
	}{
		{"one that is taken is on one side only", []string{"taken", "a"}, []string{"a"}, true},
		{"one that is not is on one side only", []string{"taken", "a"}, []string{"taken"}, false},
		{"of two that are on one side only one is taken", []string{"taken", "a"}, []string{"b"}, false},
		{"one that is taken came earlier", []string{"taken", "a"}, []string{"a", "taken"}, true},
		{"others came in another order", []string{"a", "b"}, []string{"b", "a"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			side := func(elements []string) *row {
				var list []byte
				for _, e := range elements {
					list = appendToList(nil, list, []byte(e))
				}
				return &row{key: []byte("key"), value: list}
			}
			got := newTaken("1").lists(&differing{stored: side(tt.stored), anew: side(tt.anew)}, func(e string) bool { return e == "taken" })
			require.Equal(t, tt.want, got)
		})
	}
}
