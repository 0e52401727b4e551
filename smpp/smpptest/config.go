package smpptest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"time"

	"esmed/smpp"
)

// NoListener as Config.Addr makes a server that is reached by Server.Pipe alone, without a socket: the
// way for tests in a testing/synctest bubble.
const NoListener = "none"

// Config says how the SMSC behaves. The zero Config is a well-behaved one on a free port of 127.0.0.1.
// Shares are of 1: 0.05 is one in twenty; 0 never.
type Config struct {
	Addr     string      // host:port; "" is 127.0.0.1:0; NoListener
	More     []string    // further addresses at which the same account is reached, host:port
	TLS      *tls.Config // of all addresses, but not of Pipe; nil: none
	Seed     uint64      // equal seeds do the same to equal submits, in the order in which they come
	SystemID string      // what a bind must name; "" takes any
	Password string      // what a bind must bring; "" takes any

	// Truth receives the ground truth as NDJSON (see Line), buffered, at the latest a fifth of a second
	// after the fact. Nil: kept in memory, see Server.Truth.
	Truth io.Writer

	// CountOnly keeps no truth, whatever Truth says: the Stats, which are exact, are all there is. A server
	// for millions of submits costs less so, and its memory does not grow with them.
	CountOnly bool

	// OnSubmit, if not nil, sees each submit_sm with what the Config would have done about it, and
	// returns what is done. It runs under the server's lock: it must not call the server.
	OnSubmit func(Submit, Action) Action

	// OnQuery, if not nil, says how each query_sm is answered; else all are refused with ESME_RQUERYFAIL.
	// It runs under the server's lock, as OnSubmit does.
	OnQuery func(Query) Reply

	// OnCancel, if not nil, says how each cancel_sm is answered; else all are refused with
	// ESME_RCANCELFAIL. It runs under the server's lock, as OnSubmit does. While it is set the server keeps
	// every submit that it takes on.
	OnCancel func(Cancel) Cancelled

	Bind     Bind
	IDs      IDs
	Answers  Answers
	Receipts Receipts
	Traffic  Traffic
	Link     Link
}

// Bind says how binds are answered.
type Bind struct {
	Refuse       smpp.Status // this status instead of ESME_ROK; 0 does not refuse
	RefuseFirst  int         // only the first n binds are refused; 0 = all
	IgnoreFirst  int         // the first n binds get no answer; -1 = none ever does
	DeliverFirst bool        // what waits for delivery (or else an MO message) goes out before the bind_resp

	// AtMost connections may be bound under one system_id; a further bind is refused with ESME_RALYBND.
	// 0 = any number. A connection that ended without unbind is counted until Linger is over: the SMSC has
	// not yet found out.
	AtMost int
	Linger time.Duration
}

// Refusal is a share of submits that get a status other than ESME_ROK.
type Refusal struct {
	Status smpp.Status
	Share  float64
}

// Answers says how submit_sm is answered. Accepted submits are taken on in every case: an answer that
// never comes does not stop the receipts.
type Answers struct {
	Refuse        []Refusal
	ThrottleAbove int           // submits a second above which ESME_RTHROTTLED is the answer; 0 = no limit
	ThrottleAfter time.Duration // from the server's start to a storm in which all are answered so
	ThrottleFor   time.Duration // how long that storm lasts; 0 = there is none
	Delay         time.Duration // before every answer
	Jitter        time.Duration // up to this more
	Never         float64       // share without answer
	Late          float64       // share answered after LateBy, which should exceed the ESME's response timeout
	LateBy        time.Duration
	Shuffle       int // answers are held until there are n (or 20 ms have passed) and sent in random order
}

// ReceiptForm says where a receipt carries its information.
type ReceiptForm string

// Receipt forms. The zero ReceiptForm is Both.
const (
	Both     ReceiptForm = "both"
	TextOnly ReceiptForm = "text"
	TLVOnly  ReceiptForm = "tlv"
)

// StateShare is one word of the mix of final outcomes.
type StateShare struct {
	Word  string  // stat of the text: DELIVRD, UNDELIV, EXPIRED, DELETED, REJECTD, ..., or an SMSC's own
	State string  // state that an own word stands for, as DELIVERED; for the truth only; "" for SMPP's words
	Share float64 // weight among all of the mix; need not add up to 1
}

// Receipts says what is reported about accepted submits that asked for a receipt.
type Receipts struct {
	Always            bool          // also where registered_delivery does not ask
	Form              ReceiptForm   //
	DataSM            float64       // share sent as data_sm
	Delay             time.Duration // after the answer (after the submit, if the answer is late or never comes)
	Jitter            time.Duration // up to this more
	BeforeResponse    float64       // share whose final receipt is written before the submit_sm_resp
	Duplicates        float64       // share whose final receipt comes again, the same octets
	Copies            int           // how often it comes again; 0 = 1
	Intermediate      float64       // share with an intermediate notification (ENROUTE) before the final
	IntermediateAfter float64       // share with one after the final
	Contradictions    float64       // share with another final state after the final
	Unknown           float64       // share of submits that bring a receipt for an id never given
	BadDates          float64       // share with dates that nobody can read
	BrokenTLVs        float64       // share with stray octets, or a TLV longer than what is left, at the end
	States            []StateShare  // empty: all DELIVRD
	Retry             time.Duration // until what was answered ESME_RX_T_APPN is sent again; 0 = 1s
	ClientRefTLV      smpp.Tag      // a TLV of the submit that receipts echo; 0 = none
}

// SequenceMode says how the SMSC numbers its own requests.
type SequenceMode string

// Sequence modes. The zero SequenceMode is Counting.
const (
	Counting SequenceMode = "counting" // 1, 2, 3, ... on each connection
	Collide  SequenceMode = "collide"  // the number of an outstanding submit_sm of the ESME, or of its next
	Zero     SequenceMode = "zero"     // always 0, so one request at a time
)

// Traffic says what else the SMSC sends. Shares count per submit.
type Traffic struct {
	MO             float64       // mobile-originated messages
	MOLikeReceipt  float64       // such whose text reads like a receipt for a real message
	Garbage        float64       // deliver_sm whose body cannot be taken apart or says nothing
	UnknownCommand float64       // requests with a command_id that SMPP does not know
	Oversize       float64       // deliver_sm longer than an ESME should accept
	OversizeOctets int           // length of those; 0 = 200000
	EnquireLink    time.Duration // between enquire_link of its own; 0 = none
	Sequence       SequenceMode
	Window         int // unanswered requests on a connection; 0 = 1000
}

// Drop is how a connection ends.
type Drop string

// Drops. The zero Drop keeps the connection.
const (
	DropBefore Drop = "before" // instead of the response
	DropAfter  Drop = "after"  // after the response was written
	DropMid    Drop = "mid"    // after half of the response
	DropReset  Drop = "reset"  // instead of the response, by RST (SO_LINGER 0)
)

// Link says what happens to connections.
type Link struct {
	DropEvery   int           // at every n-th submit; 0 = never
	DropShare   float64       // at this share of submits
	Drops       []Drop        // how, in turn; empty: DropBefore
	SilentAfter int           // after n PDUs from the ESME a connection stays open and says nothing more; 0 = never
	Fragment    int           // writes are cut in pieces of n octets; 0 = whole
	Gather      time.Duration // writes wait this long for more, so that many PDUs go in one
	ReadRate    int           // octets a second that are read from a connection; 0 = as they come
}

func (c Config) withDefaults() Config {
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	c.IDs = c.IDs.withDefaults()
	if c.Receipts.Form == "" {
		c.Receipts.Form = Both
	}
	if c.Receipts.Copies == 0 {
		c.Receipts.Copies = 1
	}
	if c.Receipts.Retry == 0 {
		c.Receipts.Retry = time.Second
	}
	if len(c.Receipts.States) == 0 {
		c.Receipts.States = []StateShare{{Word: "DELIVRD", Share: 1}}
	}
	if c.Traffic.OversizeOctets == 0 {
		c.Traffic.OversizeOctets = 200000
	}
	if c.Traffic.Sequence == "" {
		c.Traffic.Sequence = Counting
	}
	if c.Traffic.Window == 0 {
		c.Traffic.Window = 1000
	}
	if len(c.Link.Drops) == 0 {
		c.Link.Drops = []Drop{DropBefore}
	}
	return c
}

// Validate reports everything that is wrong with the Config, joined.
func (c Config) Validate() error {
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	c = c.withDefaults()
	add(c.IDs.Response.validate("ids.response"))
	add(c.IDs.TLV.validate("ids.tlv"))
	add(c.IDs.Text.validate("ids.text"))
	for name, share := range c.shares() {
		if share < 0 || share > 1 {
			add(fmt.Errorf("%s: must be from 0 to 1 (got %g)", name, share))
		}
	}
	add(oneOf("receipts.form", c.Receipts.Form, Both, TextOnly, TLVOnly))
	add(oneOf("traffic.sequence", c.Traffic.Sequence, Counting, Collide, Zero))
	for _, d := range c.Link.Drops {
		add(oneOf("link.drops", d, DropBefore, DropAfter, DropMid, DropReset))
	}
	if n := c.Traffic.OversizeOctets; n < headerLen || n > 16<<20 {
		add(fmt.Errorf("traffic.oversize_octets: must be from 16 to 16 MiB (got %d)", n))
	}
	total := 0.0
	for _, s := range c.Receipts.States {
		total += s.Share
	}
	if total <= 0 {
		add(errors.New("receipts.states: the shares must add up to more than 0"))
	}
	return errors.Join(errs...)
}

func (c Config) shares() map[string]float64 {
	shares := map[string]float64{
		"answers.never": c.Answers.Never, "answers.late": c.Answers.Late,
		"receipts.data_sm": c.Receipts.DataSM, "receipts.before_response": c.Receipts.BeforeResponse,
		"receipts.duplicates": c.Receipts.Duplicates, "receipts.intermediate": c.Receipts.Intermediate,
		"receipts.intermediate_after": c.Receipts.IntermediateAfter, "receipts.contradictions": c.Receipts.Contradictions,
		"receipts.unknown": c.Receipts.Unknown, "receipts.bad_dates": c.Receipts.BadDates, "receipts.broken_tlvs": c.Receipts.BrokenTLVs,
		"traffic.mo": c.Traffic.MO, "traffic.mo_like_receipt": c.Traffic.MOLikeReceipt, "traffic.garbage": c.Traffic.Garbage,
		"traffic.unknown_command": c.Traffic.UnknownCommand, "traffic.oversize": c.Traffic.Oversize,
		"link.drop_share": c.Link.DropShare,
	}
	for _, r := range c.Answers.Refuse {
		shares["answers.refuse "+r.Status.String()] = r.Share
	}
	return shares
}

func oneOf[T ~string](field string, got T, want ...T) error {
	for _, w := range want {
		if got == w {
			return nil
		}
	}
	return fmt.Errorf("%s: must be one of %v (got %q)", field, want, got)
}
