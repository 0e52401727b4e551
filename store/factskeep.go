package store

import "esmed/statemachine"

// The facts of retention and of a restored backup, both ways.

func appendRetention(b []byte, f *statemachine.Retention) []byte {
	b = putAll(b, 1, f.Close)
	b = putString(b, 2, string(f.Messages))
	b = putAll(b, 3, f.Inbox)
	b = putAll(b, 4, f.Exceptions)
	return putUint(b, 5, f.Log)
}

func readRetention(f *fields) *statemachine.Retention {
	r := new(statemachine.Retention)
	for f.next() {
		switch f.num {
		case 1:
			r.Close = append(r.Close, statemachine.ID(f.str()))
		case 2:
			r.Messages = statemachine.ID(f.str())
		case 3:
			r.Inbox = append(r.Inbox, statemachine.InboxKey(f.str()))
		case 4:
			r.Exceptions = append(r.Exceptions, f.str())
		case 5:
			r.Log = f.u
		}
	}
	return r
}

// appendRestored also encodes state.proto's Restored, the last such record.
func appendRestored(b []byte, f *statemachine.Restored) []byte {
	b = putString(b, 1, f.Backup)
	b = putBool(b, 2, f.Send)
	return putBool(b, 3, f.Done)
}

func readRestored(f *fields) *statemachine.Restored {
	r := new(statemachine.Restored)
	for f.next() {
		switch f.num {
		case 1:
			r.Backup = f.str()
		case 2:
			r.Send = f.bool()
		case 3:
			r.Done = f.bool()
		}
	}
	return r
}
