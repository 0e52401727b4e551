package daemon_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutext"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutlv"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
	"esmed/smpp/text"
)

// sample is a text that is sent in an alphabet, "" for the smallest.
type sample struct {
	alphabet text.Alphabet
	text     string
}

// fillers are a character of each alphabet, and what is not to be cut in it.
var fillers = map[text.Alphabet]struct {
	char  string
	whole []string
}{
	text.GSM7:   {"é", []string{"€", "[", "\r\n"}},
	text.ASCII:  {"a", []string{"\r\n"}},
	text.Latin1: {"ç", []string{"\r\n"}},
	text.UCS2:   {"я", []string{"😀", "и\u0306", "👍🏽", "🇮🇹", "\r\n", "👨‍👩‍👧‍👦"}},
}

// samplesFor are texts of every length at which something changes, and such with what is not to be cut at
// every place around the end of a part.
func samplesFor(smsc *config.SMSC) []sample {
	var all []sample
	for _, a := range []text.Alphabet{text.GSM7, text.ASCII, text.Latin1, text.UCS2} {
		deflt := a == text.Alphabet(smsc.DefaultAlphabet)
		if a == text.GSM7 && !deflt {
			continue // nothing announces it there
		}
		fill := fillers[a]
		unit, _ := a.Size(fill.char)
		one, part := a.Room(0)/unit, a.Room(text.HeaderLen)/unit // in characters
		add := func(s string) {
			forced := a
			if deflt {
				forced = ""
			}
			all = append(all, sample{forced, s})
		}
		for _, n := range []int{1, one - 1, one, one + 1, 2*part - 1, 2 * part, 2*part + 1, 3 * part} {
			add(strings.Repeat(fill.char, n))
		}
		for _, whole := range fill.whole {
			size, _ := a.Size(whole)
			for before := part - size/unit - 1; before <= part+1; before++ {
				add(strings.Repeat(fill.char, before) + whole + strings.Repeat(fill.char, one-part+2))
			}
		}
	}
	anything := rapid.StringOfN(rapid.RuneFrom([]rune("aéΩ€[\r\nçя😀\u0306\u200D👍🏽🇮👩")), 1, 400, -1)
	for seed := range 8 {
		all = append(all, sample{"", anything.Example(seed)})
	}
	if smsc.DefaultAlphabet == "gsm7" {
		longest := map[string]int{"udh": text.MaxParts * 152, "sar": text.MaxParts * 152, "payload": 0xFFFF}[smsc.LongMessages]
		all = append(all, sample{"", strings.Repeat("a", longest)})
	}
	return all
}

func TestTexts_arriveAsTheyWereSent(t *testing.T) {
	sent := 0
	for _, alphabet := range []string{"gsm7", "latin1", "ascii"} {
		for _, way := range [][2]string{{"udh", "each"}, {"sar", "last"}, {"payload", "first"}} {
			t.Run(alphabet+" in "+way[0], func(t *testing.T) {
				s := newSystem(t, smpptest.Config{}, func(cfg *config.Config) {
					cfg.Log.Level = "info"
					smsc := &cfg.SMSCs[0]
					smsc.DefaultAlphabet, smsc.LongMessages, smsc.LongReceipts, smsc.Window = alphabet, way[0], way[1], 100
				})
				sent += s.exchangeTexts(samplesFor(&s.cfg.SMSCs[0]))
			})
		}
	}
	require.Greater(t, sent, 500)
}

// TestTexts_outliveARestart: what was decided about a text when it was accepted is sent after a restart, whatever the
// configuration says by then.
func TestTexts_outliveARestart(t *testing.T) {
	long := strings.Repeat("0123456789", 40)
	for way, by := range map[string]smpptest.Joining{"udh": smpptest.UDH16, "sar": smpptest.SAR, "payload": smpptest.Payload} {
		t.Run(way, func(t *testing.T) {
			s := newSystem(t, smpptest.Config{Bind: smpptest.Bind{Refuse: smpp.StatusBindFail}}, func(cfg *config.Config) {
				cfg.SMSCs[0].LongMessages = way
			})
			m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), Text: long}, "")
			require.NoError(t, err)
			s.halt()
			s.cfg.SMSCs[0].LongMessages = map[string]string{"udh": "payload", "sar": "udh", "payload": "sar"}[way]
			s.smsc.Change(func(cfg *smpptest.Config) { cfg.Bind.Refuse = 0 })
			s.start()
			s.awaitState(m.ID, "DELIVERED")
			joined := smpptest.Join(s.smsc.Submits(), smpptest.GSM7)
			require.Len(t, joined, 1)
			require.True(t, joined[0].Whole(), joined[0].Faults)
			require.Equal(t, by, joined[0].By)
			require.Equal(t, long, joined[0].Text)
		})
	}
}

// exchangeTexts sends texts and holds what came of them against them.
func (s *system) exchangeTexts(samples []sample) int {
	s.t.Helper()
	ids := s.submitSamples(samples)
	parts := 0
	for _, m := range s.messages() {
		parts += len(m.Parts)
	}
	require.NoError(s.t, s.smsc.Await(s.ctx, func(st smpptest.Stats) bool { return st.Accepted == uint64(parts) }))
	s.drained()

	received := map[string][]smpptest.Submit{} // by destination
	for _, sub := range s.smsc.Submits() {
		received[sub.Dest.Addr] = append(received[sub.Dest.Addr], sub)
	}
	sent := map[string][][]byte{} // by message, part by part
	for _, e := range s.events() {
		if e.Type == "sent" {
			octets, err := hex.DecodeString(e.PDU)
			require.NoError(s.t, err)
			sent[e.Message] = append(sent[e.Message], octets)
		}
	}
	messages, smsc := s.messages(), &s.cfg.SMSCs[0]
	for i, sample := range samples {
		what := fmt.Sprintf("sample %d, in %q", i, sample.alphabet)
		m := messages[ids[i]]
		require.Equal(s.t, "DELIVERED", m.State, what)
		checkReceived(s.t, what, smsc, sample.text, received[number(i)[1:]], len(m.Parts))
		if len(sent[m.ID][0]) <= pdu.MaxSize {
			require.Equal(s.t, sample.text, secondOpinion(s.t, sent[m.ID], smsc), what)
		}
	}
	return len(samples)
}

// messages are all, by their ids.
func (s *system) messages() map[string]control.Message {
	s.t.Helper()
	l, err := s.api.Messages(s.ctx, control.MessageQuery{Limit: control.MaxLimit})
	require.NoError(s.t, err)
	require.Empty(s.t, l.Next)
	all := map[string]control.Message{}
	for _, m := range l.Items {
		all[m.ID] = m
	}
	return all
}

// submitSamples submits them in one batch, each to a destination of its own.
func (s *system) submitSamples(samples []sample) (ids []string) {
	s.t.Helper()
	b, err := s.api.Batch(s.ctx)
	require.NoError(s.t, err)
	var g errgroup.Group
	g.Go(func() error {
		for i, sample := range samples {
			if err := b.Send(control.Submission{To: number(i), From: "ACME", Text: sample.text, Alphabet: string(sample.alphabet)}); err != nil {
				return err
			}
		}
		return b.CloseSend()
	})
	for {
		r, err := b.Recv()
		if err == io.EOF {
			break
		}
		require.NoError(s.t, err)
		require.Nil(s.t, r.Error)
		ids = append(ids, r.ID)
	}
	require.NoError(s.t, g.Wait())
	require.NoError(s.t, b.Close())
	require.Len(s.t, ids, len(samples))
	return ids
}

// checkReceived holds what the SMSC received of one message against what was sent.
func checkReceived(t *testing.T, what string, smsc *config.SMSC, sent string, submits []smpptest.Submit, parts int) {
	t.Helper()
	joined := smpptest.Join(submits, smpptest.Alphabet(smsc.DefaultAlphabet))
	require.Len(t, joined, 1, what)
	require.True(t, joined[0].Whole(), "%s: %+v", what, joined[0].Faults)
	require.Equal(t, sent, joined[0].Text, what)
	require.Equal(t, parts, joined[0].Parts, what)
	if by := joined[0].By; by != smpptest.Single {
		require.Equal(t, map[string]smpptest.Joining{"udh": smpptest.UDH16, "sar": smpptest.SAR, "payload": smpptest.Payload}[smsc.LongMessages], by, what)
	}
	asked := 0
	for _, sub := range submits {
		require.LessOrEqual(t, len(sub.ShortMessage), 160, what)
		asked += int(sub.RegisteredDelivery)
	}
	if smsc.LongReceipts == "each" {
		require.Equal(t, parts, asked, what)
	} else {
		require.Equal(t, 1, asked, what)
	}
}

// secondOpinion is what another codec reads in the submits of a message.
func secondOpinion(t *testing.T, pdus [][]byte, smsc *config.SMSC) string {
	t.Helper()
	var all string
	for i, octets := range pdus {
		body, err := pdu.Decode(bytes.NewReader(octets))
		require.NoError(t, err)
		f, tlvs := body.Fields(), body.TLVFields()
		require.Equal(t, pdu.SubmitSMID, body.Header().ID)
		short := f[pdufield.ShortMessage].Bytes()
		var place []byte // reference, total and number
		if f[pdufield.ESMClass].Bytes()[0] == 0x40 {
			require.Equal(t, []byte{6, 8, 4}, short[:3])
			place, short = short[3:7], short[7:]
		}
		if ref := tlvs[pdutlv.Tag(smpp.TagSARMsgRefNum)]; ref != nil {
			place = append(append(bytes.Clone(ref.Bytes()), tlvs[pdutlv.Tag(smpp.TagSARTotalSegments)].Bytes()...), tlvs[pdutlv.Tag(smpp.TagSARSegmentSeqNum)].Bytes()...)
		}
		if payload := tlvs[pdutlv.Tag(smpp.TagMessagePayload)]; payload != nil {
			require.Empty(t, short)
			short = payload.Bytes()
		}
		if len(pdus) > 1 {
			require.Len(t, place, 4)
			require.Equal(t, []byte{byte(len(pdus)), byte(i + 1)}, place[2:])
		} else {
			require.Empty(t, place)
		}
		all += pdutextOf(f[pdufield.DataCoding].Bytes()[0], short, smsc)
	}
	return all
}

func pdutextOf(dataCoding byte, octets []byte, smsc *config.SMSC) string {
	var codec pdutext.Codec = pdutext.Raw(octets) // ASCII
	switch {
	case dataCoding == 8:
		codec = pdutext.UCS2(octets)
	case dataCoding == 3, dataCoding == 0 && smsc.DefaultAlphabet == "latin1":
		codec = pdutext.Latin1(octets)
	case dataCoding == 0 && smsc.DefaultAlphabet == "gsm7":
		codec = pdutext.GSM7(octets)
	}
	return string(codec.Decode())
}
