package control_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

func TestOrderBind(t *testing.T) {
	c := newClient(t, newAPI(t, newFake(t).config()))
	for _, step := range []struct {
		name   string
		action control.BindAction
		done   bool
		state  string
	}{
		{"start what is not stopped", control.StartBinds, false, "BoundTRX"},
		{"stop", control.StopBinds, true, "Closed"},
		{"stop again", control.StopBinds, false, "Closed"},
		{"start", control.StartBinds, true, "BoundTRX"},
		{"restart", control.RestartBinds, true, "BoundTRX"},
	} {
		o, err := c.OrderBind(t.Context(), "alpha", step.action, "maintenance")
		require.NoError(t, err, step.name)
		require.Equal(t, step.done, o.Done, step.name)
		require.Len(t, o.Sessions, 1, step.name)
		require.Equal(t, step.state, o.Sessions[0].State, step.name)
		if step.action == control.StopBinds {
			require.Equal(t, "maintenance", o.Sessions[0].Stopped.Reason, step.name)
			require.True(t, strings.HasPrefix(o.Sessions[0].Stopped.By, "uid:"), step.name)
		}
	}
}

func TestOrderBind_refused(t *testing.T) {
	c := newClient(t, newAPI(t, newFake(t).config()))
	for _, tt := range []struct {
		name, smsc   string
		action       control.BindAction
		reason       string
		status       int
		detail, hint string
	}{
		{"an SMSC that is none", "gamma", control.StopBinds, "", http.StatusNotFound, `no SMSC is named "gamma"`, "there are: alpha"},
		{"one that is not configured any more", "beta", control.StartBinds, "", http.StatusNotFound, `no SMSC is named "beta"`, "there are: alpha"},
		{"an action that is none", "alpha", "pause", "", http.StatusNotFound, `there is no action "pause"`, "an action is stop, start, restart"},
		{"a reason that is a novel", "alpha", control.StopBinds, strings.Repeat("x", 1001), http.StatusUnprocessableEntity, "the reason is not valid", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.OrderBind(t.Context(), tt.smsc, tt.action, tt.reason)
			var p *control.ProblemError
			require.ErrorAs(t, err, &p)
			require.Equal(t, tt.status, p.Status)
			require.Equal(t, tt.detail, p.Detail)
			if tt.hint != "" {
				require.Equal(t, tt.hint, p.Hint)
			}
		})
	}
}

func TestOrderBind_withoutABodyHasNoReason(t *testing.T) {
	f := newFake(t)
	api := newAPI(t, f.config())
	require.Equal(t, http.StatusNotFound, ask(t, api, http.MethodPost, "/v1/binds/gamma/stop").Status)
	cfg := f.config()
	cfg.Binds = nil
	require.Equal(t, http.StatusServiceUnavailable, ask(t, newAPI(t, cfg), http.MethodPost, "/v1/binds/alpha/stop").Status)
}
