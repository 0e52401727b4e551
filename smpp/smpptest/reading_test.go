package smpptest_test

import (
	"io"
	"testing"
	"time"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/stretchr/testify/require"

	"esmed/smpp/smpptest"
)

func TestServer_StopReading(t *testing.T) {
	s := start(t, smpptest.Config{})
	first, second := bound(t, s), bound(t, s)
	s.StopReading(1)
	first.submit("393331234567")
	second.submit("393331234568")
	second.want(pdu.SubmitSMRespID)
	require.Len(t, s.Submits(), 1)
	s.ResumeReading()
	await(t, s, func(st smpptest.Stats) bool { return st.Submits == 2 })

	s.StopReading() // an end of the test while nothing is read is no leak
	first.submit("393331234567")
}

func TestLink_reads_slowly(t *testing.T) {
	s := start(t, smpptest.Config{Link: smpptest.Link{ReadRate: 4000}})
	began := time.Now()
	e := bound(t, s)
	for range 10 {
		e.submit("393331234567")
	}
	await(t, s, func(st smpptest.Stats) bool { return st.Submits == 10 })
	octets := 10 * (16 + 67)
	require.GreaterOrEqual(t, time.Since(began), time.Duration(octets)*time.Second/4000)
}

func TestServer_ends_only_what_is_named(t *testing.T) {
	s := start(t, smpptest.Config{})
	bound(t, s)
	second := bound(t, s)
	s.Drop(smpptest.DropBefore, 2)
	_, err := io.Copy(io.Discard, second.nc)
	require.NoError(t, err)
	require.Equal(t, 1, s.Stats().Bound)
}
