package smpp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWindow_sequenceNumbersWrapAndSkipThoseInUse(t *testing.T) {
	w := newWindow(10)
	require.EqualValues(t, 1, w.take(CommandEnquireLink).seq)
	require.EqualValues(t, 2, w.reserve().seq)
	w.last = maxSequenceNumber - 1
	require.EqualValues(t, maxSequenceNumber, w.reserve().seq)
	require.EqualValues(t, 3, w.reserve().seq)
}

func TestWindow_anAnswerToASlotThatWasNotUsedIsNone(t *testing.T) {
	w := newWindow(1)
	p := w.reserve()
	got, _ := w.answer(Header{CommandID: CommandSubmitSMResp, SequenceNumber: p.seq})
	require.Nil(t, got)
	require.Equal(t, 0, w.free())
	w.release(p)
	require.Equal(t, 1, w.free())
}

func TestLink_numbersThatWereNotUsedAreUsedNext(t *testing.T) {
	l := &link{window: newWindow(10)}
	l.window.last = 41
	slots := l.reserve()
	l.window.send(slots[0], 0, time.Time{}, time.Time{}, func(Answer) {})
	l.release(slots[1:])
	require.Equal(t, 9, l.window.free())
	require.Equal(t, 1, l.window.outstanding())
	require.EqualValues(t, 43, l.window.reserve().seq)
}

func TestWindow_remembersManyButNotAllExpired(t *testing.T) {
	w := newWindow(1)
	var now time.Time
	for range maxExpired + 10 {
		now = now.Add(time.Second)
		w.send(w.reserve(), 0, now, now, func(Answer) {})
		require.NotNil(t, w.expire(now))
		require.Nil(t, w.expire(now))
	}
	require.Len(t, w.taken, maxExpired)
	p, _ := w.answer(Header{CommandID: CommandSubmitSMResp, SequenceNumber: 10})
	require.Nil(t, p)
	p, late := w.answer(Header{CommandID: CommandSubmitSMResp, SequenceNumber: 11})
	require.True(t, late)
	require.EqualValues(t, 11, p.seq)
}

// linkModel drives a link by random answers, timeouts and cuts, and keeps beside it what must hold.
type linkModel struct {
	link    link
	now     time.Time
	slots   []*pending          // reserved, not used
	told    map[uint32][]Answer // by sequence number
	sent    []uint32
	written int64
}

func newLinkModel(t *rapid.T) *linkModel {
	cfg := Config{Name: "alpha/1", Window: rapid.IntRange(1, 5).Draw(t, "window"), ResponseTimeout: 10 * time.Second, EnquireLink: 30 * time.Second}.withDefaults()
	m := &linkModel{link: newLink(&cfg, make(chan *Request, 10000)), now: time.Now(), told: make(map[uint32][]Answer)}
	m.link.begin(m.now)
	m.frame(&BindResp{Header: Header{CommandID: CommandBindTransceiverResp, SequenceNumber: 1}})
	return m
}

func (m *linkModel) frame(p PDU) {
	pdu := mustEncode(p)
	m.link.frame(m.now, Frame{Header: ParseHeader(pdu), PDU: pdu})
}

func (m *linkModel) reserve(t *rapid.T) {
	if !m.link.accepting() || m.link.window.free() == 0 {
		t.Skip()
	}
	slots := m.link.reserve()
	for _, s := range slots {
		require.NotContains(t, m.told, s.seq, "a number in use is not given again")
	}
	m.slots = append(m.slots, slots...)
}

func (m *linkModel) send(t *rapid.T) {
	if len(m.slots) == 0 {
		t.Skip()
	}
	s := m.slots[0]
	m.slots = m.slots[1:]
	m.sent = append(m.sent, s.seq)
	m.link.submit(m.now, []Submit{{Slot: Slot{SequenceNumber: s.seq, pending: s}, PDU: mustEncode(&SubmitSM{Header: Header{SequenceNumber: s.seq}}), Done: func(a Answer) {
		m.told[a.SequenceNumber] = append(m.told[a.SequenceNumber], a)
	}}})
}

func (m *linkModel) release(t *rapid.T) {
	if len(m.slots) == 0 {
		t.Skip()
	}
	m.link.release(m.slots[:1])
	m.slots = m.slots[1:]
}

func (m *linkModel) respond(t *rapid.T) {
	kinds := []CommandID{CommandSubmitSMResp, CommandSubmitSMResp, CommandSubmitSMResp, CommandGenericNack, CommandDataSMResp, CommandEnquireLinkResp}
	m.frame(&Other{Header: Header{
		CommandID:      rapid.SampledFrom(kinds).Draw(t, "kind"),
		SequenceNumber: uint32(rapid.IntRange(0, 30).Draw(t, "seq")),
	}})
}

func (m *linkModel) deliver(t *rapid.T) {
	m.frame(deliverSM(uint32(rapid.IntRange(0, 30).Draw(t, "seq")), "id:1"))
}

func (m *linkModel) elapse(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second)
	m.link.tick(m.now)
}

func (m *linkModel) write(t *rapid.T) {
	n := rapid.IntRange(0, len(m.link.out)).Draw(t, "octets")
	m.link.out = m.link.out[n:]
	m.written += int64(n)
}

func (m *linkModel) stop(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "luck") > 0 {
		t.Skip()
	}
	m.link.shutDown(m.now, "stop", 5*time.Second)
}

func (m *linkModel) check(t *rapid.T) {
	m.link.settle(m.now)
	require.GreaterOrEqual(t, m.link.window.free(), 0, "never more outstanding than the window")
	for seq, answers := range m.told {
		require.LessOrEqual(t, len(answers), 2)
		if len(answers) == 2 {
			require.Equal(t, TimedOut, answers[0].Outcome, "only a timeout has something after it: %d", seq)
			require.True(t, answers[1].Late)
		} else {
			require.False(t, answers[0].Late)
		}
	}
}

func TestLink_everySubmitEndsExactlyOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newLinkModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "reserve": m.reserve, "send": m.send, "release": m.release, "respond": m.respond,
			"deliver": m.deliver, "elapse": m.elapse, "write": m.write, "stop": m.stop,
		})
		m.link.end("cut", nil, false)
		m.link.handBack(m.written)
		m.check(t)
		require.Len(t, m.told, len(m.sent))
		for _, seq := range m.sent {
			require.NotEmpty(t, m.told[seq])
		}
	})
}

func TestSilence(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := silence{limit: 30 * time.Second}
	s.hear(start)
	require.False(t, s.due(start.Add(29*time.Second)))
	require.True(t, s.due(start.Add(30*time.Second)))
	s.asked = true
	require.False(t, s.due(start.Add(time.Hour)), "one question at a time")
	require.Zero(t, s.next())
	never := silence{}
	require.False(t, never.due(start))
	require.Zero(t, earliest())
	require.Equal(t, start, earliest(time.Time{}, start.Add(1), start))
}

func TestBackoff_growsWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "min"))
		b := backoff{min: lo, max: lo + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "more"))}
		want := b.min
		for range 20 {
			d := b.next()
			require.LessOrEqual(t, d, want)
			require.GreaterOrEqual(t, d, want/2)
			want = min(2*want, b.max)
		}
		b.reset()
		require.LessOrEqual(t, b.next(), b.min)
	})
}
