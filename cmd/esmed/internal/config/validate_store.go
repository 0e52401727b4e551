package config

import "time"

// minRetention is the shortest time that anything is kept. Less is a unit that was forgotten.
const minRetention = time.Minute

// validateRetention checks that nothing is dropped while something may still be said about it.
func (c *Config) validateRetention(ps *problems) {
	const path = "store.retention."
	r := c.Store.Retention
	for _, kept := range []struct {
		key string
		d   time.Duration
	}{{"messages", r.Messages}, {"inbox", r.Inbox}, {"exceptions", r.Exceptions}, {"texts", r.Texts}} {
		if kept.key == "texts" && kept.d == 0 {
			continue
		}
		ps.atLeast(path+kept.key, kept.d, minRetention)
		ps.check(kept.d <= r.Log, path+kept.key,
			"must not be longer than the log is kept (got %[1]s and %[2]s): set store.retention.log to %[1]s or more", kept.d, r.Log)
	}
	ps.atLeast(path+"log", r.Log, minRetention)
	for i := range c.SMSCs {
		s := &c.SMSCs[i]
		window := s.DeliveryWindow + s.ReceiptGrace
		const why = "must be longer than the window of %s, delivery_window and receipt_grace (got %s and %s): a receipt could still come"
		ps.check(r.Messages > window, path+"messages", why, s.Name, r.Messages, window)
		ps.check(r.Inbox > window, path+"inbox", why, s.Name, r.Inbox, window)
		ps.check(r.Texts == 0 || r.Texts > s.DeliveryWindow, path+"texts",
			"must be longer than the delivery_window of %s (got %s and %s): what waits in the queue could not be sent", s.Name, r.Texts, s.DeliveryWindow)
	}
}
