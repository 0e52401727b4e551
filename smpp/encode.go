package smpp

import "encoding/binary"

// Append appends p, encoded, to dst. It sets CommandLength in what it writes and takes the rest of the
// header from p; structs that stand for one command need no CommandID. TLVs are written in the order of
// their tags. Errors are *BodyError: a field that is longer than the specification allows (a
// short_message over 254 octets), or a NUL inside a string. dst is then returned as it was.
//
// What a link carries most of is appended without an allocation when dst has room and the TLVs are in order:
// submit_sm and deliver_sm, their responses, and PDUs without a body.
func Append(dst []byte, p PDU) ([]byte, error) {
	switch p := p.(type) {
	case *SubmitSM:
		return (*SM[string])(p).append(dst, CommandSubmitSM)
	case *DeliverSM:
		return (*SM[string])(p).append(dst, CommandDeliverSM)
	case *SubmitSMResp:
		return (*SMResp[string])(p).append(dst, CommandSubmitSMResp)
	case *DeliverSMResp:
		return (*SMResp[string])(p).append(dst, CommandDeliverSMResp)
	case *Empty:
		return p.append(dst)
	}
	c := new(codec) // which a call through an interface takes to the heap
	c.beginEncoding(dst, *p.header(), commandOf(p))
	p.fields(c)
	return c.finish(dst)
}

// AppendSubmitSM is Append for a submit_sm, which then need not be on the heap. It is not inlined for the reason
// that SubmitSMView.Decode is not.
//
//go:noinline
func AppendSubmitSM(dst []byte, p *SubmitSM) ([]byte, error) {
	return (*SM[string])(p).append(dst, CommandSubmitSM)
}

func (p *SM[T]) append(dst []byte, id CommandID) ([]byte, error) {
	var c codec
	c.beginEncoding(dst, p.Header, id)
	p.fields(&c)
	return c.finish(dst)
}

func (p *SMResp[T]) append(dst []byte, id CommandID) ([]byte, error) {
	var c codec
	c.beginEncoding(dst, p.Header, id)
	p.fields(&c)
	return c.finish(dst)
}

func (p *Empty) append(dst []byte) ([]byte, error) {
	var c codec
	c.beginEncoding(dst, p.Header, p.CommandID)
	p.fields(&c)
	return c.finish(dst)
}

// AppendResponse appends the answer to a request of the kind id: deliver_sm_resp and data_sm_resp with
// an empty message_id (SMPP v3.4 §4.6.2), the others without a body. To a command that has no answer of
// its own it is a generic_nack.
func AppendResponse(dst []byte, id CommandID, status Status, sequenceNumber uint32) []byte {
	h := Header{CommandLength: HeaderLen, CommandID: id.Response(), CommandStatus: status, SequenceNumber: sequenceNumber}
	if id == CommandDeliverSM || id == CommandDataSM {
		h.CommandLength++
		return append(AppendHeader(dst, h), 0)
	}
	return AppendHeader(dst, h)
}

func (c *codec) beginEncoding(dst []byte, h Header, id CommandID) {
	h.CommandID = id
	c.encoding, c.start, c.head = true, len(dst), h
	c.buf = AppendHeader(dst, h)
}

func (c *codec) finish(dst []byte) ([]byte, error) {
	if c.err != nil {
		return dst, c.err
	}
	binary.BigEndian.PutUint32(c.buf[c.start:], uint32(len(c.buf)-c.start))
	return c.buf, nil
}

// commandOf is the command that p stands for, or, where it may stand for several, that of its header.
func commandOf(p PDU) CommandID {
	switch p.(type) {
	case *Outbind:
		return CommandOutbind
	case *SubmitSM:
		return CommandSubmitSM
	case *SubmitSMResp:
		return CommandSubmitSMResp
	case *DeliverSM:
		return CommandDeliverSM
	case *DeliverSMResp:
		return CommandDeliverSMResp
	case *DataSM:
		return CommandDataSM
	case *DataSMResp:
		return CommandDataSMResp
	case *SubmitMulti:
		return CommandSubmitMulti
	case *SubmitMultiResp:
		return CommandSubmitMultiResp
	case *BroadcastSM:
		return CommandBroadcastSM
	case *BroadcastSMResp:
		return CommandBroadcastSMResp
	case *QueryBroadcastSM:
		return CommandQueryBroadcastSM
	case *QueryBroadcastSMResp:
		return CommandQueryBroadcastSMResp
	case *CancelBroadcastSM:
		return CommandCancelBroadcastSM
	case *QuerySM:
		return CommandQuerySM
	case *QuerySMResp:
		return CommandQuerySMResp
	case *CancelSM:
		return CommandCancelSM
	case *ReplaceSM:
		return CommandReplaceSM
	case *AlertNotification:
		return CommandAlertNotification
	}
	return p.header().CommandID
}
