package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// heldStore is a store with n messages that were answered with hexadecimal ids, and a receipt for each that
// has its id in decimal.
func heldStore(t testing.TB, n int) *store.Store {
	s, err := store.Open(store.Config{Dir: filepath.Join(t.TempDir(), "data"), Decode: DecodePDU, TextSpans: TextSpans})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return s.Run(ctx) })
	t.Cleanup(func() {
		stop()
		require.NoError(t, g.Wait())
		require.NoError(t, s.Close())
	})
	rules := statemachine.Rules{Parser: receipt.ParserVersion, SMSCs: []statemachine.SMSCRules{{
		SMSC: "alpha", Account: "alpha", Receipt: receipt.DefaultRules(), DeliveryWindow: 72 * time.Hour,
	}}}
	_, err = s.SetRules(ctx, rules)
	require.NoError(t, err)
	last := make(chan error, 1)
	post := func(fact statemachine.Fact, done func(statemachine.Record, error)) {
		require.NoError(t, s.Post(ctx, fact, done))
	}
	ignore := func(statemachine.Record, error) {}
	for i := range n {
		id := statemachine.ID(fmt.Sprintf("01JDXW5Q0C8Z4Y3K7M2N%06d", i))
		number := fmt.Sprintf("39333%07d", i)
		require.NoError(t, s.AcceptPost(ctx, &statemachine.MessageAccepted{
			Message: id, SMSC: "alpha", Account: "alpha", To: "+" + number, E164: "+" + number,
			Source: receipt.Address{Addr: "ACME", TON: 5}, Dest: receipt.Address{Addr: number, TON: 1, NPI: 1},
			RegisteredDelivery: 1, Parts: make([]statemachine.PartContent, 1),
		}, func(store.Acceptance, error) {}))
		post(&statemachine.Sent{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1"}, ignore)
		post(&statemachine.SubmitResp{Message: id, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", MessageID: fmt.Sprintf("5A%08X", 7919*i)}, ignore)
	}
	for i := range n {
		pdu := encode(t, &smpp.DeliverSM{
			ESMClass: 4, Source: smpp.Address{TON: 1, NPI: 1, Addr: fmt.Sprintf("39333%07d", i)}, Dest: smpp.Address{TON: 5, Addr: "ACME"},
			ShortMessage: fmt.Appendf(nil, "id:%d sub:001 dlvrd:001 submit date:%s done date:%s stat:DELIVRD err:000 text:",
				0x5A<<32+7919*i, time.Now().UTC().Add(3*time.Hour).Format("0601021504"), time.Now().UTC().Add(3*time.Hour).Format("0601021504")),
		})
		post(&statemachine.Reception{SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: pdu, Length: uint32(len(pdu))}, func(_ statemachine.Record, err error) {
			if i == n-1 {
				last <- err
			}
		})
	}
	require.NoError(t, <-last)
	require.NoError(t, s.Sync(ctx))
	return s
}

func TestDiagnose_readsEverythingAndChangesNothing(t *testing.T) {
	const n = 2*diagnosisPage + 7
	s := heldStore(t, n)
	before := s.Head()
	b := &backend{store: s}
	for _, smsc := range []string{"", "alpha"} {
		found, err := b.Diagnose(context.Background(), smsc)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, n, found[0].Receipts)
		require.Equal(t, n, found[0].Open)
		require.Equal(t, statemachine.Fits{Unique: n, Confirmed: n}, found[0].Proposals[0].Fits)
		require.Equal(t, receipt.IDRules{{Name: receipt.RuleHexToDec}}, found[0].Proposals[0].Text)
		require.Equal(t, "Etc/GMT-3", found[0].Zone.Timezone)
	}
	require.Equal(t, before, s.Head())
	found, err := b.Diagnose(context.Background(), "beta")
	require.NoError(t, err)
	require.Empty(t, found)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = b.Diagnose(ctx, "")
	require.ErrorIs(t, err, context.Canceled)
}

// BenchmarkDiagnose is about what waits when nobody looked for long: 100,000 receipts, with as many open
// messages. cpu-s is the processor time of one diagnosis, sys-MB what it asked of the system.
func BenchmarkDiagnose(b *testing.B) {
	const n = 100_000
	back := &backend{store: heldStore(b, n)}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := processorTime(b)
	for b.Loop() {
		found, err := back.Diagnose(context.Background(), "")
		require.NoError(b, err)
		require.Equal(b, n, found[0].Proposals[0].Confirmed)
	}
	b.ReportMetric((processorTime(b)-used).Seconds()/float64(b.N), "cpu-s")
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Sys-before.Sys)/(1<<20), "sys-MB")
}

// BenchmarkRehearseReprocess is a dry run of which 100,000 receipts find their message.
func BenchmarkRehearseReprocess(b *testing.B) {
	const n = 100_000
	back := &backend{store: heldStore(b, n), reload: func() (*config.Config, error) {
		alpha := config.DefaultSMSC()
		alpha.Name, alpha.Account = "alpha", "alpha"
		alpha.Rules.MessageID.Text = receipt.IDRules{{Name: receipt.RuleHexToDec}}
		return &config.Config{SMSCs: []config.SMSC{alpha}}, nil
	}}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := processorTime(b)
	for b.Loop() {
		var result control.ReprocessResult
		require.NoError(b, back.RehearseReprocess(context.Background(), func(p control.ReprocessPage) error {
			result.Add(p)
			return nil
		}))
		require.Equal(b, n, result.Changed)
	}
	b.ReportMetric((processorTime(b)-used).Seconds()/float64(b.N), "cpu-s")
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Sys-before.Sys)/(1<<20), "sys-MB")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
