package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

var bindActions = []string{string(StopBinds), string(StartBinds), string(RestartBinds)}

func (a *API) listBinds(ctx context.Context, _ *struct{}) (List[Bind], error) {
	l := List[Bind]{Items: []Bind{}}
	if a.cfg.Binds != nil {
		l.Items = append(l.Items, a.cfg.Binds.Binds(ctx)...)
	}
	return l, nil
}

// postBind stops, starts or restarts the sessions with an SMSC.
func (a *API) postBind(w http.ResponseWriter, r *http.Request) {
	reason, p := readBindReason(w, r)
	if p = firstProblem(knownQuery(r.URL.Query()), p); p != nil {
		writeProblem(w, p)
		return
	}
	ordered, err := a.orderBind(r.Context(), BindOrder{
		SMSC: r.PathValue("smsc"), Action: BindAction(r.PathValue("action")), By: callerOf(r.Context()).name(), Reason: reason.Reason,
	})
	if err != nil {
		writeProblem(w, a.problemOf("orderBind", err))
		return
	}
	writeJSON(w, http.StatusOK, jsonType, ordered)
}

func (a *API) orderBind(ctx context.Context, o BindOrder) (*BindOrdered, error) {
	if !slices.Contains(bindActions, string(o.Action)) {
		return nil, newProblem(http.StatusNotFound, fmt.Sprintf("there is no action %q", o.Action), "an action is "+strings.Join(bindActions, ", "))
	}
	if a.cfg.Binds == nil {
		return nil, newProblem(http.StatusServiceUnavailable, "the store is open for reading only", "start the daemon: esmed run --config FILE")
	}
	done, err := a.cfg.Binds.OrderBind(ctx, o)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	binds := a.cfg.Binds.Binds(ctx)
	if err != nil {
		return nil, newProblem(http.StatusNotFound, fmt.Sprintf("no SMSC is named %q", o.SMSC), "there are: "+strings.Join(configured(binds), ", "))
	}
	return &BindOrdered{
		SMSC: o.SMSC, Action: o.Action, Done: done,
		Sessions: slices.DeleteFunc(binds, func(b Bind) bool { return b.SMSC != o.SMSC }),
	}, nil
}

// configured are the names of the SMSCs that have sessions, in order.
func configured(binds []Bind) []string {
	var names []string
	for i := range binds {
		if binds[i].Configured {
			names = append(names, binds[i].SMSC)
		}
	}
	return slices.Compact(names)
}

// maxBindBody is more than any reason takes.
const maxBindBody = 16 << 10

// readBindReason reads the body; one that is empty gives no reason.
func readBindReason(w http.ResponseWriter, r *http.Request) (reason BindReason, p *Problem) {
	if p := checkMedia(r.Header, messageTypes); p != nil {
		return reason, p
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBindBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&reason); err != nil && !errors.Is(err, io.EOF) {
		return reason, newProblem(http.StatusBadRequest, "the body is not a reason: "+err.Error(), `{"reason": "maintenance at alpha"}, or nothing`)
	}
	if len(reason.Reason) > maxReason {
		p := newProblem(http.StatusUnprocessableEntity, "the reason is not valid", "")
		p.Errors = []FieldProblem{{Path: "reason", Message: fmt.Sprintf("has %d octets at most", maxReason)}}
		return reason, p
	}
	return reason, nil
}

func (a *API) describeBind(api huma.API) huma.Operation {
	path := func(name string, enum ...any) *huma.Param {
		return &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString, Enum: enum}}
	}
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/binds/{smsc}/{action}", OperationID: "orderBind",
		Summary: "Stop, start or restart the sessions with an SMSC",
		Description: "Recorded with who ordered it. A stop drains what is outstanding within shutdown_timeout, unbinds, and keeps " +
			"the queue; it holds until a start, over a reload of the configuration, but not over a restart of the daemon.",
		Parameters:  []*huma.Param{path("smsc"), path("action", string(StopBinds), string(StartBinds), string(RestartBinds))},
		RequestBody: &huma.RequestBody{Content: content(jsonType, schemaOf[BindReason](api))},
		Responses: map[string]*huma.Response{
			"200": {Description: "What came of it", Content: content(jsonType, schemaOf[BindOrdered](api))},
		},
	}
}
