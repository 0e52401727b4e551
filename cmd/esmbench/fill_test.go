package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"esmed/statemachine"
	"esmed/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFill_leaves_what_lives_leave(t *testing.T) {
	const messages, queued = 600, 40
	for _, ids := range []string{idsUUID, idsHex} {
		t.Run(ids, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			var out, errs bytes.Buffer
			status := run([]string{"fill", "--dir", dir, "--ids", ids, "--open", "0.1",
				"--messages", strconv.Itoa(messages), "--queued", strconv.Itoa(queued)}, &out, &errs)
			require.Zero(t, status, errs.String())

			s, err := store.OpenReadOnly(store.Config{Dir: dir, Decode: decodePDU, TextSpans: textSpans})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			ctx := context.Background()
			v, err := s.Verify(ctx, nil)
			require.NoError(t, err)
			require.Nil(t, v.Difference)
			count := make(map[statemachine.State]int)
			all, _, err := s.Messages(ctx, store.Filter{Limit: 2 * (messages + queued), OldestFirst: true})
			require.NoError(t, err)
			for _, m := range all {
				count[m.State]++
				require.Zero(t, m.Counts.Noted)
			}
			require.Len(t, all, messages+queued)
			require.Equal(t, queued, count[statemachine.Queued])
			for _, state := range []statemachine.State{statemachine.Delivered, statemachine.Undeliverable, statemachine.Expired, statemachine.Unreported, statemachine.Submitted} {
				require.NotZero(t, count[state], state)
			}
			require.InDelta(t, 30, all[len(all)-1].AcceptedAt.Sub(all[0].AcceptedAt).Hours()/24, 1)
			require.WithinDuration(t, time.Now(), all[len(all)-1].AcceptedAt, 12*time.Hour)
			stat, err := s.Stat(ctx)
			require.NoError(t, err)
			require.Empty(t, stat.Open)
			inbox, err := s.InboxStats(ctx)
			require.NoError(t, err)
			require.Empty(t, inbox)
		})
	}
}

func TestFill_says_what_is_wrong_with_its_flags(t *testing.T) {
	for _, args := range [][]string{{"fill"}, {"fill", "--dir", "d", "--ids", "decimal"}, {"fill", "--dir", "d", "--open", "2"}, {"fill", "--no-such-flag"}, {"fill", "more"}} {
		var out, errs bytes.Buffer
		require.Equal(t, 2, run(args, &out, &errs), args)
		require.Contains(t, errs.String(), "esmbench: error: ")
		require.Contains(t, errs.String(), "esmbench: hint: ")
	}
}
