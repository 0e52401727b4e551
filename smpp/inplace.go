package smpp

// The Decode methods are the function Decode for a PDU that is known to be of their kind. Everything in the
// struct is overwritten; the room of its TLVs is used again, so that reading into the same struct again and
// again allocates strings and Notes only.
//
// The views hold no strings either: what they read stands where it stood, in the PDU. It is good as long as
// nobody writes there. Who keeps a part of it longer copies that.

// SubmitSMView is a submit_sm read in place.
type SubmitSMView SM[[]byte]

// DeliverSMView is a deliver_sm read in place.
type DeliverSMView SM[[]byte]

// SubmitSMRespView is a submit_sm_resp read in place.
type SubmitSMRespView SMResp[[]byte]

// Decode reads a submit_sm.
func (p *SubmitSM) Decode(pdu []byte) error { return (*SM[string])(p).decode(pdu) }

// Decode reads a deliver_sm.
func (p *DeliverSM) Decode(pdu []byte) error { return (*SM[string])(p).decode(pdu) }

// Decode reads a submit_sm_resp.
func (p *SubmitSMResp) Decode(pdu []byte) error { return (*SMResp[string])(p).decode(pdu) }

// Decode reads a deliver_sm_resp.
func (p *DeliverSMResp) Decode(pdu []byte) error { return (*SMResp[string])(p).decode(pdu) }

// Decode reads a submit_sm. (Inlined into another package, whose compiler does not see what it calls, it would
// move p to the heap.)
//
//go:noinline
func (p *SubmitSMView) Decode(pdu []byte) error { return (*SM[[]byte])(p).decode(pdu) }

// Decode reads a deliver_sm. It is not inlined for the reason that SubmitSMView's is not.
//
//go:noinline
func (p *DeliverSMView) Decode(pdu []byte) error { return (*SM[[]byte])(p).decode(pdu) }

// Decode reads a submit_sm_resp.
func (p *SubmitSMRespView) Decode(pdu []byte) error { return (*SMResp[[]byte])(p).decode(pdu) }

// Decode reads a data_sm.
func (p *DataSM) Decode(pdu []byte) error {
	*p = DataSM{TLVs: p.TLVs[:0]}
	var c codec
	if c.begin(pdu, &p.Header) {
		p.fields(&c)
	}
	return c.err
}

// Decode reads a PDU whose body, if any, is TLVs.
func (p *Empty) Decode(pdu []byte) error {
	*p = Empty{TLVs: p.TLVs[:0]}
	var c codec
	if c.begin(pdu, &p.Header) {
		p.fields(&c)
	}
	return c.err
}

func (p *SM[T]) decode(pdu []byte) error {
	*p = SM[T]{TLVs: p.TLVs[:0]}
	var c codec
	if c.begin(pdu, &p.Header) {
		p.fields(&c)
	}
	return c.err
}

func (p *SMResp[T]) decode(pdu []byte) error {
	*p = SMResp[T]{TLVs: p.TLVs[:0]}
	var c codec
	if c.begin(pdu, &p.Header) {
		p.fields(&c)
	}
	return c.err
}
