package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

func TestSeal(t *testing.T) {
	const text = "WATERMELON 4711"
	ctx := context.Background()
	now := began
	cfg := testConfig(t.TempDir())
	cfg.Now = func() time.Time { return now }
	cfg.SegmentRecords = 2
	s := start(t, cfg)
	facts := life("M1", "ab", text)
	facts[0].(*statemachine.MessageAccepted).TLVs = []receipt.TLV{{Tag: receipt.TagMessagePayload, Value: []byte(text)}, {Tag: 0x1400, Value: []byte("plain")}}
	for _, fact := range append(facts,
		&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: requestPDU(deliverSM, 0, someDest, "ACME", text)},
		&statemachine.Reception{SMSC: "alpha", Account: "alpha", PDU: []byte("\x00\x00\x00\x20\x00\x00\x00\x05 garbage " + text)},
	) {
		s.append(fact)
	}
	require.NoError(t, s.stop())

	t.Run("no file holds the text", func(t *testing.T) {
		all := files(t, cfg.Dir)
		require.Greater(t, len(all), 4)
		for name, data := range all {
			require.False(t, bytes.Contains(data, []byte("WATERMELON")), name)
		}
	})
	t.Run("it reads back", func(t *testing.T) {
		r, err := OpenReadOnly(cfg)
		require.NoError(t, err)
		a, err := r.Accepted(ctx, "M1")
		require.NoError(t, err)
		require.Equal(t, text, string(a.Parts[0].ShortMessage))
		require.Equal(t, text, string(a.TLVs[0].Value))
		rec, err := r.Record(ctx, 4)
		require.NoError(t, err)
		require.Equal(t, facts[3], rec.Fact)
		require.NoError(t, r.Close())
	})
	t.Run("keys are private, one an hour and process", func(t *testing.T) {
		keys := func() int {
			entries, err := os.ReadDir(filepath.Join(cfg.Dir, keysDir))
			require.NoError(t, err)
			for _, e := range entries {
				info, err := e.Info()
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), info.Mode())
			}
			return len(entries)
		}
		require.Equal(t, 1, keys())
		s := start(t, cfg)
		s.append(message("M2", "", text))
		require.Equal(t, 2, keys(), "a new process")
		now = now.Add(59 * time.Minute)
		s.append(message("M3", "", text))
		require.Equal(t, 2, keys())
		now = now.Add(time.Minute)
		s.append(message("M4", "", text))
		require.Equal(t, 3, keys(), "a new hour")
		s.check()
	})
	t.Run("a destroyed key leaves zeros, and all that was decided", func(t *testing.T) {
		require.NoError(t, os.Remove(filepath.Join(cfg.Dir, keysDir, keyFile(uint64(began.Unix())))))
		r, err := OpenReadOnly(cfg)
		require.NoError(t, err)
		defer r.Close()
		a, err := r.Accepted(ctx, "M1")
		require.NoError(t, err)
		require.Equal(t, make([]byte, len(text)), a.Parts[0].ShortMessage)
		events, err := r.Events(ctx, 0, 0)
		require.NoError(t, err)
		require.True(t, events[3].TextGone)
		require.False(t, bytes.Contains(sealedPDU(events[3].Record.Fact), []byte(text)))
		require.True(t, bytes.Contains(sealedPDU(events[3].Record.Fact), []byte("stat:DELIVRD")), "what is no text stays")
		m, err := r.Message(ctx, "M1")
		require.NoError(t, err)
		require.Equal(t, statemachine.Delivered, m.State)
		v, err := r.Verify(ctx, nil)
		require.NoError(t, err)
		require.Nil(t, v.Difference)
		require.EqualValues(t, 3, v.TakenStored)
	})
	t.Run("a damaged key is told", func(t *testing.T) {
		path := filepath.Join(cfg.Dir, keysDir, keyFile(uint64(began.Add(time.Hour).Unix())))
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		data[3] ^= 1
		require.NoError(t, os.WriteFile(path, data, 0o600))
		r, err := OpenReadOnly(cfg)
		require.NoError(t, err)
		defer r.Close()
		v, err := r.Verify(ctx, nil)
		require.NoError(t, err)
		require.ErrorIs(t, v.Difference, errKeyDamaged)
	})
}
