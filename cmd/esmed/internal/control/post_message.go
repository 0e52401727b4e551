package control

import (
	"net/http"

	"esmed/statemachine"
)

// maxSubmission is the longest body of a submission and line of a batch, in octets. The longest that is
// likely to be right is a full message_payload: 32,767 characters of UCS-2, each escaped in JSON as six
// octets.
const maxSubmission = 256 << 10

// jsonHeader is the Content-Type of an answer. Nobody changes it.
var jsonHeader = []string{jsonType}

// postMessage takes one message. It is durable when 202 is answered; 200 answers a repeat.
func (a *API) postMessage(w http.ResponseWriter, r *http.Request) {
	room := a.rooms.get()
	defer a.rooms.put(room)
	m, p := a.readPost(w, r, room)
	if p != nil {
		writeProblem(w, p)
		return
	}
	accepted, err := a.pressure.accept(r.Context(), a.cfg.Submit, m)
	if err != nil {
		writeProblem(w, a.problemOf("submit", err))
		return
	}
	w.Header()["Location"] = []string{"/v1/messages/" + string(accepted.Message)}
	if accepted.Existing {
		a.answerExisting(w, r, accepted)
		return
	}
	room.out = appendAccepted(room.out[:0], m, accepted)
	w.Header()["Content-Type"] = jsonHeader
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write(room.out) // a client that is gone is no error of ours
}

// answerExisting answers a repeat with the first message as it is now.
func (a *API) answerExisting(w http.ResponseWriter, r *http.Request, first Accepted) {
	message, err := a.cfg.Messages.Message(r.Context(), first.Message)
	if err != nil {
		w.Header().Del("Location")
		writeProblem(w, a.problemOf("submit", err))
		return
	}
	writeJSON(w, http.StatusOK, jsonType, a.render.message(message))
}

// readPost reads the submission of a request.
func (a *API) readPost(w http.ResponseWriter, r *http.Request, room *postRoom) (*statemachine.MessageAccepted, *Problem) {
	if p := a.taking(); p != nil {
		return nil, p
	}
	if r.URL.RawQuery != "" {
		if p := knownQuery(r.URL.Query()); p != nil {
			return nil, p
		}
	}
	if p := checkMedia(r.Header, messageTypes); p != nil {
		return nil, p
	}
	key := r.Header.Get("Idempotency-Key")
	if p := badKey(key); p != nil {
		return nil, p
	}
	body, p := room.readSubmission(w, r)
	if p != nil {
		return nil, p
	}
	return a.submit.Load().read(body, callerOf(r.Context()), key)
}
