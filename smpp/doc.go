// Package smpp speaks SMPP v3.4 (and what v5.0 adds to it) as an ESME: it cuts a stream into PDUs, reads
// whatever an SMSC may send, writes what an ESME sends, and keeps binds up.
//
// # PDUs
//
// Decode takes a PDU apart tolerantly, Append writes one strictly, Fields explains one. There are three
// outcomes of reading, which are never mixed:
//
//	framing broken   an error that wraps ErrFraming: close the link
//	body bad         a *BodyError: keep the PDU raw, the link stays up
//	fine             nil; what had to be tolerated is in the PDU's Notes
//
// Tolerated are: a TLV that claims more octets than are left (dropped); one to three stray octets at the
// end (ignored); the same TLV twice (both kept, Find gives the first); a message_id that ends a response
// without its NUL (the whole rest); a response without its body. A body that ends too soon, an address
// without its NUL and an sm_length beyond the end are bad.
//
// # A client's duties
//
// A Client keeps one session or several to one SMSC. Whoever uses it does, in this order:
//
//  1. New with a Config for each session, whose Handler is set, then Run once, on a goroutine of one's
//     own. Run returns when its context is done and the sessions have been unbound.
//  2. Reserve for each batch of submit_sm. It waits for a free slot of a bound session, spreads what it
//     gives over the sessions by their free slots, and says under which session and sequence number each
//     PDU will leave.
//  3. Write the record that says so, durably.
//  4. Send, with PDUs that bear the slots' numbers; or Release the slots not needed.
//  5. Take each outcome in Submit.Done, which must not block. Every Send ends in exactly one: Answered,
//     TimedOut, Lost or NotWritten. After TimedOut one more may come, Answered and Late: the sequence
//     number stays reserved until the session ends.
//  6. In Handler.Received, store the request, and call Respond once that is durable: from any goroutine,
//     in any order. Until then the SMSC holds the message, and tries again if it never hears.
//  7. Call Rebind, with the answer's session, where an answer's status is AboutSession.
//
// Of one session, everything is told in its order. Across sessions no order is promised, whatever the
// SMSC's was: a receipt that comes over the receiver may be told before the response that comes over the
// transmitter, and sequence numbers are each session's own. A Handler that several sessions share is
// called by each of them, at the same time.
//
// For example:
//
//	c := smpp.New(smpp.Config{Name: "alpha/1", Addrs: []string{"smsc.example.net:2775"},
//		Bind: smpp.BindConfig{SystemID: "esme", Password: secret}, EnquireLink: 30 * time.Second, Handler: h})
//	g.Go(func() error { return c.Run(ctx) })
//
//	slots, err := c.Reserve(ctx, 1)
//	if err != nil {
//		return err
//	}
//	message.SequenceNumber = slots[0].SequenceNumber
//	pdu, err := smpp.AppendSubmitSM(nil, message)
//	if err != nil {
//		c.Release(slots...)
//		return err
//	}
//	if err := record(slots[0], pdu); err != nil {
//		c.Release(slots...)
//		return err
//	}
//	return c.Send([]smpp.Submit{{Slot: slots[0], PDU: pdu, Done: done}})
//
// # States
//
//	state      enters when                        requests of ours       requests of theirs
//	Closed     there is no connection             Reserve waits          -
//	Open       connected, bind sent               Reserve waits          taken
//	BoundTX    bind_transmitter_resp ESME_ROK     sent                   taken
//	BoundRX    bind_receiver_resp ESME_ROK        Reserve waits          taken
//	BoundTRX   bind_transceiver_resp ESME_ROK     sent                   taken
//	Unbinding  unbind was sent or received        NotWritten             taken
//
// A session ends, and is bound again after a pause, when the connection ends, a frame cannot be one
// (generic_nack ESME_RINVCMDLEN is said first), the bind is refused, an enquire_link, the bind or unbind is
// not answered, a window of submit_sm in a row is not answered, the SMSC unbinds, or Rebind, Stop or Run's
// context asks for it. Nothing in a PDU's body ends one. An SMSC that unbinds is answered when the handler
// has answered what came before, and listened to for a while if it still owes answers. The answer to an unbind
// of ours is waited for for 5 seconds at most.
//
// Pauses grow from ReconnectMin to ReconnectMax, jittered, and begin anew after a session that worked;
// refused credentials wait ReconnectMax. Start, also after Stop, ends the pause.
//
// A link that is dead is found within EnquireLink and ResponseTimeout, and one that takes nothing that is
// written within WriteTimeout. With EnquireLink 0 only submit_sm that are not answered find it.
//
// An attempt tries every address of Config.Addrs, and every one behind a name, in turn; the one that was
// bound last comes first, one whose bind did not succeed comes last.
//
// # Goroutines
//
// Each session has a keeper, which dials and binds again and again. A session that has a connection is a
// reader, a writer, a dispatcher that calls the Handler, and a loop. The loop alone owns the link: window,
// timers, state and sequence numbers. The link is a state machine without I/O, so that all it decides can
// be tested without a socket.
//
//	socket ─▶ reader ─batches of frames─▶ loop ─one buffer of many PDUs─▶ writer ─▶ socket
//	                                      │  ▲ ▲
//	                             requests │  │ └── desk ◀─▶ pool ◀─▶ Reserve, Send, Release
//	                                      ▼  │ Respond
//	                                  dispatcher ─▶ Handler
//
// The loops and the callers meet in the client's pool, under its mutex, and never wait for each other:
// each loop puts the slots that are free on offer at its desk, numbers included, and finds there what
// callers left. While octets wait behind a write that the connection does not take, the desk lends
// nothing. So a session that is slow, stuck or ending holds up no caller, and no other session.
//
// A handler that falls behind holds back the reader at a bound of unanswered requests. The session's
// clock stands still meanwhile, since it is not the SMSC that is silent then.
package smpp
