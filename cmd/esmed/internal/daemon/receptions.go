package daemon

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

// Words of statemachine.SessionEvent.Event.
const (
	sessionBound   = "bound"
	sessionRefused = "refused"
	sessionClosed  = "closed" // a session has ended, or never was bound
	sessionOutbind = "outbind"
	sessionAlert   = "alert_notification"
	sessionStray   = "stray_response"

	// Of an SMSC rather than of one of its sessions:
	sessionStopped   = "stopped"   // by somebody, until …
	sessionStarted   = "started"   // … it is
	sessionRestarted = "restarted" // by somebody
)

// receptions stores what a session brings before it is answered, and what becomes of the session. It is
// the smpp.Handler of one session, so that its methods are called one at a time.
type receptions struct {
	cfg     *config.SMSC
	store   *store.Store
	answers *answers
	late    *lateAnswers
	metrics *metrics
	room    *diskRoom
	log     *zap.Logger

	binds       bindLog
	credentials atomic.Uint32 // the smpp.Status with which the last bind was refused for who we say we are; 0: it was not

	mu       sync.Mutex // guards strays, which run looks at too
	strays   strays
	counting chan struct{} // has a token while strays may have some without a record
}

// Received implements smpp.Handler. It waits only while the store's queue is full, which holds back this
// session's reading and nothing else.
func (h *receptions) Received(r *smpp.Request) {
	if r.Stray() {
		h.stray(r)
		return
	}
	h.keep(r, h.fact(r))
}

// keep makes the record of a PDU durable and then answers it.
func (h *receptions) keep(r *smpp.Request, fact statemachine.Fact) {
	err := h.answers.recordAll()
	if err == nil {
		err = h.store.Post(context.Background(), fact, func(_ statemachine.Record, err error) { h.answer(r, err) })
	}
	if err != nil {
		h.answer(r, err)
	}
}

// answer answers a PDU that is durable now, or could not be stored: then the SMSC is to try again.
func (h *receptions) answer(r *smpp.Request, err error) {
	h.room.wrote(err)
	if err != nil {
		h.log.Error("reception not stored", zap.String("session", r.Session), zap.Stringer("command_id", r.CommandID), zap.Error(err))
		r.Respond(smpp.StatusXTAppn)
		return
	}
	r.Respond(smpp.StatusOK)
	if r.CommandID == smpp.CommandDeliverSM || r.CommandID == smpp.CommandDataSM {
		h.metrics.acknowledged(h.cfg.Name, time.Since(r.At))
	}
}

// fact is the record of a PDU: a session's for what says nothing about messages, else a reception.
func (h *receptions) fact(r *smpp.Request) statemachine.Fact {
	event := ""
	switch r.CommandID {
	case smpp.CommandOutbind:
		event = sessionOutbind
	case smpp.CommandAlertNotification:
		event = sessionAlert
	default:
		return &statemachine.Reception{
			SMSC: h.cfg.Name, Account: h.cfg.Account, Session: r.Session, PDU: r.PDU, Length: r.CommandLength,
		}
	}
	fact := &statemachine.SessionEvent{SMSC: h.cfg.Name, Session: r.Session, Event: event, CommandStatus: uint32(r.CommandStatus)}
	if event != sessionOutbind { // which holds a password
		fact.PDU = r.PDU
	}
	return fact
}

// Session implements smpp.Handler.
func (h *receptions) Session(e smpp.Event) {
	h.late.forget(e.Session)
	fact := &statemachine.SessionEvent{SMSC: h.cfg.Name, Session: e.Session, Detail: e.Addr}
	if e.IP != "" {
		fact.Detail += " (" + e.IP + ")"
	}
	switch e.Kind {
	case smpp.EventBound:
		fact.Event = sessionBound
		h.credentials.Store(0)
	case smpp.EventBindRefused:
		fact.Event, fact.CommandStatus = sessionRefused, uint32(e.Status)
		if h.credentials.Store(0); e.Status.Credentials() {
			h.credentials.Store(uint32(e.Status))
		}
	default:
		fact.Event = sessionClosed
	}
	record, besides := h.binds.take(&e)
	if !record {
		return
	}
	if e.Reason != "" && fact.CommandStatus == 0 { // which says all that the reason and the error of a refusal do
		fact.Detail += ": " + e.Reason
	}
	if e.Err != nil && fact.CommandStatus == 0 {
		fact.Detail += ": " + e.Err.Error()
	}
	if besides != "" {
		fact.Detail += "; " + besides
	}
	h.recordStrays() // of the session that ended
	h.record(fact)
}

// record records what became of the session. Nobody waits for it.
func (h *receptions) record(fact *statemachine.SessionEvent) {
	h.recorded(h.store.Post(context.Background(), fact, func(_ statemachine.Record, err error) { h.recorded(err) }))
}

func (h *receptions) recorded(err error) {
	if err != nil && !errors.Is(err, store.ErrClosed) {
		h.log.Error("session event not recorded", zap.Error(err))
	}
}
