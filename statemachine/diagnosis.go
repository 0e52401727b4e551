package statemachine

import (
	"cmp"
	"context"
	"slices"

	"esmed/receipt"
)

// Bounds of a Diagnosis: with all of them reached, and ids and numbers of SMPP's lengths, it takes about
// 200 MB.
const (
	MaxDiagnosedReceipts = 200_000
	MaxDiagnosedOpen     = 250_000 // attempts that were given an id
	// MaxControls is how many receipts of an SMSC that found their message are asked what a rule would break.
	MaxControls = 500
)

// Diagnosis looks for the id rules under which receipts that wait would find messages that are open, and
// for the time zone of an SMSC's dates. It is filled with what waits, what is open and what was matched,
// in any order, and then concludes. Nothing is decided by it. It is not safe for concurrent use.
type Diagnosis struct {
	fold   Fold
	rules  *Rules
	record func(seq uint64) (Record, error)

	smscs    map[string]*diagnosedSMSC
	open     map[string]*openTable // by account
	receipts int
	attempts int
}

// diagnosedSMSC is what is known of one SMSC.
type diagnosedSMSC struct {
	name     string
	account  string
	waiting  []waitingReceipt
	left     int // receipts that there was no room for
	controls []control
}

// waitingReceipt is what of an inbox row tells whose it is.
type waitingReceipt struct {
	seq          uint64 // its first reception
	tlv, text    string
	source, dest receipt.Address
	reported     receipt.Date
	at           int64 // first reception, Unix nanoseconds
}

// NewDiagnosis makes one under the rules in force. record reads the log; a record that is gone has no Fact.
func NewDiagnosis(fold Fold, rules *Rules, record func(seq uint64) (Record, error)) *Diagnosis {
	return &Diagnosis{
		fold: fold, rules: rules, record: record,
		smscs: map[string]*diagnosedSMSC{}, open: map[string]*openTable{},
	}
}

func (d *Diagnosis) smsc(name, account string) *diagnosedSMSC {
	s := d.smscs[name]
	if s == nil {
		s = &diagnosedSMSC{name: name, account: account}
		d.smscs[name] = s
	}
	return s
}

// Wait adds a row of the inbox. One that a person dismissed does not count. Rows beyond
// MaxDiagnosedReceipts are counted only.
func (d *Diagnosis) Wait(row *InboxRow) {
	if row.Dismissed != "" || len(row.Receptions) == 0 {
		return
	}
	s := d.smsc(row.SMSC, row.Account)
	if d.receipts == MaxDiagnosedReceipts {
		s.left++
		return
	}
	d.receipts++
	s.waiting = append(s.waiting, waitingReceipt{
		seq: row.Receptions[0], tlv: row.TLVID, text: row.TextID, source: row.Source, dest: row.Dest,
		reported: row.ReportedAt, at: row.ReceivedAt.UnixNano(),
	})
}

// Add takes a message in: as open where a part of it that was given an id still waits for a final report
// (a window that is over changes nothing about that), and as a control where a receipt was matched. It
// reports whether there is room for more that are open.
func (d *Diagnosis) Add(m *Message) (more bool) {
	if room := MaxDiagnosedOpen - d.attempts; room > 0 {
		t := d.open[m.Account]
		if t == nil {
			t = &openTable{account: m.Account}
			d.open[m.Account] = t
		}
		d.attempts += t.add(m)
	}
	d.addControls(m)
	return d.attempts < MaxDiagnosedOpen
}

func (d *Diagnosis) addControls(m *Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		a := p.attempt(p.Reported.Attempt)
		if a == nil || a.AnswerSeq == 0 || p.Reported.By != ByTLVID && p.Reported.By != ByTextID {
			continue
		}
		if s := d.smsc(p.Reported.SMSC, m.Account); len(s.controls) < MaxControls {
			s.controls = append(s.controls, control{p.Reported.Seq, *a})
		}
	}
}

// SMSCDiagnosis is what was found about one SMSC.
type SMSCDiagnosis struct {
	SMSC    string
	Account string

	Receipts  int // rows of the inbox that were looked at
	Left      int // and those that there was no room for
	WithoutID int // of Receipts: no id, or a word for none
	Open      int // attempts of the account that were given an id and wait for a final report
	NoID      int // and those that were accepted without an id
	Controls  int // receipts that found their message, on which rules are tried too

	Today     Proposal   // the rules in force
	TLV, Text []Trial    // every list of rules that was tried on the TLV's id, and on the text's; the best first
	Proposals []Proposal // those that match more than today's, the best first
	Zone      ZoneFinding

	// Elsewhere is how many of the receipts name open messages of another account under the rules in
	// force: they may be doors to one message centre.
	Elsewhere        int
	ElsewhereAccount string
}

// Fits counts receipts by what a list of rules makes of them.
type Fits struct {
	Unique       int // fit exactly one open message
	Confirmed    int // of those, the addresses agree
	None         int // fit none
	Several      int // fit several, and nothing tells them apart
	Contradicted int // fit one, and the addresses are somebody else's
}

// score ranks them: what is confirmed counts most, what is contradicted or ambiguous against it.
func (o *Fits) score() int {
	return 2*o.Confirmed + (o.Unique - o.Confirmed) - 3*o.Contradicted - 2*o.Several
}

// Trial is a list of rules tried on one of a receipt's ids.
type Trial struct {
	Rules receipt.IDRules
	Fits
}

// Proposal is a pair of lists of rules, for the TLV's id and for the text's, as correlation would use it.
type Proposal struct {
	TLV, Text receipt.IDRules
	Fits
	Lost     int // controls that would not find their message any more
	Quality  Quality
	Examples []Example // of each result, at most maxExamples

	dated []control // receipts that it matches, for their dates
}

// Quality says what to think of a proposal.
type Quality string

// Qualities.
const (
	QualityGood     Quality = "good"     // fits many, confirmed by addresses, and breaks nothing
	QualityThin     Quality = "thin"     // the same, of few receipts
	QualityDoubtful Quality = "doubtful" // also fits wrong ones or several, nothing confirms it, or it breaks what works
)

const (
	// EnoughReceipts is how many must fit before rules may be called good.
	EnoughReceipts = 20
	// tolerated is the share of those that fit, one in so many, that may be ambiguous or contradicted.
	tolerated = 50
	// maxExamples is how many receipts are shown for each result.
	maxExamples = 3
)

func (p *Proposal) judge() {
	wrong := p.Several + p.Contradicted
	switch {
	case p.Lost > 0 || p.Confirmed == 0 || wrong*tolerated > p.Unique:
		p.Quality = QualityDoubtful
	case p.Unique < EnoughReceipts:
		p.Quality = QualityThin
	default:
		p.Quality = QualityGood
	}
}

// Example is a receipt with what it fits.
type Example struct {
	Result    Correlation // matched, unmatched, ambiguous or address_mismatch
	Confirmed bool
	Reception uint64 // the first
	TLVID     string // as received; "" = none
	TextID    string
	By        string     // which id fitted; "" = none
	Ref       AttemptRef // what it fits; zero = nothing, or several
	MessageID string     // of that attempt, as the SMSC answered it
}

// Conclude tries the rules, SMSC by SMSC in the order of their names, those without waiting receipts
// last. Its error is the context's or that of reading the log.
func (d *Diagnosis) Conclude(ctx context.Context) ([]*SMSCDiagnosis, error) {
	smscs := make([]*diagnosedSMSC, 0, len(d.smscs))
	for _, s := range d.smscs {
		smscs = append(smscs, s)
	}
	slices.SortFunc(smscs, func(a, b *diagnosedSMSC) int {
		return cmp.Or(cmp.Compare(min(1, len(b.waiting)), min(1, len(a.waiting))), cmp.Compare(a.name, b.name))
	})
	for _, t := range d.open {
		t.sort()
	}
	found := make([]*SMSCDiagnosis, 0, len(smscs))
	for _, s := range smscs {
		x := examination{d: d, s: s, today: d.rulesOf(s), open: d.open[s.account]}
		if x.open == nil {
			x.open = &openTable{account: s.account}
		}
		if err := x.run(ctx); err != nil {
			return nil, err
		}
		found = append(found, &x.found)
	}
	return found, nil
}

// rulesOf are an SMSC's rules in force, those of one whose configuration says nothing when there are none.
func (d *Diagnosis) rulesOf(s *diagnosedSMSC) SMSCRules {
	rules := *(&step{rules: d.rules}).smsc(s.name)
	rules.Account = s.account
	return rules
}
