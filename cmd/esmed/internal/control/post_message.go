package control

import (
	"errors"
	"io"
	"net/http"

	"esmed/statemachine"
)

// maxSubmission is the longest body of a submission and line of a batch, in octets. The longest that is
// likely to be right is a full message_payload: 32,767 characters of UCS-2, each escaped in JSON as six
// octets.
const maxSubmission = 256 << 10

// postMessage takes one message. It is durable when 202 is answered; 200 answers a repeat.
func (a *API) postMessage(w http.ResponseWriter, r *http.Request) {
	m, p := a.readPost(w, r)
	if p != nil {
		writeProblem(w, p)
		return
	}
	accepted, err := a.pressure.accept(r.Context(), a.cfg.Submit, m)
	if err != nil {
		writeProblem(w, a.problemOf("submit", err))
		return
	}
	status, message := http.StatusAccepted, acceptedMessage(m, accepted)
	if accepted.Existing {
		status = http.StatusOK
		if message, err = a.cfg.Messages.Message(r.Context(), accepted.Message); err != nil {
			writeProblem(w, a.problemOf("submit", err))
			return
		}
	}
	w.Header().Set("Location", "/v1/messages/"+string(message.ID))
	writeJSON(w, status, jsonType, a.render.message(message))
}

// readPost reads the submission of a request.
func (a *API) readPost(w http.ResponseWriter, r *http.Request) (*statemachine.MessageAccepted, *Problem) {
	if p := a.taking(); p != nil {
		return nil, p
	}
	if p := knownQuery(r.URL.Query()); p != nil {
		return nil, p
	}
	if p := checkMedia(r.Header, messageTypes); p != nil {
		return nil, p
	}
	key := r.Header.Get("Idempotency-Key")
	if p := badKey(key); p != nil {
		return nil, p
	}
	body, p := readSubmission(w, r)
	if p != nil {
		return nil, p
	}
	return a.submit.Load().read(body, callerOf(r.Context()), key)
}

// maxUnread is how much of a body that is too long is read all the same: a client that still writes when the
// connection closes never reads why.
const maxUnread = 16 << 20

func readSubmission(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSubmission)) // it also closes the connection afterwards
	if err == nil {
		return body, nil
	}
	var long *http.MaxBytesError
	if !errors.As(err, &long) {
		return nil, newProblem(http.StatusBadRequest, "the body cannot be read", "")
	}
	_, _ = io.CopyN(io.Discard, r.Body, maxUnread) // what comes of it changes nothing
	return nil, tooLong()
}

func tooLong() *Problem {
	return newProblem(http.StatusRequestEntityTooLarge, "a submission has at most 256 KiB", "")
}

// acceptedMessage is a message as it stands with nothing but its accepted record.
func acceptedMessage(m *statemachine.MessageAccepted, at Accepted) *statemachine.Message {
	w := &statemachine.Message{
		ID: at.Message, SMSC: m.SMSC, Account: m.Account, Owner: m.Owner, Ref: m.Ref,
		To: m.To, E164: m.E164, Source: m.Source, Dest: m.Dest,
		RegisteredDelivery: m.RegisteredDelivery, AcceptedAt: at.At, UpdatedAt: at.At,
		State: statemachine.Queued, Parts: make([]statemachine.Part, len(m.Parts)),
	}
	for i := range w.Parts {
		w.Parts[i] = statemachine.Part{
			Number: i + 1, State: statemachine.Queued, QueuedSeq: at.Seq,
			Basis: statemachine.BasisNone, BasisSeq: at.Seq,
		}
	}
	return w
}
