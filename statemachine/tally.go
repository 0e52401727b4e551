package statemachine

import "time"

// Tally is the message's share of the report's counters (CONTRACT §4).
func (m *Message) Tally() Tally {
	t := Tally{
		Accepted:     1,
		Submitted:    one(!m.SubmittedAt.IsZero()),
		Failed:       one(m.State == Failed),
		Open:         one(!m.Closed()),
		Unreported:   one(m.State == Unreported),
		InDoubt:      one(m.State == InDoubt),
		MaybeDoubled: one(m.MaybeDoubled()),
	}
	if t.Submitted == 1 && m.asked() {
		t.Asked = 1
		t.Final = one(m.State != Failed && m.Final())
		t.Delivered = one(m.State == Delivered && t.Final == 1)
	}
	return t
}

// asked reports whether a part asked for a final receipt.
func (m *Message) asked() bool {
	for i := range m.Parts {
		if m.Parts[i].Asked {
			return true
		}
	}
	return false
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// Hour is the hour of the report that the message belongs to, UTC.
func (m *Message) Hour() time.Time { return m.AcceptedAt.UTC().Truncate(time.Hour) }

// Add is the sum of both.
func (t Tally) Add(u Tally) Tally {
	t.Accepted += u.Accepted
	t.Submitted += u.Submitted
	t.Failed += u.Failed
	t.Asked += u.Asked
	t.Final += u.Final
	t.Delivered += u.Delivered
	t.Open += u.Open
	t.Unreported += u.Unreported
	t.InDoubt += u.InDoubt
	t.MaybeDoubled += u.MaybeDoubled
	t.Verified += u.Verified
	return t
}

// Sub is what must be added to u to get t.
func (t Tally) Sub(u Tally) Tally {
	return t.Add(Tally{
		-u.Accepted, -u.Submitted, -u.Failed, -u.Asked, -u.Final, -u.Delivered, -u.Open, -u.Unreported,
		-u.InDoubt, -u.MaybeDoubled, -u.Verified,
	})
}
