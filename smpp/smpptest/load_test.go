package smpptest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/smpp/smpptest"
)

func TestLoad_sees_an_answer_and_a_receipt_for_each_submit(t *testing.T) {
	s := start(t, smpptest.Config{SystemID: "esme", Receipts: smpptest.Receipts{Duplicates: 0.1, DataSM: 0.2, BeforeResponse: 0.3}})
	res, err := smpptest.Load{Addr: s.Addr(), SystemID: "esme", Submits: 2000, Window: 50, RegisteredDelivery: 1}.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2000, res.Submitted)
	require.Equal(t, 2000, res.Accepted)
	require.GreaterOrEqual(t, res.Receipts, 2000)
	require.Equal(t, uint64(2000), s.Stats().Accepted)
}

// BenchmarkServer is a life: submit, answer, receipt, acknowledgement; loader and server share the cores.
func BenchmarkServer(b *testing.B) {
	s, err := smpptest.Start(smpptest.Config{CountOnly: true})
	require.NoError(b, err)
	defer s.Close()
	b.ReportAllocs()
	b.ResetTimer()
	res, err := smpptest.Load{Addr: s.Addr(), Submits: b.N, Window: 1000, RegisteredDelivery: 1}.Run(b.Context())
	require.NoError(b, err)
	b.ReportMetric(float64(b.N)/res.Elapsed.Seconds(), "lives/s")
}
