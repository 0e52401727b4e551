package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// BenchmarkThroughput drains a full queue under a limit and says, by the SMSC's clock, what came on average and
// at most in any second. b.N is how many seconds' worth of submits there are: run it with -benchtime 5x.
func BenchmarkThroughput(b *testing.B) {
	bin := buildEsmed(b)
	for _, limit := range []int{10, 100, 1000, 5000} {
		for _, tt := range []struct {
			name     string
			receipts bool
			sessions int
		}{{"alone", false, 1}, {"with receipts", true, 1}, {"with receipts, three sessions", true, 3}} {
			b.Run(fmt.Sprintf("limit=%d/%s", limit, tt.name), func(b *testing.B) { throughput(b, bin, limit, tt.receipts, tt.sessions) })
		}
	}
}

func throughput(b *testing.B, bin string, limit int, receipts bool, sessions int) {
	smsc, err := smpptest.Start(smpptest.Config{
		Bind: smpptest.Bind{Refuse: smpp.StatusBindFail},
		OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
			if !receipts {
				a.Receipts = nil
			}
			return a
		},
	})
	require.NoError(b, err)
	defer func() { require.NoError(b, smsc.Close()) }()
	d := newProcess(b, bin, smsc.Addr(), 1000, "hold", fmt.Sprintf("throughput: %d", limit), fmt.Sprintf("sessions: %d", sessions))
	d.start()
	defer d.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	c := control.Dial(d.socket)
	defer c.Close()
	n := limit * b.N
	require.NoError(b, submitBatch(ctx, c, n, 0))

	b.ResetTimer()
	smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = smpp.StatusOK })
	require.NoError(b, smsc.Await(ctx, func(st smpptest.Stats) bool { return st.Submits == uint64(n) }))
	b.StopTimer()

	rate := smpptest.RateOf(smsc.Truth())
	b.ReportMetric(rate.Average/float64(limit), "average/limit")
	b.ReportMetric(float64(rate.Most)/float64(limit), "most/limit")
}
