package command

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

// A full disk is when an operator asks how things stand, and when the store, and so its queues, does not answer.
func TestCheck_withoutTheStore(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	serveJSON(t, socket, map[string]any{
		"/v1/alerts": control.List[control.Alert]{Items: []control.Alert{
			{Alert: "disk", Active: true, Severity: control.Critical, Detail: "room for data_dir"},
		}},
		"/v1/binds": control.List[control.Bind]{Items: []control.Bind{{SMSC: "alpha", Session: "alpha/1", State: "BoundTRX", Configured: true}}},
	})
	tests := []struct {
		command string
		code    int
		want    string
	}{
		{"check", checkCritical, "ESMED CRITICAL: disk, but the store does not answer: not all could be measured; which queues are held is not known: the store does not answer"},
		{"binds list", exitDone, "alpha/1  BoundTRX"},
		{"binds list -o json", exitDone, `"session": "alpha/1"`},
	}
	for _, tt := range tests {
		t.Run(tt.command, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Main(append(strings.Fields(tt.command), "--socket", socket), Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			require.Contains(t, out.String(), tt.want, errs.String())
			require.Equal(t, tt.code, code)
		})
	}
}

// What was not measured is not well.
func TestCheck_whatCouldNotBeMeasuredIsUnknown(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	serveJSON(t, socket, map[string]any{
		"/v1/alerts": control.List[control.Alert]{Items: []control.Alert{{Alert: control.AlertClock, Severity: control.Warning}}},
		"/v1/queue":  control.List[control.Queue]{Items: []control.Queue{}},
	})
	var out, errs bytes.Buffer
	code := Main([]string{"check", "--socket", socket}, Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	require.Equal(t, "ESMED UNKNOWN: no alert is active, but the store does not answer: not all could be measured | \n", out.String(), errs.String())
	require.Equal(t, checkUnknown, code)
}

func TestCheck_performanceData(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		name string
		a    control.Alert
		want string
	}{
		{"a share is well from its limit on", control.Alert{Alert: "coverage", SMSC: "alpha", Severity: control.Warning, Value: value(0.5), Limit: 0.95}, "'coverage alpha'=0.5;0.95:;;0;1"},
		{"a time is well up to it", control.Alert{Alert: "inbox_age", SMSC: "alpha", Severity: control.Warning, Value: value(421), Limit: 300, Unit: "s"}, "'inbox_age alpha'=421s;300;;0;"},
		{"room is well from it on", control.Alert{Alert: "disk", Severity: control.Critical, Value: value(5e9), Limit: 1e9, Unit: "B"}, "'disk'=5000000000B;;1000000000:;0;"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, performance(&tt.a)) })
	}
}

// serveJSON answers what it has an answer for, and all else as a store that does not answer.
func serveJSON(t *testing.T, socket string, answers map[string]any) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			answer = control.Problem{Status: http.StatusServiceUnavailable, Detail: "the store does not answer"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
}
