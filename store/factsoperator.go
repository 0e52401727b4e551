package store

import "esmed/statemachine"

// What a person decided, both ways.

func appendOperator(b []byte, f *statemachine.Operator) []byte {
	b = putString(b, 1, string(f.Action))
	b = putString(b, 2, f.By)
	b = putString(b, 3, f.Reason)
	b = putString(b, 4, f.Exception)
	b = putString(b, 5, string(f.Row))
	if f.Target != (statemachine.AttemptRef{}) {
		b = putRef(b, 6, f.Target)
	}
	b = putString(b, 7, f.MessageID)
	if f.Reprocess != nil {
		var at int
		b, at = openNested(b, 8)
		b = closeNested(appendReprocess(b, f.Reprocess), at)
	}
	b = putString(b, 9, f.SMSC)
	return putAll(b, 10, f.Messages)
}

func readOperator(f *fields) *statemachine.Operator {
	o := new(statemachine.Operator)
	for f.next() {
		switch f.num {
		case 1:
			o.Action = statemachine.Action(f.str())
		case 2:
			o.By = f.str()
		case 3:
			o.Reason = f.str()
		case 4:
			o.Exception = f.str()
		case 5:
			o.Row = statemachine.InboxKey(f.str())
		case 6:
			f.nested(func(in *fields) { o.Target = readRef(in) })
		case 7:
			o.MessageID = f.str()
		case 8:
			o.Reprocess = new(statemachine.Reprocess)
			f.nested(func(in *fields) { *o.Reprocess = readReprocess(in) })
		case 9:
			o.SMSC = f.str()
		case 10:
			o.Messages = append(o.Messages, statemachine.ID(f.str()))
		}
	}
	return o
}

func appendReprocess(b []byte, r *statemachine.Reprocess) []byte {
	b = putAll(b, 1, r.Rows)
	b = putAll(b, 2, r.Messages)
	b, at := openNested(b, 3)
	return closeNested(appendProgress(b, &r.Progress), at)
}

func readReprocess(f *fields) (r statemachine.Reprocess) {
	for f.next() {
		switch f.num {
		case 1:
			r.Rows = append(r.Rows, statemachine.InboxKey(f.str()))
		case 2:
			r.Messages = append(r.Messages, statemachine.ID(f.str()))
		case 3:
			f.nested(func(in *fields) { r.Progress = readProgress(in) })
		}
	}
	return r
}

// appendProgress also encodes state.proto's ReprocessProgress, the last one.
func appendProgress(b []byte, p *statemachine.ReprocessProgress) []byte {
	b = putUint(b, 1, p.Rules)
	b = putString(b, 2, string(p.After))
	b = putBool(b, 3, p.Rows)
	b = putString(b, 4, string(p.Before))
	return putBool(b, 5, p.Finished)
}

func readProgress(f *fields) (p statemachine.ReprocessProgress) {
	for f.next() {
		switch f.num {
		case 1:
			p.Rules = f.u
		case 2:
			p.After = statemachine.InboxKey(f.str())
		case 3:
			p.Rows = f.bool()
		case 4:
			p.Before = statemachine.ID(f.str())
		case 5:
			p.Finished = f.bool()
		}
	}
	return p
}
