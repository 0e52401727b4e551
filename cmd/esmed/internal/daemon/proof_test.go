package daemon_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/smpp/smpptest"
	"esmed/store"
)

func TestProof_aBundleIsCheckedWithoutTheStore(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{Duplicates: 1, Copies: 1}}, nil)
	id := s.submit(number(1))
	s.awaitState(id, "DELIVERED")
	s.drained()
	first, err := s.api.Evidence(s.ctx, id, 0)
	require.NoError(t, err)
	later := s.submit(number(2))
	s.awaitState(later, "DELIVERED")
	s.drained()
	bundle, err := s.api.Evidence(s.ctx, id, first.Head.Seq)
	require.NoError(t, err)
	data, err := json.Marshal(bundle)
	require.NoError(t, err)

	check := func(data []byte, kept *control.ChainHead) (daemon.EvidenceCheck, error) {
		e, err := control.ParseEvidence(data)
		if err != nil {
			return daemon.EvidenceCheck{}, err
		}
		return daemon.VerifyEvidence(&e, kept)
	}
	got, err := check(data, &first.Head)
	require.NoError(t, err)
	require.True(t, got.Anchored, "an earlier bundle's head was kept")
	require.Equal(t, len(bundle.Records), got.Records)
	require.Zero(t, got.TakenStored)
	require.Equal(t, bundle.Events, got.Events)
	require.Equal(t, s.history(id), got.Events[1:], "the rules come first, then what events shows")

	other := first.Head
	other.Hash = bytes.Clone(other.Hash)
	other.Hash[0] ^= 1
	_, err = check(data, &other)
	var broken *store.EvidenceError
	require.ErrorAs(t, err, &broken)
	require.Equal(t, other.Seq, broken.Seq)

	t.Run("what is changed in it is found", func(t *testing.T) {
		for _, change := range [][2]string{
			{`"state":"DELIVERED"`, `"state":"EXPIRED"`},
			{`"to":"DELIVERED"`, `"to":"EXPIRED"`},
			{`"to":"DELIVERED"`, `"to":"SPLENDID"`},
			{`"verdict":"duplicate"`, `"verdict":"applied"`},
			{`"raw_stat":"DELIVRD"`, `"raw_stat":"EXPIRED"`},
			{`"type":"reception"`, `"type":"sent"`},
			{`"session":"alpha/1"`, `"session":"beta/1"`},
			{`"pdu":"0`, `"pdu":"1`},
			{`"texts":["`, `"texts":["00`},
			{`"octets":"`, `"octets":"00`},
			{`"skip":"`, `"skip":"00`},
			{`"events":[{`, `"events":[{"seq":1,"at":"2026-11-30T12:00:00Z","type":"session","decisions":[]},{`},
		} {
			changed := strings.Replace(string(data), change[0], change[1], 1)
			require.NotEqual(t, string(data), changed, change[0])
			_, err := check([]byte(changed), nil)
			require.ErrorAs(t, err, &broken, change[1])
		}
	})
}
