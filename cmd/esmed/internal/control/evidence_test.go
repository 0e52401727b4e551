package control_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

func TestEvidence(t *testing.T) {
	const id = "01JDXW5Q0C8Z4Y3K7M2N9P0001"
	f := many(t, 3)
	f.send(t, id, "m1")
	c := newClient(t, newAPI(t, f.config()))
	e, err := c.Evidence(t.Context(), id, 0)
	require.NoError(t, err)
	require.Equal(t, control.EvidenceVersion, e.Version)
	require.Equal(t, id, e.Message)
	require.Equal(t, "SUBMITTED", e.State)
	require.Equal(t, f.seq, e.Head.Seq)
	require.Len(t, e.Events, 1)
	require.Equal(t, "submit_resp", e.Events[0].Type)
	require.Equal(t, control.EvidenceRecord{Seq: e.Events[0].Seq, Octets: control.Octets{0xAB}, Texts: []control.Octets{{0xCD}}}, e.Records[0])

	data, err := json.Marshal(e)
	require.NoError(t, err)
	require.Contains(t, string(data), `"octets":"ab","texts":["cd"]`)
	again, err := control.ParseEvidence(data)
	require.NoError(t, err)
	require.Equal(t, e, again)
	_, err = control.ParseEvidence([]byte(`{"version":2}`))
	require.ErrorContains(t, err, "version 2")
	_, err = control.ParseEvidence([]byte(`{"version":1,"records":[{"seq":1,"octets":"xy"}]}`))
	require.Error(t, err)

	var p *control.ProblemError
	_, err = c.Evidence(t.Context(), "none", 0)
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusNotFound, p.Status)
	_, err = c.Evidence(t.Context(), id, 1000)
	require.ErrorAs(t, err, &p)
	require.Equal(t, "query.head", p.Errors[0].Path)
}
