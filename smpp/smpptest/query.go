package smpptest

import (
	"time"

	"esmed/smpp"
)

// Query is a query_sm as it came (SMPP v3.4 §4.8.1).
type Query struct {
	N              uint64 // 1 for the first query_sm that this server saw
	Conn           int    // number of the connection, from 1
	SequenceNumber uint32
	MessageID      string
	Source         Address
}

// Reply is what is done about one query_sm. The zero Reply is an answer ESME_ROK with message_state 0, as
// some SMSCs give it for ids they never saw.
type Reply struct {
	Never     bool        // no answer
	Nack      bool        // a generic_nack in place of query_sm_resp
	Status    smpp.Status // anything but ESME_ROK: an answer without a body
	FinalDate string      // SMPP time; "" while there is none, which some SMSCs never give
	State     byte        // message_state (SMPP v3.4 §5.2.28)
	ErrorCode byte
}

// query takes a query_sm. It is refused where the Config says nothing about it.
func (s *Server) query(c *conn, h header, octets []byte, now time.Time) {
	b := body{rest: octets}
	s.stats.queries++
	q := Query{N: s.stats.queries, Conn: c.number, SequenceNumber: h.seq, MessageID: b.cstring(), Source: b.address()}
	r := Reply{Status: smpp.StatusQueryFail}
	switch {
	case b.bad:
		r.Status = smpp.StatusInvCmdLen
	case !c.sends:
		r.Status = smpp.StatusInvBndSts
	case s.cfg.OnQuery != nil:
		r = s.cfg.OnQuery(q)
	}
	line := Line{Type: LineQuery, At: now, N: q.N, Conn: q.Conn, Seq: q.SequenceNumber, Source: q.Source.Addr, MessageID: q.MessageID}
	if !r.Never {
		line.Status = r.Status.String()
		c.out = r.append(c.out, &q)
	}
	s.truth.add(line)
}

// append writes the answer (SMPP v3.4 §4.8.2).
func (r *Reply) append(b []byte, q *Query) []byte {
	command := smpp.CommandQuerySMResp
	if r.Nack {
		command = smpp.CommandGenericNack
	}
	start := len(b)
	b = appendHeader(b, command, r.Status, q.SequenceNumber)
	if r.Status == smpp.StatusOK && !r.Nack {
		b = appendCString(appendCString(b, q.MessageID), r.FinalDate)
		b = append(b, r.State, r.ErrorCode)
	}
	return endPDU(b, start)
}
