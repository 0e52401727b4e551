package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"esmed/cmd/esmed/internal/capture"
	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/smpp"
	"esmed/smpp/smpptest"

	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"
)

// rules are those of an SMSC whose configuration says nothing.
func rules() *capture.Rules {
	s := config.DefaultSMSC()
	fold := daemon.FoldRules(&s)
	fold.SMSC, fold.Account = "", ""
	return capture.NewRules(fold, s.DefaultAlphabet, daemon.DecodePDU)
}

// told is a Listener that keeps what it is told.
type told struct {
	pdus   []capture.Explanation
	rows   []capture.Row
	strays []capture.Judged
	links  []*capture.Connection
}

func (t *told) PDU(explain func() capture.Explanation) error {
	t.pdus = append(t.pdus, explain())
	return nil
}

func (t *told) Message(r capture.Row) error {
	t.rows = append(t.rows, r)
	return nil
}

func (t *told) Stray(j capture.Judged) error {
	t.strays = append(t.strays, j)
	return nil
}

func (t *told) Connection(c *capture.Connection) error {
	t.links = append(t.links, c)
	return nil
}

func tell(t testing.TB, file []byte) (*told, *capture.Story) {
	var to told
	story, err := capture.Tell(bytes.NewReader(file), rules(), &to)
	require.NoError(t, err)
	return &to, story
}

// handler answers at once what it receives.
type handler struct{}

func (handler) Received(r *smpp.Request) { r.Respond(smpp.StatusOK) }
func (handler) Session(smpp.Event)       {}

// session is a real one between the daemon's client and the simulated SMSC: messages sent submits, whose receipts
// are duplicated, intermediate or missing now and then, and what was said.
func session(t *testing.T, messages int) []chunk {
	smsc, err := smpptest.Start(smpptest.Config{Seed: 7, OnSubmit: func(s smpptest.Submit, a smpptest.Action) smpptest.Action {
		switch s.N % 5 {
		case 1:
			a.Receipts = []smpptest.Planned{{Kind: smpptest.Final, Word: "DELIVRD"}, {Kind: smpptest.Duplicate, Word: "DELIVRD"}}
		case 2:
			a.Receipts = []smpptest.Planned{{Kind: smpptest.Final, Word: "UNDELIV", BeforeResponse: true}}
		case 3:
			a.Status = smpp.StatusThrottled
			a.Receipts = nil
		case 4:
			a.Receipts = nil
		}
		return a
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, smsc.Close()) }()
	tap := newTap(t, smsc.Addr())

	c := smpp.New(smpp.Config{
		Name: "alpha/1", Addrs: []string{tap.ln.Addr().String()}, Window: 10, Handler: handler{},
		Bind: smpp.BindConfig{SystemID: "esme", Password: "secret", InterfaceVersion: 0x34},
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { require.NoError(t, c.Run(ctx)) })
	var answers sync.WaitGroup
	for i := range messages {
		slots, err := c.Reserve(ctx, 1)
		require.NoError(t, err)
		m := smpp.SubmitSM{
			Source: smpp.Address{TON: 5, Addr: "ACME"}, Dest: smpp.Address{TON: 1, NPI: 1, Addr: fmt.Sprintf("39333123%04d", i)},
			RegisteredDelivery: 1, ShortMessage: fmt.Appendf(nil, "Your code is %d @ 5%%", i),
			TLVs: smpp.TLVs{{Tag: smpp.TagUserMessageReference, Value: []byte{0, byte(i)}}},
		}
		m.SequenceNumber = slots[0].SequenceNumber
		pdu, err := smpp.AppendSubmitSM(nil, &m)
		require.NoError(t, err)
		answers.Add(1)
		require.NoError(t, c.Send([]smpp.Submit{{Slot: slots[0], PDU: pdu, Done: func(smpp.Answer) { answers.Done() }}}))
	}
	answers.Wait()
	smsc.Deliver(smpptest.Delivery{Kind: smpptest.MO, Source: smpptest.Address{Addr: "393331230000"}, ShortMessage: []byte("Hello")})
	require.NoError(t, smsc.Drained(ctx))
	stop()
	running.Wait()
	return tap.all()
}

// A real session, however TCP cut it, is read as what both sides said.
func TestTell_aRealSession(t *testing.T) {
	const messages = 40
	said := session(t, messages)
	want := pdus(t, said)
	for seed := range uint64(8) {
		w := newWire(t, layers.LinkTypeEthernet)
		w.replay(said, rand.New(rand.NewPCG(seed, 0)), anywhere)
		got, story := tell(t, w.pcap())
		require.Equal(t, len(want[client])+len(want[server]), story.PDUs)
		have := [2][][]byte{}
		for _, e := range got.pdus {
			from := client
			if e.From == w.ends[server].String() {
				from = server
			}
			have[from] = append(have[from], e.PDU)
			require.Nil(t, e.Error)
			require.NotZero(t, e.At)
		}
		require.Equal(t, want, have)
		require.Len(t, got.rows, messages)
		require.Empty(t, got.strays)
		require.Len(t, got.links, 1)
		require.Empty(t, got.links[0].Unanswered)
		require.Equal(t, 0, got.links[0].Skipped+got.links[0].Lost)
		requireOutcomes(t, got.rows)
	}
}

func requireOutcomes(t *testing.T, rows []capture.Row) {
	for i, r := range rows {
		require.NotNil(t, r.Submits[0].Answer)
		switch (i + 1) % 5 {
		case 1:
			require.Equal(t, "DELIVERED", r.State)
			require.Len(t, r.Receipts, 2)
			require.Equal(t, []string{"applied", "duplicate"}, []string{r.Receipts[0].Verdict, r.Receipts[1].Verdict})
		case 2:
			require.Equal(t, "UNDELIVERABLE", r.State)
			require.Less(t, r.Receipts[0].PDU, r.Submits[0].Answer.PDU)
		case 3:
			require.Equal(t, "FAILED", r.State)
			require.Equal(t, "ESME_RTHROTTLED", r.Submits[0].Answer.CommandStatus)
		case 4:
			require.Equal(t, "SUBMITTED", r.State)
			require.Empty(t, r.Receipts)
		}
	}
}

// pdus cuts what each side said by command_length alone.
func pdus(t *testing.T, said []chunk) (all [2][][]byte) {
	for _, c := range joined(said) {
		for rest := c.octets; len(rest) > 0; {
			n := int(smpp.ParseHeader(rest).CommandLength)
			require.LessOrEqual(t, n, len(rest))
			all[c.from] = append(all[c.from], rest[:n])
			rest = rest[n:]
		}
	}
	return all
}
