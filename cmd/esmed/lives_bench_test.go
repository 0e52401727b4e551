package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"
)

// BenchmarkLives is the whole life of a message, all of it durable: batch API in, submit_sm, response,
// receipt, final state. The daemon is a process of its own; loader and SMSC are this one. Run it with
// -benchtime 100000x. Paced runs show how long a deliver_sm waits for its answer while there is room.
func BenchmarkLives(b *testing.B) {
	bin := buildEsmed(b)
	for _, form := range []smpptest.IDForm{smpptest.Hex, smpptest.UUID} {
		b.Run("id="+string(form), func(b *testing.B) { lives(b, bin, form, 0) })
	}
	b.Run("paced=2000", func(b *testing.B) { lives(b, bin, smpptest.Hex, 2000) })
}

// lives runs b.N lives, rate of them a second, or as many as there can be if rate is 0.
func lives(b *testing.B, bin string, form smpptest.IDForm, rate int) {
	smsc, err := smpptest.Start(smpptest.Config{IDs: smpptest.IDs{Response: form}})
	require.NoError(b, err)
	defer func() { require.NoError(b, smsc.Close()) }()
	d := newProcess(b, bin, smsc.Addr(), 1000, "hold")
	d.start()
	defer d.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	c := control.Dial(d.socket)
	defer c.Close()

	b.ResetTimer()
	require.NoError(b, submitBatch(ctx, c, b.N, rate))
	require.NoError(b, smsc.Await(ctx, func(st smpptest.Stats) bool { return st.Acked >= uint64(b.N) }))
	report, err := c.Report(ctx, control.ReportQuery{})
	require.NoError(b, err)
	b.StopTimer()

	final := int64(0)
	for _, row := range report {
		final += row.Final
	}
	require.EqualValues(b, b.N, final, "a query sees what was acknowledged")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lives/s")
	b.ReportMetric(float64(smsc.Stats().AckP50.Microseconds()), "ack-p50-us")
	b.ReportMetric(float64(smsc.Stats().AckP99.Microseconds()), "ack-p99-us")
	b.ReportMetric(residentMB(b, d.cmd.Process.Pid, "RssAnon"), "anon-MB")
	b.ReportMetric(residentMB(b, d.cmd.Process.Pid, "VmHWM"), "peak-MB")
	d.stop()
	used := d.cmd.ProcessState.UserTime() + d.cmd.ProcessState.SystemTime()
	b.ReportMetric(used.Seconds()*10000/float64(b.N), "cpu-s/10k")
}

// submitBatch submits n messages through one batch and takes all results.
func submitBatch(ctx context.Context, c *control.Client, n, rate int) error {
	batch, err := c.Batch(ctx)
	if err != nil {
		return err
	}
	defer batch.Close()
	var g errgroup.Group
	const perSecond = 200 // bursts of a paced run
	burst := max(rate/perSecond, 1)
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	g.Go(func() error {
		for i := range n {
			if rate > 0 && i%burst == 0 {
				if err := batch.Flush(); err != nil {
					return err
				}
				<-tick.C
			}
			if err := batch.Send(control.Submission{
				To: fmt.Sprintf("+39333%07d", i), From: "ACME", Text: fmt.Sprintf("Your code is %06d. Do not give it to anybody.", i),
				Ref: fmt.Sprintf("life-%d", i),
			}); err != nil {
				return err
			}
		}
		return batch.CloseSend()
	})
	g.Go(func() error {
		for range n {
			r, err := batch.Recv()
			if err != nil {
				return err
			}
			if r.Error != nil {
				return fmt.Errorf("line %d: %v", r.Line, r.Error)
			}
		}
		return nil
	})
	return g.Wait()
}

// residentMB reads a line of a process's memory figures (Linux).
func residentMB(b *testing.B, pid int, line string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	m := regexp.MustCompile(`(?m)^` + line + `:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(b, m, line)
	kb, err := strconv.Atoi(string(m[1]))
	require.NoError(b, err)
	return float64(kb) / 1024
}
