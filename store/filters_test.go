package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilters_are_read_behind_a_start asks none of them.
func TestFilters_are_read_behind_a_start(t *testing.T) {
	const messages = 2*filterGroupSize + 5
	cfg := testConfig(t.TempDir())
	cfg.PartitionMessages = 1
	s := fillWith(t, cfg, messages)
	require.NoError(t, s.stop())
	s = start(t, cfg)
	s.readFilters(context.Background()) // as Run does: none is missing when it returns, whoever read it
	require.NoError(t, s.view(func(tx *stateTx) error {
		parts, err := tx.heads()
		require.Len(t, parts, messages)
		require.Nil(t, s.filters.unread(parts[:messages-1]))
		return err
	}))
	s.check()
}
