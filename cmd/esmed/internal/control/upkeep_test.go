package control_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

// keeper keeps a store up: it compacts in three steps, and copies.
type keeper struct {
	fail  error
	steps int // it goes through before it fails, or ends
	ended error
}

func (k *keeper) Compact(ctx context.Context, progress func(control.CompactProgress)) (control.CompactResult, error) {
	for n := range k.steps {
		progress(control.CompactProgress{File: "base.db", Done: int64(n), Total: 3})
		if k.ended = ctx.Err(); k.ended != nil {
			return control.CompactResult{}, k.ended
		}
	}
	return control.CompactResult{Files: []control.CompactedFile{{File: "base.db", Before: 9, After: 4}, {File: "state.db", Before: 7, After: 7, Left: "is in use"}}}, k.fail
}

func (k *keeper) Backup(_ context.Context, b control.Backup, progress func(control.BackupProgress)) (control.BackupResult, error) {
	progress(control.BackupProgress{File: "state.db", Done: 1, Total: 1})
	return control.BackupResult{Dir: b.Dir, Seq: 7}, k.fail
}

func TestCompact_tellsHowFarItIsAndWhatCameOfIt(t *testing.T) {
	f, k := newFake(t), &keeper{steps: 3}
	cfg := f.config()
	cfg.Compact = k
	c := newClient(t, newAPI(t, cfg))
	var told []int64
	r, err := c.Compact(t.Context(), func(p control.CompactProgress) { told = append(told, p.Done) })
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2}, told)
	require.Equal(t, "is in use", r.Files[1].Left)
	require.EqualValues(t, 4, r.Files[0].After)
}

func TestStore_tellsWhatItTakes(t *testing.T) {
	f := newFake(t)
	cfg := f.config()
	want := control.Store{
		DataDir: "/data", Bytes: 77, Messages: control.StoreMessages{States: map[string]int64{"DELIVERED": 3}},
		Growth: &control.StoreGrowth{OverSeconds: 86400, Records: 5}, Forecast: control.StoreForecast{Verdict: control.ForecastNever, Why: "small"},
	}
	cfg.Store = func(context.Context) (control.Store, error) { return want, f.fail }
	c := newClient(t, newAPI(t, cfg))
	got, err := c.Store(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// What may fail, and how that is said, in the answer's only line or as its status.
func TestUpkeep_fails(t *testing.T) {
	f, k := newFake(t), &keeper{steps: 1}
	cfg := f.config()
	cfg.Fault = func(string, error) {}
	cfg.Compact, cfg.Backup = k, k
	cfg.Store = func(context.Context) (control.Store, error) { return control.Store{}, k.fail }
	api := newAPI(t, cfg)
	c := newClient(t, api)
	for _, tt := range []struct {
		err    error
		status int
		detail string
	}{
		{errors.New("broken"), 500, "this is a fault of ours"},
		{fmt.Errorf("%w: damaged: state.db: torn", control.ErrDamaged), 500, "the store is damaged: damaged: state.db: torn"},
		{control.ErrDiskFull, 507, "the disk is nearly full"},
		{control.ErrBusy, 409, "somebody else has this done just now"},
	} {
		k.fail = tt.err
		for _, ask := range []func() error{
			func() error { _, err := c.Compact(t.Context(), nil); return err },
			func() error { _, err := c.Backup(t.Context(), control.Backup{Dir: "/copy"}, nil); return err },
			func() error { _, err := c.Store(t.Context()); return err },
		} {
			err := ask()
			requireStatus(t, tt.status, err)
			require.ErrorContains(t, err, tt.detail)
		}
	}
	k.fail = control.ErrDirectory
	_, err := c.Backup(t.Context(), control.Backup{Dir: "/copy"}, nil)
	requireStatus(t, 422, err)

	for _, tt := range []struct{ method, path string }{
		{"POST", "/v1/compact?deep=1"}, {"POST", "/v1/backup?dir=/copy"}, {"GET", "/v1/store?smsc=alpha"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(tt.method, tt.path, http.NoBody)
		r.Header.Set("Content-Type", "application/json")
		api.ServeHTTP(w, r)
		require.GreaterOrEqual(t, w.Code, 400, tt.path)
		require.Less(t, w.Code, 500, tt.path)
	}

	// A daemon that stops ends the work at its next step.
	k.fail, k.steps = nil, 3
	api.EndStreams()
	_, err = c.Compact(t.Context(), nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
	require.ErrorIs(t, k.ended, context.Canceled)

	c = newClient(t, newAPI(t, f.config()))
	_, err = c.Compact(t.Context(), nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
	_, err = c.Backup(t.Context(), control.Backup{Dir: "/copy"}, nil)
	requireStatus(t, http.StatusServiceUnavailable, err)
	_, err = c.Store(t.Context())
	requireStatus(t, http.StatusServiceUnavailable, err)
}

func TestUpkeep_whoMayHaveItDone(t *testing.T) {
	f, k := newFake(t), &keeper{}
	cfg := f.config()
	cfg.Compact, cfg.Backup = k, k
	cfg.Store = func(context.Context) (control.Store, error) {
		return control.Store{Messages: control.StoreMessages{States: map[string]int64{}}}, nil
	}
	tokens, err := control.ReadTokens(tokensFile(t, "crm send "+hashOf("s3nd"), "board read "+hashOf("r3ad"), "ops operate "+hashOf("0ps")))
	require.NoError(t, err)
	s, _ := serve(t, control.ServerConfig{Addr: "127.0.0.1:0", Tokens: tokens}, newAPI(t, cfg))
	for _, tt := range []struct {
		token         string
		reads, orders bool
	}{{"s3nd", false, false}, {"r3ad", true, false}, {"0ps", false, true}} {
		c := control.NewClient(&bearer{token: tt.token}, &url.URL{Scheme: "http", Host: s.Addr().String()})
		t.Cleanup(c.Close)
		_, err := c.Store(t.Context())
		require.Equal(t, tt.reads, err == nil, "%s reads: %v", tt.token, err)
		_, err = c.Compact(t.Context(), nil)
		require.Equal(t, tt.orders, err == nil, "%s compacts: %v", tt.token, err)
		_, err = c.Backup(t.Context(), control.Backup{Dir: "/copy"}, nil)
		require.Equal(t, tt.orders, err == nil, "%s copies: %v", tt.token, err)
	}
}
