// Package control is esmed's HTTP API, as wire types, handlers and the one client.
//
// # Serving
//
// An API renders what a Backend says and hands what it was given to it. The caller's duties, in order:
//
//  1. fill a Config: a Backend made of the small interfaces of backend.go, the SMSCs that messages may
//     be submitted to, and what only the caller can know (how a PDU is read, how a status is called);
//  2. make an API with New. It is an http.Handler, safe for concurrent use, that answers only requests
//     whose caller is known: those that come through a Server, or through a client of NewInProcess;
//  3. Listen on the Unix socket, and on a TCP address if tokens are configured, then Run the Server;
//  4. to stop: RefuseSubmits, drain what is outstanding, then end Run's context. Reads are answered
//     until then; streams that follow the log end with it.
//
// A Backend without a Submitter is read-only: submits are answered 503 with a hint. Where it has no room for a message
// (ErrNoRoom) a batch waits, and a single submission does for three seconds, then it is answered 429.
//
// # Calling
//
//	c := control.Dial("/run/esmed/esmed.sock")
//	defer c.Close()
//	m, _, err := c.Submit(ctx, control.Submission{To: "+393331234567", Text: "Your code is 4711"}, "")
//	switch {
//	case errors.Is(err, control.ErrNoDaemon): // nobody listens there
//	case errors.As(err, &problem):            // *control.ProblemError: refused, with title, detail and hint
//	}
//
// # What is fixed
//
// JSON names are other people's: they do not change. Our times are RFC 3339 in UTC; times that an SMSC
// reported carry a zone only where its zone is configured. A value that does not exist is null, a text
// that was not there is "", a list is never null. Message texts appear in events' PDUs and receipts
// only; errors never quote a text or a whole number.
package control
