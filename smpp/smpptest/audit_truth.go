package smpptest

import "esmed/smpp"

// truthIndex is the truth by what the audit asks for. Positions are those of lines in the truth.
type truthIndex struct {
	submits    map[uint64]*truthSubmit
	byID       map[string][]*truthSubmit // by message_id
	byDest     map[string][]*truthSubmit // by destination_addr
	deliveries map[uint64]*truthDelivery
	order      []*truthDelivery
	written    map[string]*truthOctets // by sum
	oversize   map[string]*truthOctets // by header, since only the front of those need be stored
}

type truthSubmit struct {
	Line
	answered   bool // its response was written
	deliveries []*truthDelivery
}

// accepted says whether the SMSC took the submit on.
func (s *truthSubmit) accepted() bool { return !s.Ignored && s.Status == smpp.StatusOK.String() }

// truthDelivery is a request of the SMSC with all its sendings.
type truthDelivery struct {
	Line     // of the first sending
	sendings []truthSending
}

type truthSending struct {
	conn, at int
	seq      uint32
	octets   *truthOctets
	ackedAt  int // -1: not acknowledged
}

// truthOctets is what was written under one sum: how often, and how often it was acknowledged.
type truthOctets struct {
	of          *truthDelivery
	sent, acked int
	stored      int // by the ESME
}

func indexTruth(lines []Line) *truthIndex {
	t := &truthIndex{map[uint64]*truthSubmit{}, map[string][]*truthSubmit{}, map[string][]*truthSubmit{}, map[uint64]*truthDelivery{},
		nil, map[string]*truthOctets{}, map[string]*truthOctets{}}
	for at, l := range lines {
		switch l.Type {
		case LineSubmit:
			t.submit(l)
		case LineResponse:
			if s := t.submits[l.N]; s != nil {
				s.answered = true
			}
		case LineDelivery:
			t.delivery(l, at)
		case LineAck:
			t.ack(l, at)
		}
	}
	return t
}

func (t *truthIndex) submit(l Line) {
	s := &truthSubmit{Line: l}
	t.submits[l.N] = s
	t.byDest[l.Dest] = append(t.byDest[l.Dest], s)
	if l.MessageID != "" {
		t.byID[l.MessageID] = append(t.byID[l.MessageID], s)
	}
}

func (t *truthIndex) delivery(l Line, at int) {
	d := t.deliveries[l.D]
	if d == nil {
		d = &truthDelivery{Line: l}
		if l.D > 0 { // octets of WriteRaw have no number
			t.deliveries[l.D] = d
		}
		t.order = append(t.order, d)
		if s := t.submits[l.N]; s != nil {
			s.deliveries = append(s.deliveries, d)
		}
	}
	index, key := t.written, l.Sum
	if l.Kind == Oversize {
		index, key = t.oversize, l.header()
	}
	o := index[key]
	if o == nil {
		o = &truthOctets{of: d}
		index[key] = o
	}
	o.sent++
	d.sendings = append(d.sendings, truthSending{l.Conn, at, l.Seq, o, -1})
}

// ack finds the sending that is acknowledged: the last of this delivery on the connection.
func (t *truthIndex) ack(l Line, at int) {
	d := t.deliveries[l.D]
	if d == nil || l.Status != smpp.StatusOK.String() && d.Kind != UnknownCommand {
		return
	}
	for i := len(d.sendings) - 1; i >= 0; i-- {
		if s := &d.sendings[i]; s.conn == l.Conn && s.seq == l.Seq && s.ackedAt < 0 {
			s.ackedAt = at
			s.octets.acked++
			return
		}
	}
}

// header is the first 16 octets of a request.
func (l *Line) header() string {
	b := appendHeader(nil, l.Command, smpp.StatusOK, l.Seq)
	b[0], b[1], b[2], b[3] = byte(l.Length>>24), byte(l.Length>>16), byte(l.Length>>8), byte(l.Length)
	return string(b)
}

func (d *truthDelivery) acked() bool {
	for _, s := range d.sendings {
		if s.ackedAt >= 0 {
			return true
		}
	}
	return false
}

// final says whether the delivery reports a final state, as SMPP means it.
func (d *truthDelivery) final() bool {
	switch d.Kind {
	case Final, Duplicate, Contradiction:
		return finalState(d.State)
	}
	return false
}

func finalState(state string) bool {
	switch state {
	case "DELIVERED", "EXPIRED", "DELETED", "UNDELIVERABLE", "REJECTED", "SKIPPED":
		return true
	}
	return false
}

// correlatable says whether an ESME must be able to tell whose receipt this is, and what it reports.
func (t *truthIndex) correlatable(d *truthDelivery, s *truthSubmit, rulesFit bool) bool {
	_, known := messageStates[d.Word]
	if !known && d.MessageState == nil || d.Source != s.Dest && d.Line.Dest != s.Dest || len(t.byID[s.MessageID]) != 1 {
		return false
	}
	if rulesFit {
		return d.TLVID != "" || d.TextID != ""
	}
	fits := false
	for _, id := range [...]string{d.TLVID, d.TextID} {
		switch {
		case id == "":
		case id == s.MessageID:
			fits = true
		case len(t.byID[id]) > 0:
			return false
		}
	}
	return fits
}

// storedBefore says whether d was certainly stored before anything of e was: acknowledged before e was
// first written, or written before it on the same connection.
func (d *truthDelivery) storedBefore(e *truthDelivery) bool {
	for _, mine := range d.sendings {
		if mine.ackedAt < 0 {
			continue
		}
		before := true
		for _, other := range e.sendings {
			before = before && (mine.ackedAt < other.at || mine.conn == other.conn && mine.at < other.at)
		}
		if before {
			return true
		}
	}
	return false
}

func (t *truthIndex) count(r *AuditReport) {
	r.Submits, r.Deliveries = len(t.submits), len(t.order)
	for _, s := range t.submits {
		switch {
		case s.Ignored:
			r.Ignored++
		case s.accepted():
			r.Accepted++
		default:
			r.Refused++
		}
	}
	for _, d := range t.order {
		r.Sent += len(d.sendings)
		for _, s := range d.sendings {
			if s.ackedAt >= 0 {
				r.Acknowledged++
			}
		}
		if !d.acked() {
			r.Pending++
		} else if d.final() {
			r.AcknowledgedFinals++
		}
	}
}
