package statemachine

// ApplySeenAs is Apply with another View of m.
func (m *Memory) ApplySeenAs(v View, rec Record, eff *Effects) error { return m.apply(v, rec, eff) }
