package smpp

import (
	"sync/atomic"
	"time"
)

// Request is a received PDU that carries evidence: a request of the SMSC's, or a stray response. It
// belongs to the handler.
type Request struct {
	Header
	PDU     []byte    // raw; only its beginning when Oversize
	Session string    // Config.Name
	At      time.Time // when it had been read

	answers  chan<- *Request // has room for every request that is unanswered
	answered atomic.Bool
	status   Status
}

// Oversize says whether only the beginning of the PDU was kept, since it is longer than Config.MaxPDU.
// CommandLength is its length on the wire.
func (r *Request) Oversize() bool { return int(r.CommandLength) > len(r.PDU) }

// Stray says whether this is a response that answers nothing outstanding.
func (r *Request) Stray() bool { return r.CommandID.IsResponse() }

// Respond gives the request its answer, which the session then writes: the response of its kind with
// status, and for a command that an ESME does not serve a generic_nack, with ESME_RINVCMDID where status
// is ESME_ROK. For what SMPP does not answer (alert_notification, outbind, a stray response) nothing is
// written, but the call still counts. Safe from any goroutine, in any order; it never blocks. Only the
// first call counts, and none does after the session has ended.
func (r *Request) Respond(status Status) {
	if r.answered.CompareAndSwap(false, true) {
		r.status = status
		r.answers <- r
	}
}

// appendAnswer appends what Respond promised.
func (r *Request) appendAnswer(dst []byte) []byte {
	switch r.CommandID {
	case CommandAlertNotification, CommandOutbind:
		return dst
	case CommandDeliverSM, CommandDataSM:
		return AppendResponse(dst, r.CommandID, r.status, r.SequenceNumber)
	}
	if r.Stray() {
		return dst
	}
	status := r.status
	if status == StatusOK {
		status = StatusInvCmdID
	}
	return AppendResponse(dst, CommandGenericNack, status, r.SequenceNumber)
}
