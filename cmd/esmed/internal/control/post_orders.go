package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"esmed/statemachine"
)

// deleteMessage cancels a message: its owner's right, or that of who operates.
func (a *API) deleteMessage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	reason := q.Get("reason")
	p := firstProblem(a.ordering(a.cfg.Order != nil), knownQuery(q, "reason"))
	if p == nil && len(reason) > maxReason {
		p = badQuery("reason", fmt.Sprintf("has %d octets at most", maxReason))
	}
	a.late(w, "cancel", p, func() (any, error) {
		id := statemachine.ID(r.PathValue("id"))
		if err := a.mayCancel(r.Context(), id); err != nil {
			return nil, err
		}
		return a.cfg.Order.Cancel(r.Context(), id, callerOf(r.Context()).name(), reason)
	})
}

// mayCancel refuses who may neither operate nor submitted the message.
func (a *API) mayCancel(ctx context.Context, id statemachine.ID) error {
	by := callerOf(ctx)
	if by.Scopes&ScopeOperate != 0 {
		return nil
	}
	m, err := a.cfg.Messages.Message(ctx, id)
	if err == nil && m.Owner != by.Owner {
		return newProblem(http.StatusForbidden, "this message was submitted by another caller", "with the scope operate any message may be cancelled")
	}
	return err
}

// postQuery has the SMSC asked what became of a message.
func (a *API) postQuery(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p := firstProblem(a.ordering(a.cfg.Order != nil), knownQuery(q, "part"))
	part := 0
	if given := q.Get("part"); p == nil && given != "" {
		n, err := strconv.ParseUint(given, 10, 8)
		if part = int(n); err != nil || part == 0 {
			p = badQuery("part", "want the number of a part, from 1")
		}
	}
	a.late(w, "query", p, func() (any, error) {
		answer, err := a.cfg.Order.Query(r.Context(), statemachine.ID(r.PathValue("id")), part)
		if errors.Is(err, ErrNoPart) {
			return nil, badQuery("part", "the message has no such part")
		}
		return answer, err
	})
}

// ordering is nil while there is somebody to give orders to, and the daemon is not stopping.
func (a *API) ordering(taken bool) *Problem {
	if !taken {
		return newProblem(http.StatusServiceUnavailable, "the store is open for reading only",
			"start the daemon: esmed run --config FILE")
	}
	return a.stopping()
}

// late answers with what do gives, or with the problem p that there is already. What is done waits for SMSCs,
// which have limits of their own, so that the connection's do not count.
func (a *API) late(w http.ResponseWriter, operation string, p *Problem, do func() (any, error)) {
	if p != nil {
		writeProblem(w, p)
		return
	}
	control := http.NewResponseController(w)
	if err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})); err != nil {
		return
	}
	v, err := do()
	_ = control.SetWriteDeadline(time.Now().Add(streamStall)) // who is gone gets no answer
	if err != nil {
		writeProblem(w, a.problemOf(operation, err))
		return
	}
	writeJSON(w, http.StatusOK, jsonType, v)
}

// postHold holds a queue, postRelease ends that.
func (a *API) postHold(w http.ResponseWriter, r *http.Request) { a.turnQueue(w, r, true) }

func (a *API) postRelease(w http.ResponseWriter, r *http.Request) { a.turnQueue(w, r, false) }

func (a *API) turnQueue(w http.ResponseWriter, r *http.Request, hold bool) {
	order, p := readOrder(w, r)
	a.late(w, "queue", firstProblem(a.ordering(a.cfg.Queue != nil), p), func() (any, error) {
		done, err := a.cfg.Queue.HoldQueue(r.Context(), r.PathValue("smsc"), hold, callerOf(r.Context()).name(), order.Reason)
		done.Queue.Why = done.Queue.explain()
		return done, queueError(err)
	})
}

// queueError names what a 404 is about.
func queueError(err error) error {
	if errors.Is(err, ErrNotFound) {
		return newProblem(http.StatusNotFound, "no SMSC has this name, and nothing waits for one that had it", "GET /v1/queue lists the queues")
	}
	return err
}

// postDrop empties a queue, page by page. A caller that goes away ends it between two pages.
func (a *API) postDrop(w http.ResponseWriter, r *http.Request) {
	order, p := readOrder(w, r)
	if p = firstProblem(a.ordering(a.cfg.Queue != nil), p); p != nil {
		writeProblem(w, p)
		return
	}
	out, err := newStream(w, ndjsonType)
	if err != nil {
		return
	}
	result, err := a.cfg.Queue.DropQueue(r.Context(), r.PathValue("smsc"), callerOf(r.Context()).name(), order.Reason, func(d QueueDrop) error {
		if p := a.stopping(); p != nil {
			return p
		}
		return errors.Join(out.send(QueueDropLine{Progress: &d}), out.flush())
	})
	last := QueueDropLine{Result: &result}
	if err != nil {
		last = QueueDropLine{Error: a.problemOf("drop", queueError(err))}
	}
	_ = out.send(last)
}

// maxOrder is more than a reason takes.
const maxOrder = 16 << 10

// readOrder reads an order, which may have no body.
func readOrder(w http.ResponseWriter, r *http.Request) (o Order, p *Problem) {
	if p := knownQuery(r.URL.Query()); p != nil {
		return o, p
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(&o); {
	case errors.Is(err, io.EOF):
		return o, nil
	case err != nil:
		return o, newProblem(http.StatusBadRequest, "the body is not an order: "+err.Error(), `{"reason": "..."}, or nothing`)
	}
	if p := checkMedia(r.Header, messageTypes); p != nil {
		return o, p
	}
	if len(o.Reason) > maxReason {
		p := newProblem(http.StatusUnprocessableEntity, "the order is not valid", "")
		p.Errors = []FieldProblem{{Path: "reason", Message: fmt.Sprintf("has %d octets at most", maxReason)}}
		return o, p
	}
	return o, nil
}

func (a *API) describeCancel(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodDelete, Path: "/v1/messages/{id}", OperationID: "cancel", Summary: "Cancel a message",
		Description: "What still waits here is cancelled. For what was submitted the SMSC is asked (cancel_sm); its answer is noted, and the " +
			"state waits for evidence. With the scope send only a caller's own messages.",
		Parameters: []*huma.Param{
			pathParam("id"), {Name: "reason", In: "query", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: ptr(maxReason)}},
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "What became of each part", Content: content(jsonType, schemaOf[Cancellation](api))},
		},
	}
}

func (a *API) describeQuery(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/messages/{id}/query", OperationID: "query", Summary: "Ask the SMSC what became of a message",
		Description: "query_sm for each attempt that has an id. The answers are evidence. A message that is closed may be asked about too; " +
			"final states stay as they are.",
		Parameters: []*huma.Param{
			pathParam("id"), {Name: "part", In: "query", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: ptr(1.0), Maximum: ptr(255.0)}},
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "What it answered", Content: content(jsonType, schemaOf[Inquiry](api))},
		},
	}
}

func (a *API) describeHold(api huma.API) huma.Operation {
	op := describeQueueOrder(api, "hold", "Send nothing of a queue until it is released",
		map[string]*huma.Response{"200": {Description: "The queue", Content: content(jsonType, schemaOf[QueueOrder](api))}})
	op.Description = "It stays held over restarts. What waits goes on to expire."
	return op
}

func (a *API) describeRelease(api huma.API) huma.Operation {
	return describeQueueOrder(api, "release", "Send a queue that was held",
		map[string]*huma.Response{"200": {Description: "The queue", Content: content(jsonType, schemaOf[QueueOrder](api))}})
}

func (a *API) describeDrop(api huma.API) huma.Operation {
	op := describeQueueOrder(api, "drop", "Drop all that waits for an SMSC",
		map[string]*huma.Response{"200": {Description: "Progress, then the result", Content: content(ndjsonType, schemaOf[QueueDropLine](api))}})
	op.Description = "Its messages fail, by the operator's decision. What is accepted meanwhile is not dropped."
	return op
}

func describeQueueOrder(api huma.API, action, summary string, responses map[string]*huma.Response) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/queue/{smsc}/" + action, OperationID: action + "Queue", Summary: summary,
		Parameters:  []*huma.Param{pathParam("smsc")},
		RequestBody: &huma.RequestBody{Content: content(jsonType, schemaOf[Order](api))},
		Responses:   responses,
	}
}

func pathParam(name string) *huma.Param {
	return &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
}
