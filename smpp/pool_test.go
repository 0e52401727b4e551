package smpp

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// poolModel drives a pool by what sessions and callers may do to it, and keeps beside it where every slot is.
type poolModel struct {
	pool     pool
	sessions []*modelSession
	lent     []Slot
	used     []Slot // sent, or given back: not the callers' any more
}

type modelSession struct {
	desk    *desk
	window  window
	mine    []*pending // neither on offer nor lent
	sent    int        // left at the desk
	back    int        // likewise
	offered int
	slow    bool
	open    bool
	closed  bool
}

func newPoolModel(t *rapid.T) *poolModel {
	m := &poolModel{}
	for range rapid.IntRange(1, 3).Draw(t, "sessions") {
		s := &modelSession{desk: newDesk(&m.pool, "alpha"), window: newWindow(rapid.IntRange(1, 6).Draw(t, "window"))}
		for s.window.free() > 0 {
			s.mine = append(s.mine, s.window.reserve())
		}
		m.sessions = append(m.sessions, s)
	}
	return m
}

func (m *poolModel) any(t *rapid.T) *modelSession {
	return rapid.SampledFrom(m.sessions).Draw(t, "session")
}

func (m *poolModel) of(d *desk) *modelSession {
	return m.sessions[slices.IndexFunc(m.sessions, func(s *modelSession) bool { return s.desk == d })]
}

func (m *poolModel) offer(t *rapid.T) {
	s := m.any(t)
	if s.closed {
		t.Skip()
	}
	n := rapid.IntRange(0, len(s.mine)).Draw(t, "n")
	s.desk.offer(s.mine[:n])
	s.mine, s.offered, s.open = s.mine[n:], s.offered+n, true
}

func (m *poolModel) hold(t *rapid.T) {
	s := m.any(t)
	s.slow = !s.slow
	s.desk.hold(s.slow)
}

func (m *poolModel) withdraw(t *rapid.T) {
	s := m.any(t)
	back := s.desk.withdraw()
	require.Len(t, back, s.offered)
	s.mine, s.offered, s.open = append(s.mine, back...), 0, false
}

func (m *poolModel) take(t *rapid.T) {
	s := m.any(t)
	in := s.desk.take()
	require.Len(t, in.submits, s.sent)
	require.Len(t, in.released, s.back)
	for _, one := range in.submits { // answered at once
		s.mine = append(s.mine, one.Slot.pending)
	}
	s.mine = append(s.mine, in.released...)
	s.sent, s.back = 0, 0
}

func (m *poolModel) close(t *rapid.T) {
	s := m.any(t)
	if rapid.IntRange(0, 9).Draw(t, "luck") > 0 {
		t.Skip()
	}
	in := s.desk.close()
	require.Len(t, in.submits, s.sent, "each is to be told")
	s.sent, s.back, s.offered, s.open, s.closed = 0, 0, 0, false, true
}

func (m *poolModel) lend(t *rapid.T) {
	free := func() (all, most int) {
		for _, s := range m.sessions {
			if s.open && !s.slow {
				all, most = all+s.offered, max(most, s.offered)
			}
		}
		return all, most
	}
	all, _ := free()
	n := rapid.IntRange(1, 8).Draw(t, "n")
	slots, fresh := m.pool.lend(n)
	require.Len(t, slots, min(n, all))
	require.Equal(t, all == 0, fresh != nil)
	for _, slot := range slots {
		s := m.of(slot.desk)
		_, most := free()
		require.Equal(t, most, s.offered, "the emptiest session is next")
		s.offered--
		for _, other := range m.lent {
			require.NotSame(t, other.pending, slot.pending, "lent once at a time")
		}
		m.lent = append(m.lent, slot)
	}
}

// some is a slot to be used: mostly one that is lent, at times one that is not any more.
func (m *poolModel) some(t *rapid.T) (slot Slot, lent bool) {
	switch {
	case len(m.lent) > 0 && rapid.IntRange(0, 4).Draw(t, "luck") > 0:
		i := rapid.IntRange(0, len(m.lent)-1).Draw(t, "slot")
		slot = m.lent[i]
		m.lent = slices.Delete(m.lent, i, i+1)
		m.used = append(m.used, slot)
		return slot, true
	case len(m.used) > 0:
		slot = rapid.SampledFrom(m.used).Draw(t, "slot")
		return slot, slices.ContainsFunc(m.lent, func(s Slot) bool { return s.pending == slot.pending })
	}
	t.Skip()
	return Slot{}, false
}

func (m *poolModel) release(t *rapid.T) {
	slot, lent := m.some(t)
	if s := m.of(slot.desk); lent && !s.closed {
		m.forget(slot)
		if s.open {
			s.offered++
		} else {
			s.back++
		}
	}
	m.pool.release([]Slot{slot})
}

func (m *poolModel) send(t *rapid.T) {
	slot, lent := m.some(t)
	s := m.of(slot.desk)
	refused := m.pool.send([]Submit{{Slot: slot}})
	require.Equal(t, !lent || s.closed, len(refused) == 1)
	if lent && !s.closed {
		m.forget(slot)
		s.sent++
	}
}

// forget takes a slot from those that are lent.
func (m *poolModel) forget(slot Slot) {
	m.lent = slices.DeleteFunc(m.lent, func(s Slot) bool { return s.pending == slot.pending })
}

func (m *poolModel) check(t *rapid.T) {
	lent := make(map[*desk]int)
	for _, slot := range m.lent {
		lent[slot.desk]++
	}
	for _, s := range m.sessions {
		if !s.closed {
			require.Equal(t, s.window.limit, len(s.mine)+s.offered+s.sent+s.back+lent[s.desk], "no slot is lost, none is made")
		}
		require.Equal(t, s.offered, s.desk.free.len())
	}
}

func TestPool_everySlotIsSomewhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newPoolModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"": m.check, "offer": m.offer, "hold": m.hold, "withdraw": m.withdraw, "take": m.take, "close": m.close,
			"lend": m.lend, "release": m.release, "send": m.send,
		})
	})
}

func TestPool_numbersOfSlotsGivenBackAreUsedNextAndInOrder(t *testing.T) {
	var p pool
	d, w := newDesk(&p, "alpha"), newWindow(6)
	var all []*pending
	for w.free() > 0 {
		all = append(all, w.reserve())
	}
	d.offer(all[:5])
	slots, _ := p.lend(4)
	p.release(slots[1:])
	d.offer(all[5:])
	rest, _ := p.lend(10)
	var numbers []uint32
	for _, s := range rest {
		numbers = append(numbers, s.SequenceNumber)
	}
	require.Equal(t, []uint32{2, 3, 4, 5, 6}, numbers)
}
