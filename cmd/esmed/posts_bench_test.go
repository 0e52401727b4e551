package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/smpp/smpptest"
)

// postClients is how many clients of BenchmarkPosts wait for an answer at a time.
const postClients = 64

// BenchmarkPosts submits messages one by one from clients that keep their connection to the socket and
// write requests without a library. Each is durable before its answer, and lives its whole life meanwhile.
// Run it with -benchtime 100000x.
func BenchmarkPosts(b *testing.B) {
	smsc, err := smpptest.Start(smpptest.Config{IDs: smpptest.IDs{Response: smpptest.UUID}})
	require.NoError(b, err)
	defer func() { require.NoError(b, smsc.Close()) }()
	d := newProcess(b, buildEsmed(b), smsc.Addr(), 1000, "hold")
	d.start()
	defer d.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()

	b.ResetTimer()
	waits := make([]time.Duration, b.N)
	require.NoError(b, postAll(ctx, d.socket, waits))
	posting := b.Elapsed()
	during := smsc.Stats().Acked
	require.NoError(b, smsc.Await(ctx, func(st smpptest.Stats) bool { return st.Acked >= uint64(b.N) }))
	b.StopTimer()

	slices.Sort(waits)
	b.ReportMetric(float64(b.N)/posting.Seconds(), "posts/s")
	b.ReportMetric(float64(during)/posting.Seconds(), "lives/s")
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-us")
	b.ReportMetric(float64(smsc.Stats().AckP50.Microseconds()), "ack-p50-us")
	b.ReportMetric(float64(smsc.Stats().AckP99.Microseconds()), "ack-p99-us")
	b.ReportMetric(residentMB(b, d.cmd.Process.Pid, "RssAnon"), "anon-MB")
	d.stop()
	used := d.cmd.ProcessState.UserTime() + d.cmd.ProcessState.SystemTime()
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "cpu-us/life")
}

// postAll posts as many messages as there are waits and notes how long each was waited for.
func postAll(ctx context.Context, socket string, waits []time.Duration) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range postClients {
		g.Go(func() error {
			conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
			if err != nil {
				return err
			}
			defer conn.Close()
			p := poster{conn: conn, in: bufio.NewReader(conn)}
			for {
				n := next.Add(1) - 1
				if n >= int64(len(waits)) || ctx.Err() != nil {
					return ctx.Err()
				}
				began := time.Now()
				if err := p.post(n); err != nil {
					return err
				}
				waits[n] = time.Since(began)
			}
		})
	}
	return g.Wait()
}

// poster is one client. It reads of an answer what it needs to find the next one.
type poster struct {
	conn      net.Conn
	in        *bufio.Reader
	body, out []byte
}

// post submits the nth message.
func (p *poster) post(n int64) error {
	p.body = fmt.Appendf(p.body[:0], `{"to":"+39333%07d","from":"ACME","text":"Your code is %06d. Do not give it to anybody.","ref":"post-%d"}`, n, n, n)
	p.out = append(p.out[:0], "POST /v1/messages HTTP/1.1\r\nHost: esmed\r\nContent-Type: application/json\r\nContent-Length: "...)
	p.out = strconv.AppendInt(p.out, int64(len(p.body)), 10)
	p.out = append(append(p.out, "\r\n\r\n"...), p.body...)
	if _, err := p.conn.Write(p.out); err != nil {
		return err
	}
	status, err := p.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 202 ")) {
		return fmt.Errorf("answered %q", status)
	}
	length := 0
	for {
		header, err := p.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if header = bytes.TrimSpace(header); len(header) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(header, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return err
			}
		}
	}
	_, err = io.CopyN(io.Discard, p.in, int64(length))
	return err
}
