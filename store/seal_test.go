package store

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
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
	facts[0].(*statemachine.MessageAccepted).Parts[0].TLVs = []receipt.TLV{{Tag: 0x020C, Value: []byte("plain")}, {Tag: receipt.TagMessagePayload, Value: []byte(text)}}
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
		require.Equal(t, text, string(a.Parts[0].TLVs[1].Value))
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

func TestSealKey_isCounterMode(t *testing.T) {
	key, err := newSealKey(1, bytes.Repeat([]byte{7}, secretSize))
	require.NoError(t, err)
	var room sealRoom // as one text after another finds it
	for _, n := range []int{0, 1, 15, 16, 17, 160, longText - 1, longText, longText + 5, 17, 5000} {
		text := bytes.Repeat([]byte{0x5A}, n)
		want := bytes.Clone(text)
		iv := [aes.BlockSize]byte{7: 9, 11: 3} // seq, then field
		cipher.NewCTR(key.block, iv[:]).XORKeyStream(want, want)
		key.xor(text, 9, 3, &room)
		require.Equal(t, want, text)
	}
}

// queuedDir is a store with one message in the queue, and the path of the key of its text.
func queuedDir(t *testing.T) (cfg Config, key string) {
	cfg = testConfig(t.TempDir())
	cfg.Now = func() time.Time { return began }
	s := start(t, cfg)
	s.append(message("M1", "", "a text"))
	require.NoError(t, s.Sync(context.Background()))
	require.NoError(t, s.stop())
	return cfg, filepath.Join(cfg.Dir, keysDir, keyFile(uint64(began.Unix())))
}

// spoilKey makes a key file damaged, or such that it cannot be read.
func spoilKey(t *testing.T, path, how string) {
	switch how {
	case "flipped":
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		data[3] ^= 1
		require.NoError(t, os.WriteFile(path, data, 0o600))
	case "cut":
		require.NoError(t, os.Truncate(path, 3))
	case "unreadable": // to root too
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Mkdir(path, 0o700))
	case "misnamed":
		require.NoError(t, os.Rename(path, filepath.Join(filepath.Dir(path), "a.key")))
	}
}

func TestOpen_aKeyThatIsThereMustBeReadable(t *testing.T) {
	for _, how := range []string{"flipped", "cut", "misnamed", "unreadable"} {
		t.Run(how, func(t *testing.T) {
			cfg, key := queuedDir(t)
			spoilKey(t, key, how)
			before := files(t, cfg.Dir)
			_, err := Open(cfg)
			require.ErrorIs(t, err, ErrKey)
			var damaged *DamagedError
			require.ErrorAs(t, err, &damaged)
			require.ErrorContains(t, err, ".key")
			require.Equal(t, before, files(t, cfg.Dir))
		})
	}
	t.Run("of many, the old ones are looked at", func(t *testing.T) {
		cfg, key := queuedDir(t)
		for hour := range checkedKeys {
			name := uint64(began.Add(time.Duration(hour+1) * time.Hour).Unix())
			require.NoError(t, writeKey(filepath.Dir(key), name, make([]byte, secretSize)))
		}
		spoilKey(t, key, "cut")
		_, err := Open(cfg)
		require.ErrorIs(t, err, errKeyDamaged)
	})
}

func TestNextQueued_handsOutNoTextThatCannotBeRead(t *testing.T) {
	ctx := context.Background()
	read := func(s *running) ([]Queued, error) { return s.NextQueued(ctx, "alpha", began, nil, nil, 0) }
	t.Run("a destroyed key", func(t *testing.T) {
		cfg, key := queuedDir(t)
		require.NoError(t, os.Remove(key))
		parts, err := read(startIn(t, cfg))
		require.NoError(t, err)
		require.Len(t, parts, 1)
		require.True(t, parts[0].TextGone)
	})
	t.Run("a destroyed key, when another is made within the same second", func(t *testing.T) {
		cfg, key := queuedDir(t)
		require.NoError(t, os.Remove(key))
		s := startIn(t, cfg)
		s.append(message("M2", "", "another text"))
		require.NoError(t, s.Sync(ctx))
		parts, err := read(s)
		require.NoError(t, err)
		require.Len(t, parts, 2)
		require.True(t, parts[0].TextGone)
		require.False(t, parts[1].TextGone)
	})
	for _, how := range []string{"flipped", "unreadable"} {
		t.Run("a key that is "+how+", until it is mended", func(t *testing.T) {
			cfg, key := queuedDir(t)
			data, err := os.ReadFile(key)
			require.NoError(t, err)
			s := startIn(t, cfg)
			spoilKey(t, key, how)
			for range 2 {
				_, err = read(s)
				require.ErrorIs(t, err, ErrKey)
				require.ErrorContains(t, err, filepath.Base(key))
			}
			require.NoError(t, os.RemoveAll(key))
			require.NoError(t, os.WriteFile(key, data, 0o600))
			parts, err := read(s)
			require.NoError(t, err)
			require.False(t, parts[0].TextGone)
			require.Equal(t, "a text", string(parts[0].Accepted.Parts[0].ShortMessage))
		})
	}
	t.Run("without a keys directory no key was destroyed", func(t *testing.T) {
		cfg, key := queuedDir(t)
		s := start(t, cfg)
		require.NoError(t, os.RemoveAll(filepath.Dir(key)))
		_, err := read(s)
		require.ErrorIs(t, err, ErrKey)
		require.NoError(t, s.stop())
	})
}

// TestKeyring_destroyBefore destroys keys by their age, and what a crash left of one.
func TestKeyring_destroyBefore(t *testing.T) {
	k := newKeyring(t.TempDir())
	var names []uint64
	for hour := range 4 {
		key, err := k.sealing(began.Add(time.Duration(hour) * time.Hour))
		require.NoError(t, err)
		names = append(names, key.name)
	}
	left := func() (files []string) {
		entries, err := os.ReadDir(k.dir)
		require.NoError(t, err)
		for _, e := range entries {
			files = append(files, e.Name())
		}
		return files
	}
	n, err := k.destroyBefore(began.Add(time.Hour-1), 10)
	require.NoError(t, err)
	require.Zero(t, n, "it may have sealed a text until then")
	n, err = k.destroyBefore(began.Add(time.Hour), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	gone, err := k.named(names[0])
	require.NoError(t, err)
	require.Nil(t, gone)

	cut := filepath.Join(k.dir, keyFile(names[1]))
	require.NoError(t, os.Rename(cut, cut+tmpSuffix))
	n, err = k.destroyBefore(began.AddDate(1, 0, 0), 1)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []string{keyFile(names[3])}, left())
	n, err = k.destroyBefore(began.AddDate(1, 0, 0), 10)
	require.NoError(t, err)
	require.Zero(t, n, "never the one in use")
}
