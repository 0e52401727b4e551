package lives_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/smscsim/lives"
	"esmed/smpp/smpptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// simulator starts one with a status file, as "smscsim serve" keeps it.
func simulator(t *testing.T) (*smpptest.Server, string) {
	smsc, err := smpptest.Start(smpptest.Config{CountOnly: true})
	require.NoError(t, err)
	status := filepath.Join(t.TempDir(), "status")
	write := func() {
		b, err := json.Marshal(struct {
			PID int `json:"pid"`
			smpptest.Stats
		}{os.Getpid(), smsc.Stats()})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(status+".new", b, 0o600))
		require.NoError(t, os.Rename(status+".new", status))
	}
	write()
	ctx, stop := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error {
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return nil
			case <-tick.C:
				write()
			}
		}
	})
	t.Cleanup(func() {
		stop()
		require.NoError(t, g.Wait())
		require.NoError(t, smsc.Close())
	})
	return smsc, status
}

func TestLoad(t *testing.T) {
	const quiet = 300 * time.Millisecond // until what is lost is given up
	every := func(k, yes, no int) func(int) int {
		return func(n int) int {
			if n%k == k-1 {
				return yes
			}
			return no
		}
	}
	tests := []struct {
		name    string
		load    lives.Load
		refuse  func(int) int
		copies  func(int) int
		lives   uint64
		refused map[int]uint64
		wrong   []string // how what does not add up begins
	}{
		{"a batch, as fast as it goes", lives.Load{Lives: 3000}, nil, nil, 3000, map[int]uint64{}, nil},
		{"a batch that may not get ahead", lives.Load{Lives: 300, Unanswered: 8, Ahead: 100}, nil, nil, 300, map[int]uint64{}, nil},
		{"a batch at a rate, with probes and looks at the metrics", lives.Load{Lives: 100, Rate: 2000, Probes: 1000, Scrape: time.Millisecond}, nil, nil, 100, map[int]uint64{}, nil},
		{"single requests", lives.Load{Lives: 500, Clients: 8}, nil, nil, 500, map[int]uint64{}, nil},
		{"single requests, some too many", lives.Load{Lives: 500, Clients: 8}, every(10, 429, 0), nil, 450, map[int]uint64{429: 50}, nil},
		{"a batch, some lines too many", lives.Load{Lives: 500}, every(10, 429, 0), nil, 450, map[int]uint64{429: 50}, nil},
		{"a message that is accepted and never sent", lives.Load{Lives: 100}, nil, every(100, 0, 1), 100, map[int]uint64{},
			[]string{"final by the report: 99, not 100", "submits that the SMSC accepted: 99, not 100", "final receipts acknowledged: 99, not 100", "the texts"}},
		{"a message that is sent twice", lives.Load{Lives: 100}, nil, every(100, 2, 1), 100, map[int]uint64{},
			[]string{"final by the report: 101", "submits that the SMSC accepted: 101", "final receipts acknowledged: 101", "the texts"}},
		{"one lost and one doubled", lives.Load{Lives: 100}, nil, func(n int) int { return map[int]int{3: 0, 4: 2}[n] + min(1, max(0, n-4)) + min(1, max(0, 3-n)) }, 100, map[int]uint64{},
			[]string{"the texts"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			smsc, status := simulator(t)
			f := newFake(t, smsc)
			f.refuse, f.copies = tt.refuse, tt.copies
			tt.load.Socket, tt.load.Status, tt.load.Quiet = f.socket, status, quiet
			tt.load.PID, tt.load.DataDir = os.Getpid(), t.TempDir()
			r, err := tt.load.Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, tt.lives, r.Lives)
			require.Equal(t, tt.refused, r.Refused)
			require.Len(t, r.Wrong, len(tt.wrong), "%v", r.Wrong)
			for i, wrong := range tt.wrong {
				require.Contains(t, r.Wrong[i], wrong)
			}
			require.Positive(t, r.Rate)
			require.Positive(t, r.Accept.P99)
			require.Positive(t, r.Deliver.P99)
			require.Positive(t, r.AnonMax)
			require.InDelta(t, 4, r.PerCommit, 1e-9)
			if tt.load.Scrape > 0 {
				require.InDelta(t, 5, r.LagMax, 1e-9)
				require.InDelta(t, 3, r.QueueMax, 1e-9)
				require.Positive(t, r.Visible.P50)
			}
		})
	}
}

func TestLoad_says_why_it_cannot_run(t *testing.T) {
	_, status := simulator(t)
	nowhere := filepath.Join(t.TempDir(), "sock")
	tests := []struct {
		name string
		load lives.Load
		want string
	}{
		{"nothing", lives.Load{}, "one of socket and listen is needed\nthe simulator's status file is needed\na number of lives or a duration is needed"},
		{"both ways to the API", lives.Load{Socket: "a", Listen: "b", Status: "c", Lives: 1}, "one of socket and listen"},
		{"a rate below 0", lives.Load{Socket: "a", Status: "c", Lives: 1, Rate: -1}, "rate: must not be below 0"},
		{"no daemon", lives.Load{Socket: nowhere, Status: status, Lives: 1}, "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.load.Run(t.Context())
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestLoad_ends_when_a_submission_is_refused_for_good(t *testing.T) {
	for name, load := range map[string]lives.Load{"batch": {Lives: 50}, "post": {Lives: 50, Clients: 2}} {
		t.Run(name, func(t *testing.T) {
			smsc, status := simulator(t)
			f := newFake(t, smsc)
			f.refuse = func(n int) int { return map[int]int{20: 422}[n] }
			load.Socket, load.Status = f.socket, status
			_, err := load.Run(t.Context())
			require.ErrorContains(t, err, "422")
		})
	}
}

func TestLoad_gives_up_holding_back_when_no_life_ends(t *testing.T) {
	smsc, status := simulator(t)
	f := newFake(t, smsc)
	f.copies = func(int) int { return 0 }
	_, err := lives.Load{Socket: f.socket, Status: status, Lives: 50, Ahead: 10, Quiet: 100 * time.Millisecond}.Run(t.Context())
	require.ErrorContains(t, err, "no life has ended for 100ms, and 10 wait")
}
