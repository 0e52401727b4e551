package statemachine_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// model is a second reading of DESIGN §3 and §4, as plain as it can be: strings for states, lists that are
// searched from end to end, nothing kept that can be looked up. It shares no code with the fold. What it does
// not know: rules for ids, references of ours, queries, what persons decide about exceptions.
type model struct {
	now      time.Time
	seq      uint64
	messages []*mMessage // oldest first
	rows     map[string]*mRow
	bodies   map[uint64]*mReceipt
	standing map[uint64]string // matched, held, not_a_receipt or undecodable: of each reception one
}

const modelWindow = 72 * time.Hour

type mMessage struct {
	id, smsc, account, dest string
	asks                    string // each, failure or none
	resend                  bool
	parts                   []*mPart
	verdicts                map[string]int
}

type mPart struct {
	attempts []*mAttempt
	queued   bool
	unwanted bool // a person took it out of the queue, or cancelled it on its way
	failed   bool
	cut      bool
	reported string
	date     string   // of what is reported
	events   []string // known, oldest first
	first    map[string]uint64
}

type mAttempt struct {
	seq      uint64
	at       time.Time
	outcome  string // unanswered, accepted, refused, doubt or unsent
	id       string
	answered time.Time
}

// mReceipt is a receipt as it came.
type mReceipt struct {
	seq                            uint64
	at                             time.Time
	account, class, src, tlv, text string
	word, tlvWord, date            string
	notAReceipt, undecodable       bool
}

type mRow struct {
	seqs     []uint64
	why      string
	waitsFor []string
}

// mTarget is a part and the attempt of it that an id fits.
type mTarget struct {
	part    int
	attempt *mAttempt
}

type mCandidate struct {
	m    *mMessage
	fits []mTarget
}

func newModel() *model {
	return &model{rows: map[string]*mRow{}, bodies: map[uint64]*mReceipt{}, standing: map[uint64]string{}}
}

var modelStates = map[string]string{
	"DELIVRD": "DELIVERED", "UNDELIV": "UNDELIVERABLE", "EXPIRED": "EXPIRED",
	"ENROUTE": "ENROUTE", "ACCEPTD": "ACCEPTED", "UNKNOWN": "UNKNOWN",
}

func finalWord(state string) bool {
	return slices.Contains([]string{"DELIVERED", "UNDELIVERABLE", "EXPIRED"}, state)
}

// Parts and messages.

func (p *mPart) has(outcome string) bool {
	return slices.ContainsFunc(p.attempts, func(a *mAttempt) bool { return a.outcome == outcome })
}

func (p *mPart) state(m *mMessage) string {
	switch {
	case p.failed:
		return "FAILED"
	case finalWord(p.reported):
		return p.reported
	case p.cut && m.asks == "each":
		return "UNREPORTED"
	case p.cut:
		return "SUBMITTED"
	case p.reported != "":
		return p.reported
	case m.asks == "none" && p.has("accepted"):
		return "SUBMITTED"
	case p.has("unanswered"):
		return "SUBMITTING"
	case p.queued:
		return "QUEUED"
	case p.has("doubt"):
		return "IN_DOUBT"
	case p.has("accepted"):
		return "SUBMITTED"
	}
	return "FAILED"
}

func (p *mPart) closed(m *mMessage) bool {
	state := p.state(m)
	return p.failed || finalWord(state) || p.cut || m.asks == "none" && (state == "SUBMITTED" || p.reported != "")
}

func (p *mPart) maybeDoubled() bool {
	n := 0
	for _, a := range p.attempts {
		if a.outcome != "refused" && a.outcome != "unsent" {
			n++
		}
	}
	return n > 1
}

func (m *mMessage) failed() bool {
	return slices.ContainsFunc(m.parts, func(p *mPart) bool { return p.failed })
}

// state is folded from the parts: the least advanced while one is open, else the first of the closed ones.
func (m *mMessage) state() string {
	open := strings.Fields("IN_DOUBT QUEUED SUBMITTING SUBMITTED SCHEDULED ENROUTE UNKNOWN ACCEPTED")
	closed := strings.Fields("UNREPORTED FAILED REJECTED UNDELIVERABLE DELETED EXPIRED SKIPPED UNKNOWN ACCEPTED DELIVERED SUBMITTED SCHEDULED ENROUTE")
	for _, state := range open {
		if slices.ContainsFunc(m.parts, func(p *mPart) bool { return !p.closed(m) && p.state(m) == state }) {
			return state
		}
	}
	for _, state := range closed {
		if slices.ContainsFunc(m.parts, func(p *mPart) bool { return p.closed(m) && p.state(m) == state }) {
			return state
		}
	}
	return ""
}

// settle takes off the queue what does not belong there, and fails what has nothing left to hope for.
func (p *mPart) settle(m *mMessage) {
	if p.has("accepted") || finalWord(p.reported) || p.cut || m.failed() {
		p.queued = false
	}
	p.failed = p.state(m) == "FAILED"
}

func (m *mMessage) settle() {
	for range m.parts { // a part that fails fails the queued ones
		for _, p := range m.parts {
			if p.queued || len(p.attempts) > 0 || m.failed() {
				p.settle(m)
			}
		}
	}
}

// Records of ours, and answers.

func (w *model) accepted(id, smsc, account, dest, asks string, resend bool, parts int) {
	m := &mMessage{id: id, smsc: smsc, account: account, dest: dest, asks: asks, resend: resend, verdicts: map[string]int{}}
	for range parts {
		m.parts = append(m.parts, &mPart{queued: true, first: map[string]uint64{}})
	}
	w.messages = append(w.messages, m)
}

func (w *model) sent(p *mPart) {
	p.attempts = append(p.attempts, &mAttempt{seq: w.seq, at: w.now, outcome: "unanswered"})
	p.queued = false
}

// again puts a part back into the queue where sending it once more makes sense.
func (p *mPart) again(m *mMessage) {
	p.queued = p.queued || !p.unwanted && !m.failed() && p.reported == "" && !p.cut && !p.has("accepted") && !p.has("unanswered")
}

func (w *model) answered(m *mMessage, part int, a *mAttempt, status, id string) {
	if a.outcome == "accepted" || a.outcome == "refused" {
		return
	}
	p := m.parts[part]
	a.outcome, a.answered = "refused", w.now
	if status == "temporary" {
		p.again(m)
	}
	if status == "accepted" {
		a.outcome, a.id = "accepted", id
	}
	m.settle()
	if a.id != "" {
		w.share(m, part, a)
	}
	waited := w.waitedFor(m)
	w.wake(func(row *mRow) bool { return a.id != "" && w.named(row) == m.account+"/"+id || waited(row) })
}

func (w *model) lost(m *mMessage, part int, a *mAttempt, unsent bool) {
	if a.outcome != "unanswered" {
		return
	}
	a.outcome = "doubt"
	if unsent {
		a.outcome = "unsent"
	}
	if unsent || m.resend {
		m.parts[part].again(m)
	}
	m.settle()
	w.wake(w.waitedFor(m))
}

func (w *model) expired(m *mMessage) {
	for _, p := range m.parts {
		if p.queued {
			p.queued = false
			p.settle(m)
		}
	}
}

func (w *model) cancelled(m *mMessage) {
	waits := w.withdrawn(m)
	for i, p := range m.parts {
		p.unwanted = p.unwanted || !waits[i] && !p.closed(m)
	}
}

func (w *model) dropped(smsc string, messages ...*mMessage) {
	for _, m := range messages {
		if m.smsc == smsc {
			w.withdrawn(m)
		}
	}
}

// withdrawn takes the message out of the queue, and says which parts of it were there.
func (w *model) withdrawn(m *mMessage) map[int]bool {
	waited := map[int]bool{}
	for i, p := range m.parts {
		if waited[i] = p.queued; p.queued {
			p.queued, p.unwanted = false, true
			p.settle(m)
		}
	}
	return waited
}

func (a *mAttempt) windowEnd() time.Time {
	if a.outcome == "accepted" {
		return a.answered.Add(modelWindow)
	}
	return a.at.Add(modelWindow)
}

func (w *model) cutoff(m *mMessage, p *mPart) {
	state := p.state(m)
	if p.closed(m) || state != "SUBMITTED" && p.reported == "" {
		return
	}
	for _, a := range p.attempts {
		if a.outcome != "refused" && a.outcome != "unsent" && w.now.Before(a.windowEnd()) {
			return
		}
	}
	p.cut = true
	m.settle()
}

// Receptions.

func (w *model) reception(r *mReceipt) {
	r.seq, r.at = w.seq, w.now
	w.bodies[r.seq] = r
	switch {
	case r.undecodable:
		w.standing[r.seq] = "undecodable"
	case r.notAReceipt:
		w.standing[r.seq] = "not_a_receipt"
	default:
		if why, waitsFor := w.judge(r); why != "matched" {
			row := w.rows[r.row()]
			if row == nil {
				row = &mRow{}
				w.rows[r.row()] = row
			}
			row.hold(r.seq, why, waitsFor)
		}
	}
}

func (row *mRow) hold(seq uint64, why, waitsFor string) {
	row.seqs, row.why = append(row.seqs, seq), why
	if waitsFor != "" && !slices.Contains(row.waitsFor, waitsFor) {
		row.waitsFor = append(row.waitsFor, waitsFor)
	}
}

func (r *mReceipt) id() string {
	if r.tlv != "" {
		return r.tlv
	}
	return r.text
}

func (r *mReceipt) row() string {
	return strings.Join([]string{r.account, r.tlv, r.text, r.word, r.tlvWord, r.date}, "|")
}

func (r *mReceipt) event() string { return r.row() + "|" + r.class + "|" + r.src }

// named is the account and id that a row waits for.
func (w *model) named(row *mRow) string {
	r := w.bodies[row.seqs[0]]
	return r.account + "/" + r.id()
}

// judge finds whose a receipt is and lets it count. Else it says why not, and for the answer of a submit to
// which number it waits.
func (w *model) judge(r *mReceipt) (why, waitsFor string) {
	found := w.candidates(r)
	left := w.narrow(r, found)
	w.standing[r.seq] = "held"
	if len(found) == 0 {
		return "unmatched", ""
	}
	if len(left) == 1 && r.about(left[0].m) < 0 {
		return "address_mismatch", ""
	}
	if dest := w.mustWait(r, left, found); dest != "" {
		return "unmatched", dest
	}
	if len(left) != 1 {
		return "ambiguous", ""
	}
	w.standing[r.seq] = "matched"
	c := left[0]
	for i, t := range c.fits {
		verdict := r.countsFor(c.m, c.m.parts[t.part])
		if i == 0 {
			c.m.verdicts[verdict]++
		}
	}
	c.m.settle()
	return "matched", ""
}

// candidates are the messages, newest first, of which an attempt was given the id.
func (w *model) candidates(r *mReceipt) []mCandidate {
	var found []mCandidate
	for _, m := range slices.Backward(w.messages) {
		c := mCandidate{m: m}
		for i, p := range m.parts {
			for _, a := range slices.Backward(p.attempts) {
				if a.id != "" && a.id == r.id() && m.account == r.account {
					c.fits = append(c.fits, mTarget{i, a})
					break
				}
			}
		}
		if len(c.fits) > 0 {
			found = append(found, c)
		}
	}
	return found
}

// narrow asks in turn: who knows the event, whose number it is, whether it was sent before that was done and
// had, whose window is open.
func (w *model) narrow(r *mReceipt, left []mCandidate) []mCandidate {
	asks := []func(mCandidate) int{
		func(c mCandidate) int { return one(c.knows(r)) },
		func(c mCandidate) int { return r.about(c.m) },
		func(c mCandidate) int {
			return -one(c.all(func(a *mAttempt) bool { return r.before(a) || r.seq < a.seq }))
		},
		func(c mCandidate) int {
			return -one(c.all(func(a *mAttempt) bool { return !r.at.Before(a.windowEnd()) }))
		},
	}
	for _, ask := range asks {
		if len(left) < 2 {
			return left
		}
		best := 0
		for _, c := range left {
			best = max(best, ask(c))
		}
		left = slices.DeleteFunc(slices.Clone(left), func(c mCandidate) bool { return ask(c) < best })
	}
	return left
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (c mCandidate) knows(r *mReceipt) bool {
	return slices.ContainsFunc(c.fits, func(t mTarget) bool { return slices.Contains(c.m.parts[t.part].events, r.event()) })
}

func (c mCandidate) all(is func(*mAttempt) bool) bool {
	return !slices.ContainsFunc(c.fits, func(t mTarget) bool { return !is(t.attempt) })
}

// about is 1 when the receipt's number is the message's, -1 when it is another's, 0 when it is none.
func (r *mReceipt) about(m *mMessage) int {
	switch {
	case strings.Trim(r.src, "0123456789") != "":
		return 0
	case r.src == strings.TrimPrefix(m.dest, "+"):
		return 1
	}
	return -1
}

// before: it was done more than a day before the submit.
func (r *mReceipt) before(a *mAttempt) bool {
	done, err := time.Parse("0601021504", r.date)
	return err == nil && done.Before(a.at.Add(-24*time.Hour))
}

// mustWait: what fits only closed parts, and is new to them, may belong to a submit to that number which has
// no answer yet.
func (w *model) mustWait(r *mReceipt, left, found []mCandidate) string {
	nobody := len(left) == 0
	if nobody {
		left = found
	}
	for _, c := range left {
		open := slices.ContainsFunc(c.fits, func(t mTarget) bool { return !c.m.parts[t.part].closed(c.m) })
		if open || c.knows(r) {
			return ""
		}
	}
	for _, c := range left {
		a := w.oldestUnanswered(r.account, c.m.dest)
		if a != nil && a.seq < r.seq && !(nobody && r.before(a)) {
			return c.m.dest
		}
	}
	return ""
}

func (w *model) oldestUnanswered(account, dest string) *mAttempt {
	var oldest *mAttempt
	for _, m := range w.messages {
		for _, p := range m.parts {
			for _, a := range p.attempts {
				if m.account == account && m.dest == dest && a.outcome == "unanswered" && (oldest == nil || a.seq < oldest.seq) {
					oldest = a
				}
			}
		}
	}
	return oldest
}

// waitedFor tells the rows that waited for a submit to the message's number and now for none.
func (w *model) waitedFor(m *mMessage) func(*mRow) bool {
	oldest := w.oldestUnanswered(m.account, m.dest)
	return func(row *mRow) bool {
		return slices.Contains(row.waitsFor, m.dest) && w.bodies[row.seqs[0]].account == m.account && (oldest == nil || oldest.seq > row.seqs[0])
	}
}

// wake judges all receptions of the rows again, in the order in which they came.
func (w *model) wake(which func(*mRow) bool) {
	var seqs []uint64
	for key, row := range w.rows {
		if which(row) {
			seqs = append(seqs, row.seqs...)
			delete(w.rows, key)
		}
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		r := w.bodies[seq]
		why, waitsFor := w.judge(r)
		if why == "matched" {
			continue
		}
		if w.rows[r.row()] == nil {
			w.rows[r.row()] = &mRow{}
		}
		row := w.rows[r.row()]
		row.hold(seq, why, waitsFor)
	}
}

// share: parts that were given the same id share what came for the others.
func (w *model) share(m *mMessage, part int, a *mAttempt) {
	for i, other := range m.parts {
		if i == part || !slices.ContainsFunc(other.attempts, func(o *mAttempt) bool { return o.id == a.id }) {
			continue
		}
		for _, event := range other.events {
			r := w.bodies[other.first[event]]
			if r.id() == a.id && !slices.Contains(m.parts[part].events, event) {
				r.countsFor(m, m.parts[part])
			}
		}
	}
	m.settle()
}

// countsFor is the table of verdicts, row by row.
func (r *mReceipt) countsFor(m *mMessage, p *mPart) string {
	known := slices.Contains(p.events, r.event())
	if !known {
		p.events = append(p.events, r.event())
		p.first[r.event()] = r.seq
	}
	state := modelStates[r.word]
	tlv := modelStates[r.tlvWord]
	differ := tlv != "" && state != "" && tlv != state && (finalWord(tlv) || finalWord(state))
	if tlv != "" {
		state = tlv
	}
	is, order := p.state(m), strings.Compare(r.date, p.date)
	dated := r.date != "" && p.date != ""
	switch {
	case known:
		return "duplicate"
	case state == "", r.class == "0x20" && finalWord(state), differ:
		return "noted"
	case (p.failed || finalWord(is)) && !finalWord(state):
		return "late"
	case (p.failed || finalWord(is)) && state == is:
		return "repeat"
	case p.failed || finalWord(is):
		return "conflict"
	case finalWord(state):
	case p.cut:
		return "late"
	case state == p.reported && !(dated && order > 0):
		return "repeat"
	case p.reported == "" || dated && order > 0:
	case dated && order < 0:
		return "stale"
	default:
		return "unordered"
	}
	p.reported, p.date = state, r.date
	return "applied"
}

// String prints all that the fold must agree with.
func (w *model) String() string {
	var b strings.Builder
	for _, m := range w.messages {
		fmt.Fprintf(&b, "%s %s\n", m.id, m.state())
		for i, p := range m.parts {
			fmt.Fprintf(&b, "  part %d %s closed %v doubled %v queued %v\n", i+1, p.state(m), p.closed(m), p.maybeDoubled(), p.queued)
		}
		for _, verdict := range modelVerdicts {
			fmt.Fprintf(&b, "  %s %d\n", verdict, m.verdicts[verdict])
		}
	}
	var rows []string
	for _, row := range w.rows {
		rows = append(rows, fmt.Sprintf("%s %v %s\n", row.why, row.seqs, row.waitsFor))
	}
	slices.Sort(rows)
	b.WriteString(strings.Join(rows, ""))
	for seq := uint64(1); seq <= w.seq; seq++ {
		if what, ok := w.standing[seq]; ok {
			fmt.Fprintf(&b, "%d %s\n", seq, what)
		}
	}
	return b.String()
}

var modelVerdicts = []string{"duplicate", "repeat", "late", "stale", "unordered", "noted", "conflict"}
