package store

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// unpack gives the content of a .tar.gz of testdata a directory of its own.
func unpack(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		require.NoError(t, err)
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(path, 0o700))
			continue
		}
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		require.NoError(t, err)
		_, err = io.Copy(out, r)
		require.NoError(t, errors.Join(err, out.Close()))
	}
}

// TestOpen_format1 opens a store as the first version left it (its state.db has no windows), and goes on.
func TestOpen_format1(t *testing.T) {
	cfg := testConfig(unpack(t, "format1.tar.gz"))
	clean(t, cfg)
	s := startIn(t, cfg)
	ctx := context.Background()
	require.True(t, s.rebuilt)
	for id, want := range map[statemachine.ID]statemachine.State{
		"01KB9A0000000000000000000A": statemachine.Delivered,
		"01KB9A0000000000000000000B": statemachine.Submitted,
		"01KB9A0000000000000000000C": statemachine.InDoubt,
		"01KB9A0000000000000000000D": statemachine.Queued,
		"01KB9A0000000000000000000E": statemachine.Submitting,
	} {
		m, err := s.Message(ctx, id)
		require.NoError(t, err)
		require.Equal(t, want, m.State, id)
	}
	rows, _, err := s.Inbox(ctx, "alpha", "", 0)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	kinds := make(map[statemachine.ExceptionKind]bool)
	open, _, err := s.Exceptions(ctx, ExceptionFilter{Status: statemachine.StatusOpen})
	require.NoError(t, err)
	for _, x := range open {
		kinds[x.Kind] = true
	}
	require.Equal(t, map[statemachine.ExceptionKind]bool{
		statemachine.KindConflict: true, statemachine.KindUnmappedState: true, statemachine.KindInDoubt: true,
	}, kinds)
	parts, err := s.NextQueued(ctx, "alpha", began, nil, nil, 0)
	require.NoError(t, err)
	require.Len(t, parts, 1)
	require.Equal(t, "Your code is 4714", string(parts[0].Accepted.Parts[0].ShortMessage))

	s.append(&statemachine.Reception{
		SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: receiptPDU("88", "DELIVRD", someDest, "a text", 4),
	})
	m, err := s.Message(ctx, "01KB9A0000000000000000000B")
	require.NoError(t, err)
	require.Equal(t, statemachine.Delivered, m.State)
}
