package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// BenchmarkWindowOne drains a queue over one session whose window is 1, at an SMSC that answers at once. Each
// message then is a sent record made durable, a submit_sm and its answer. x-pingpong/N is what that takes against
// the least that could do it: the same PDUs to and fro on a socket of the same SMSC and, between two of them, the
// PDU's octets appended to a plain file with N fdatasync. (A commit of the log's is two: pages, and then the page
// that makes them count.) Run it with -benchtime 2000x.
func BenchmarkWindowOne(b *testing.B) {
	bin := buildEsmed(b)
	smsc, err := smpptest.Start(smpptest.Config{
		Bind: smpptest.Bind{Refuse: smpp.StatusBindFail},
		OnSubmit: func(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
			a.Receipts = nil
			return a
		},
	})
	require.NoError(b, err)
	defer func() { require.NoError(b, smsc.Close()) }()
	d := newProcess(b, bin, smsc.Addr(), 1, "hold")
	d.start()
	defer d.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	c := control.Dial(d.socket)
	defer c.Close()
	require.NoError(b, submitBatch(ctx, c, b.N, 0))
	smsc.Change(func(c *smpptest.Config) { c.Bind.Refuse = smpp.StatusOK })
	require.NoError(b, smsc.Await(ctx, func(st smpptest.Stats) bool { return st.Submits > 0 }))

	b.ResetTimer()
	require.NoError(b, smsc.Await(ctx, func(st smpptest.Stats) bool { return st.Submits >= uint64(b.N) }))
	b.StopTimer()
	daemon := b.Elapsed()

	for syncs, unit := range []string{"x-pingpong/0", "x-pingpong/1", "x-pingpong/2"} {
		b.ReportMetric(daemon.Seconds()/pingPong(b, smsc.Addr(), b.N, syncs).Seconds(), unit)
	}
}

// pingPong is how long n submit_sm and their answers take, one after the other, with so many fdatasync each.
func pingPong(b *testing.B, addr string, n, syncs int) time.Duration {
	conn, err := net.Dial("tcp", addr)
	require.NoError(b, err)
	defer conn.Close()
	frames := smpp.NewFrameReader(conn, 1<<16)
	ask := func(pdu []byte) {
		_, err := conn.Write(pdu)
		require.NoError(b, err)
		answer, err := frames.Next()
		require.NoError(b, err)
		require.Equal(b, smpp.StatusOK, answer.CommandStatus)
	}
	bind, err := smpp.Append(nil, &smpp.Bind{
		Header: smpp.Header{CommandID: smpp.CommandBindTransceiver, SequenceNumber: 1}, SystemID: "esme", Password: "secret", InterfaceVersion: 0x34,
	})
	require.NoError(b, err)
	ask(bind)
	submit, err := smpp.AppendSubmitSM(nil, &smpp.SubmitSM{
		Source: smpp.Address{TON: 5, Addr: "ACME"}, Dest: smpp.Address{TON: 1, NPI: 1, Addr: "393331234567"}, RegisteredDelivery: 1,
		ShortMessage: []byte("Your code is 123456. Do not give it to anybody."),
	})
	require.NoError(b, err)
	file, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	require.NoError(b, err)
	defer file.Close()

	began := time.Now()
	for i := range n {
		smpp.SetSequenceNumber(submit, uint32(i+2))
		for range syncs {
			_, err := file.Write(submit)
			require.NoError(b, err)
			require.NoError(b, syscall.Fdatasync(int(file.Fd())))
		}
		ask(submit)
	}
	elapsed := time.Since(began)
	require.NoError(b, conn.(*net.TCPConn).CloseWrite())
	_, _ = io.Copy(io.Discard, conn) // until the SMSC has closed it too
	return elapsed
}
