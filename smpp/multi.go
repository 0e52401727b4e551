package smpp

// maxListName is the longest name of a distribution list, the closing NUL included.
const maxListName = 21

// Values of Destination.Flag (SMPP v3.4 §5.2.25).
const (
	DestinationAddress byte = 1
	DestinationList    byte = 2
)

// Destination is one of a submit_multi's: an address, or the name of a distribution list that the SMSC has.
type Destination struct {
	Flag    byte // which of the two it is
	Address Address
	List    string
}

func (d *Destination) fields(c *codec) {
	c.octet("dest_flag", &d.Flag)
	switch {
	case c.err != nil:
	case d.Flag == DestinationAddress:
		address(c, destAddr, &d.Address, maxAddress)
	case d.Flag == DestinationList:
		cstring(c, "dl_name", &d.List, maxListName)
	default:
		c.refuse("dest_flag", "%d is neither an address (1) nor a distribution list (2)", d.Flag)
	}
}

// SubmitMulti is submit_multi: one text for many (SMPP v3.4 §4.5.1). It has no Dest.
type SubmitMulti struct {
	SM[string]
	Dests []Destination // at most 254
}

func (p *SubmitMulti) fields(c *codec) {
	cstring(c, "service_type", &p.ServiceType, maxServiceType)
	address(c, sourceAddr, &p.Source, maxAddress)
	list(c, "number_of_dests", &p.Dests, maxDestinations, (*Destination).fields)
	p.fieldsBehindDest(c)
}

// maxDestinations is how many a submit_multi has at most (SMPP v3.4 §5.2.24).
const maxDestinations = 254

// Unsuccess is a destination that a submit_multi was not accepted for.
type Unsuccess struct {
	Dest            Address
	ErrorStatusCode Status
}

func (u *Unsuccess) fields(c *codec) {
	address(c, destAddr, &u.Dest, maxAddress)
	c.status("error_status_code", &u.ErrorStatusCode)
}

// SubmitMultiResp is submit_multi_resp (SMPP v3.4 §4.5.2). All is empty when the body was left out, as it is in a refusal.
type SubmitMultiResp struct {
	Header
	MessageID string
	Unsuccess []Unsuccess // for all others the message was accepted

	TLVs  TLVs
	Notes []string // what decoding tolerated
}

func (p *SubmitMultiResp) fields(c *codec) {
	if !c.absent("message_id") {
		cstring(c, "message_id", &p.MessageID, 0)
		list(c, "no_unsuccess", &p.Unsuccess, 255, (*Unsuccess).fields)
	}
	c.tail(&p.TLVs, &p.Notes)
}

// list is a number of one octet, called name, and as many elements.
func list[E any](c *codec, name string, all *[]E, limit int, fields func(*E, *codec)) {
	n := byte(min(len(*all), limit))
	if c.encoding && len(*all) > limit {
		c.fail(name, "%d, at most %d are allowed", len(*all), limit)
	}
	c.octet(name, &n)
	if !c.encoding {
		*all = nil
	}
	for i := 0; i < int(n) && c.err == nil; i++ {
		if !c.encoding {
			*all = append(*all, *new(E))
		}
		fields(&(*all)[i], c)
	}
}
