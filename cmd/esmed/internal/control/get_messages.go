package control

import (
	"context"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"esmed/statemachine"
)

func (a *API) routeMessages(api huma.API) {
	register(a, api, get("/v1/messages", "messages", "List messages, newest first"), a.listMessages)
	register(a, api, get("/v1/messages/{id}", "message", "One message, now or when it is final"), a.getMessage)
	register(a, api, get("/v1/messages/{id}/events", "message_events", "The whole history of a message"), a.getHistory)
}

// listMessagesIn are the filters of a list. ref and message_id find one thing each.
type listMessagesIn struct {
	State     []string `query:"state,explode" doc:"Any of these states, in any case"`
	SMSC      string   `query:"smsc"`
	To        string   `query:"to" doc:"Destination, as given or in international form"`
	Since     string   `query:"since" doc:"RFC 3339; accepted then or later"`
	Until     string   `query:"until" doc:"RFC 3339; accepted before"`
	Ref       string   `query:"ref" doc:"Yours; with no other filter"`
	MessageID string   `query:"message_id" doc:"The SMSC's, as received or in canonical form; with no other filter but smsc"`
	Limit     int      `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor    string   `query:"cursor"`
}

func (a *API) listMessages(ctx context.Context, in *listMessagesIn) (List[Message], error) {
	if in.Ref != "" || in.MessageID != "" {
		return a.findMessages(ctx, in)
	}
	f := MessageFilter{SMSC: in.SMSC, To: in.To, Limit: in.Limit}
	var err error
	if f.After, err = parseMessageCursor(in.Cursor); err != nil {
		return List[Message]{}, err
	}
	if f.Since, err = timeQuery("since", in.Since); err != nil {
		return List[Message]{}, err
	}
	if f.Until, err = timeQuery("until", in.Until); err != nil {
		return List[Message]{}, err
	}
	for _, name := range in.State {
		s, err := statemachine.ParseState(strings.ToUpper(name))
		if err != nil || s == statemachine.NoState {
			return List[Message]{}, badQuery("state", "is no state; there are "+stateNames())
		}
		f.States = append(f.States, s)
	}
	page, next, err := a.cfg.Messages.Messages(ctx, f)
	if err != nil {
		return List[Message]{}, err
	}
	return newList(page, string(next), a.render.message), nil
}

// stateNames lists all states.
func stateNames() string { return strings.Join(StateNames(), ", ") }

// StateNames are the states of messages as the API writes them.
func StateNames() []string {
	states := statemachine.States()
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.String()
	}
	return names
}

// findMessages looks messages up by a ref or an SMSC's id.
func (a *API) findMessages(ctx context.Context, in *listMessagesIn) (List[Message], error) {
	if len(in.State) > 0 || in.To != "" || in.Since != "" || in.Until != "" || in.Cursor != "" || (in.Ref != "" && in.MessageID != "") {
		return List[Message]{}, badQuery("ref", "ref and message_id go with no other filter")
	}
	var found []*statemachine.Message
	var err error
	if in.Ref != "" {
		found, err = a.cfg.Messages.MessagesByRef(ctx, in.Ref)
	} else {
		found, err = a.cfg.Messages.MessagesByMessageID(ctx, in.SMSC, in.MessageID)
	}
	if err != nil {
		return List[Message]{}, err
	}
	return newList(found, "", a.render.message), nil
}

type getMessageIn struct {
	ID      string `path:"id"`
	Wait    string `query:"wait" enum:"final" doc:"Answer when it is final, or when the timeout is over"`
	Timeout string `query:"timeout" doc:"A duration, 30s at most, which is the default"`
}

// maxWait is the longest wait for a final state.
const maxWait = 30 * time.Second

func (a *API) getMessage(ctx context.Context, in *getMessageIn) (Message, error) {
	timeout, err := durationQuery("timeout", in.Timeout, maxWait)
	if err != nil {
		return Message{}, err
	}
	if in.Wait == "" {
		timeout = 0
	}
	m, err := a.waitFinal(ctx, statemachine.ID(in.ID), min(timeout, maxWait))
	if err != nil {
		return Message{}, err
	}
	return a.render.message(m), nil
}

// waitFinal returns a message when it is final, or otherwise closed so that waiting is of no use; or as
// it is after the timeout, or when the API stops.
func (a *API) waitFinal(ctx context.Context, id statemachine.ID, timeout time.Duration) (*statemachine.Message, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		changed := a.cfg.Log.Changed()
		m, err := a.cfg.Messages.Message(ctx, id)
		if err != nil || timeout == 0 || m.Closed() {
			return m, err
		}
		select {
		case <-changed:
		case <-timer.C:
			return m, nil
		case <-a.ended:
			return m, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type getHistoryIn struct {
	ID string `path:"id"`
}

func (a *API) getHistory(ctx context.Context, in *getHistoryIn) (List[Event], error) {
	entries, err := a.cfg.Log.History(ctx, statemachine.ID(in.ID))
	if err != nil {
		return List[Event]{}, err
	}
	return newList(entries, "", a.render.event), nil
}
