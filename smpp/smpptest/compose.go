package smpptest

import (
	"encoding/binary"
	"time"

	"esmed/smpp"
)

// Receipt makes a receipt for a submit, in the id and receipt forms of the Config, to be changed and
// handed to Deliver. The word is the text's stat; message_state is sent if it is one of SMPP's.
func (s *Server) Receipt(sub Submit, kind Kind, word string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compose(&sub, &Planned{Kind: kind, Word: word}, time.Now())
}

// compose makes the request that was planned for a submit.
func (s *Server) compose(sub *Submit, p *Planned, now time.Time) Delivery {
	var d Delivery
	switch p.Kind {
	case MO:
		d = message(sub, []byte("Where is my parcel?"))
	case MOLikeReceipt:
		t := s.template(sub, p, now)
		d = message(sub, t.text())
	case Garbage:
		d = s.garbage(sub)
	case UnknownCommand:
		d = Delivery{Command: unknownCommands | smpp.CommandID(sub.N&0xFFFF), Body: []byte{0}, MessageState: -1}
	case Oversize:
		d = Delivery{Body: make([]byte, s.cfg.Traffic.OversizeOctets-headerLen), MessageState: -1}
	default:
		t := s.template(sub, p, now)
		d = t.delivery()
		d.N = sub.N
		if ref, ok := sub.tlv(s.cfg.Receipts.ClientRefTLV); ok && p.Kind != UnknownID {
			d.TLVs = append(d.TLVs, TLV{s.cfg.Receipts.ClientRefTLV, ref})
		}
		if p.BrokenTLVs {
			d.Trailing = brokenTails[sub.N%uint64(len(brokenTails))]
		}
	}
	if p.Kind == UnknownID {
		d.N = 0
	}
	d.Kind = p.Kind
	return d
}

// unknownCommands and the 0xFFFF after it are no command_id of SMPP (reserved, SMPP v3.4 §5.1.2.1).
const unknownCommands smpp.CommandID = 0x00010000

// brokenTails stand after the last TLV: stray octets, or a TLV that claims more than is left.
var brokenTails = [][]byte{{0}, {0, 0, 0}, {0x14, 0x01, 0x00, 0x08, 1, 2}}

func (s *Server) template(sub *Submit, p *Planned, now time.Time) template {
	t := template{form: s.cfg.Receipts.Form, word: p.Word, state: p.State, source: sub.Dest, dest: sub.Source,
		submitted: now, done: now.Add(p.Delay), quote: quotable(sub), class: ClassReceipt, dataSM: p.DataSM, badDates: p.BadDates}
	if p.Kind == Intermediate {
		t.class = ClassIntermediate
	}
	t.tlvID, t.textID = s.receiptIDs(sub)
	if p.Kind == UnknownID {
		t.tlvID, t.textID = s.writeIDs(unknownBase + sub.N)
	}
	return t
}

// receiptIDs are a message's ids as its receipts write them.
func (s *Server) receiptIDs(sub *Submit) (tlv, text string) {
	ids := &s.cfg.IDs
	if sub.MessageID != sub.written || ids.TLV == ids.Response && ids.Text == ids.Response {
		return sub.MessageID, sub.MessageID
	}
	return s.writeIDs(sub.number)
}

func (s *Server) writeIDs(number uint64) (tlv, text string) {
	return s.cfg.IDs.TLV.write(s.cfg.Seed, number), s.cfg.IDs.Text.write(s.cfg.Seed, number)
}

// message is a mobile-originated message from where the submit went to.
func message(sub *Submit, text []byte) Delivery {
	return Delivery{Source: sub.Dest, Dest: sub.Source, ShortMessage: text, MessageState: -1}
}

// garbage is a deliver_sm that nobody can take apart, each of another kind in turn.
func (s *Server) garbage(sub *Submit) Delivery {
	d := Delivery{MessageState: -1, Source: sub.Dest, Dest: sub.Source}
	switch sub.N % 5 {
	case 0:
		d.Body = []byte{}
	case 1:
		d.Body = []byte{0x2A}
	case 2: // an address without its NUL
		d.Body = append([]byte{0, 1, 1}, "39333000000099999999999"...)
	case 3: // sm_length larger than what is left
		whole := d.appendDeliverSM(nil)
		whole[len(whole)-1] = 200
		d.Body = append(whole, "short"...)
	default: // a receipt without id and state
		noise := newDice(s.cfg.Seed, ^sub.N)
		d.ESMClass = ClassReceipt
		d.ShortMessage = binary.BigEndian.AppendUint64([]byte{0xFE, 0xFF}, noise.next())
	}
	return d
}
