package control

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"esmed/statemachine"
)

// reader makes accepted messages of submissions: of the body of POST /v1/messages and of the lines of a
// batch alike.
type reader struct {
	smscs    map[string]*SMSC
	def      string // name of the SMSC of submissions that name none; "" = they are refused
	prefixes []string
	now      func() time.Time
	ids      *ids

	// forms are submissions that nobody reads, to be used again: most of what one takes is room for fields that
	// it does not have. Whoever takes one out has it for himself and leaves nothing of what he read in it.
	forms sync.Pool
}

func newReader(cfg Config, ids *ids) *reader {
	rd := &reader{ids: ids, smscs: make(map[string]*SMSC, len(cfg.SMSCs)), def: cfg.DefaultSMSC, prefixes: cfg.CallbackPrefixes, now: cfg.Now}
	for i := range cfg.SMSCs {
		rd.smscs[cfg.SMSCs[i].Name] = &cfg.SMSCs[i]
	}
	if rd.def == "" && len(cfg.SMSCs) == 1 {
		rd.def = cfg.SMSCs[0].Name
	}
	rd.forms.New = func() any {
		s := &submission{reader: rd}
		s.fields = fields{names: fieldNames, values: make([]value, fieldCount), problems: &s.found}
		return s
	}
	return rd
}

// submission is one being read.
type submission struct {
	fields
	reader *reader
	found  []FieldProblem // so far
	smsc   *SMSC
	now    time.Time
	m      *acceptance
}

// acceptance is an accepted message with room for what all have, and nearly all have no more of.
type acceptance struct {
	statemachine.MessageAccepted
	part [1]statemachine.PartContent
	hash [sha256.Size]byte
}

// read makes a message of a submission, with an id of its own. The Problem lists all that is wrong.
func (rd *reader) read(body []byte, from Caller, idempotencyKey string) (*statemachine.MessageAccepted, *Problem) {
	if err := checkJSON(body); err != nil {
		return nil, newProblem(http.StatusBadRequest, "the submission "+err.Error(), "")
	}
	s := rd.forms.Get().(*submission)
	defer s.putBack()
	s.now = rd.now().UTC().Round(0) // without a monotonic clock, as the store keeps instants
	s.m = &acceptance{MessageAccepted: statemachine.MessageAccepted{Owner: from.Owner, IdempotencyKey: idempotencyKey}}
	s.fields.read(body)
	s.judge()
	if len(s.found) > 0 {
		p := newProblem(http.StatusUnprocessableEntity, "the submission is not valid", "")
		p.Errors = s.found
		return nil, p
	}
	s.m.Message = rd.ids.next(s.now)
	s.m.hash = s.hash()
	s.m.RequestHash = s.m.hash[:]
	return &s.m.MessageAccepted, nil
}

// putBack leaves the form to the next one.
func (s *submission) putBack() {
	clear(s.values)
	s.found, s.smsc, s.m = nil, nil, nil
	s.reader.forms.Put(s)
}

// judge makes the message of the fields.
func (s *submission) judge() {
	if s.smsc = s.chooseSMSC(); s.smsc == nil {
		return // nothing else can be judged without it
	}
	s.m.SMSC, s.m.Account = s.smsc.Name, s.smsc.Account
	s.readDestination()
	s.readSource()
	s.readBody()
	s.readTimes()
	s.readTLVs()
	s.m.RegisteredDelivery = s.registeredDelivery()
	s.m.Ref = s.label(fieldRef)
	s.m.ServiceType = s.serviceType()
	s.m.ProtocolID = byte(s.number(fieldProtocolID, 0xFF))
	s.m.Priority = byte(s.number(fieldPriority, 3))
	s.m.ReplaceIfPresent = byte(s.number(fieldReplace, 1))
	s.m.InDoubt = s.oneOf(fieldInDoubt, inDoubtWords)
	s.m.CallbackURL = s.callbackURL()
}

var inDoubtWords = []string{"hold", "resend"}

func (s *submission) chooseSMSC() *SMSC {
	name := s.characters(fieldSMSC)
	if len(name) == 0 && s.reader.def == "" {
		s.wrong(fieldSMSC, "must be given: there are several and no default_smsc is configured")
		return nil
	}
	smsc, ok := s.reader.smscs[string(name)]
	if len(name) == 0 {
		smsc, ok = s.reader.smscs[s.reader.def]
	}
	if !ok {
		s.wrong(fieldSMSC, "is not configured")
	}
	return smsc
}

// maxLabel is the longest ref and Idempotency-Key, in octets.
const maxLabel = 255

// label reads a word of the application's own.
func (s *submission) label(i int) string {
	label := s.text(i)
	if message := checkLabel(label); message != "" {
		s.wrong(i, "%s", message)
	}
	return label
}

// checkLabel says what is wrong with a label; "" if nothing is.
func checkLabel(label string) string {
	if len(label) > maxLabel {
		return "is longer than 255 octets"
	}
	if strings.ContainsFunc(label, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		return "has control characters"
	}
	return ""
}

// Octets of registered_delivery (SMPP v3.4 §5.2.17).
const (
	receiptBits    = 0x03
	receiptFinal   = 0x01
	receiptFailure = 0x02
)

// registeredDelivery is the octet. The words leave the SMSC's other bits as they are configured.
func (s *submission) registeredDelivery() byte {
	v := s.values[fieldRegisteredDelivery]
	if v.raw != nil && v.raw[0] != '"' {
		return byte(s.number(fieldRegisteredDelivery, 0xFF))
	}
	others := s.smsc.RegisteredDelivery &^ receiptBits
	switch string(v.text) {
	case "final":
		return others | receiptFinal
	case "failure":
		return others | receiptFailure
	case "none":
		return 0
	}
	if v.raw != nil {
		s.wrong(fieldRegisteredDelivery, "must be final, failure, none or the octet")
	}
	return s.smsc.RegisteredDelivery
}

// maxServiceType is the length of service_type (SMPP v3.4 §5.2.11).
const maxServiceType = 5

func (s *submission) serviceType() string {
	t := s.text(fieldServiceType)
	if len(t) > maxServiceType || !printable(t) {
		s.wrong(fieldServiceType, "must be 5 printable characters at most")
	}
	return t
}

// callbackURL takes what begins with a configured prefix, where that ends at the end of one of the URL's
// pieces: a prefix https://a.example is no leave to call https://a.example.org.
func (s *submission) callbackURL() string {
	given := s.text(fieldCallbackURL)
	if given == "" {
		return ""
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		s.wrong(fieldCallbackURL, "must be an http or https URL without user")
		return ""
	}
	for _, prefix := range s.reader.prefixes {
		rest, ok := strings.CutPrefix(given, prefix)
		if ok && (rest == "" || strings.HasSuffix(prefix, "/") || strings.ContainsRune("/?#", rune(rest[0]))) {
			return given
		}
	}
	s.wrong(fieldCallbackURL, "begins with none of api.callback_prefixes")
	return ""
}
