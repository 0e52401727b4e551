package statemachine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// network draws the history of two accounts' SMSCs, which lose, delay, repeat and reorder what they send, and
// give few ids again and again. Each record goes to a lab, as a line, and to a model, which must agree.
type network struct {
	*lab
	rt    *rapid.T
	model *model
	air   []func()       // what is under way to us
	ids   map[string]int // the next id, by account
}

const (
	networkRules = "rules alpha account=one ; beta account=one ; gamma"
	networkIDs   = 4
)

var (
	networkAccounts = map[string]string{"alpha": "one", "beta": "one", "gamma": "gamma"}
	networkDests    = []string{"+393331234567", "+393331234568", "+447700900123"}
	networkWords    = []string{"DELIVRD", "DELIVRD", "UNDELIV", "EXPIRED", "ENROUTE", "ACCEPTD", "UNKNOWN", "ODD", ""}
	networkStates   = map[string]int{"ENROUTE": 1, "DELIVRD": 2, "EXPIRED": 3, "UNDELIV": 5, "ACCEPTD": 6, "UNKNOWN": 7}
)

func newNetwork(t *testing.T, rt *rapid.T) *network {
	n := &network{lab: newLab(t), rt: rt, model: newModel(), ids: map[string]int{}}
	n.add(networkRules)
	return n
}

// add applies a line to the lab, and gives the model its time and number.
func (n *network) add(line string) {
	n.rt.Log(line)
	n.apply(n.record(line))
	n.model.seq, n.model.now = uint64(len(n.records)), n.now
}

func (n *network) next() {
	switch what := rapid.IntRange(0, 15).Draw(n.rt, "what"); {
	case what == 0 || len(n.model.messages) == 0:
		n.accept()
	case what <= 4:
		n.send()
	case what <= 10 && len(n.air) > 0:
		i := rapid.IntRange(0, len(n.air)-1).Draw(n.rt, "under way")
		come := n.air[i]
		if !chance(n.rt, "comes again", 4) {
			n.air = slices.Delete(n.air, i, i+1)
		}
		come()
	case what == 11:
		n.lose()
	case what == 12:
		n.stray()
	case what == 13:
		n.cutOff()
	case what == 14:
		n.end()
	default:
		n.now = n.now.Add(time.Duration(rapid.IntRange(1, 50).Draw(n.rt, "hours")) * time.Hour)
	}
}

func (n *network) anyMessage() *mMessage {
	return rapid.SampledFrom(n.model.messages).Draw(n.rt, "message")
}

func (n *network) smscOf(account string) string {
	if account == "one" {
		return pick(n.rt, "smsc", []string{"alpha", "beta"})
	}
	return "gamma"
}

func (n *network) accept() {
	rt := n.rt
	id, smsc := fmt.Sprintf("M%02d", len(n.model.messages)), pick(rt, "smsc", []string{"alpha", "beta", "gamma"})
	dest, asks := pick(rt, "to", networkDests), pick(rt, "asks", []string{"each", "each", "failure", "none"})
	parts, doubt := rapid.IntRange(1, 3).Draw(rt, "parts"), pick(rt, "in doubt", []string{"hold", "resend"})
	n.add(fmt.Sprintf("accepted %s smsc=%s to=%s asks=%s parts=%d in_doubt=%s", id, smsc, dest, asks, parts, doubt))
	n.model.accepted(id, smsc, networkAccounts[smsc], dest, asks, doubt == "resend", parts)
}

// send makes an attempt of a queued part, and decides what becomes of it out there.
func (n *network) send() {
	m := n.anyMessage()
	part := rapid.IntRange(0, len(m.parts)-1).Draw(n.rt, "part")
	p := m.parts[part]
	if !p.queued {
		return
	}
	n.add(fmt.Sprintf("sent %s", ref(m, part, len(p.attempts)+1)))
	n.model.sent(p)
	a := p.attempts[len(p.attempts)-1]
	switch rapid.IntRange(0, 9).Draw(n.rt, "fate") {
	case 0: // never seen again
	case 1:
		n.answer(m, part, a, "temporary", "")
	case 2:
		n.answer(m, part, a, "refused", "")
	default:
		n.arrive(m, part, a)
	}
}

func ref(m *mMessage, part, attempt int) string {
	return fmt.Sprintf("%s/%d/%d", m.id, part+1, attempt)
}

// arrive lets the SMSC accept an attempt, under an id that it gave before, or gave another part.
func (n *network) arrive(m *mMessage, part int, a *mAttempt) {
	if !chance(n.rt, "as the one before", 4) {
		n.ids[m.account]++
	}
	id := fmt.Sprint(n.ids[m.account] % networkIDs)
	n.answer(m, part, a, "accepted", id)
	for range rapid.IntRange(0, 3).Draw(n.rt, "reports") {
		n.report(m.account, id, strings.TrimPrefix(m.dest, "+"))
	}
}

// answer sends the answer to an attempt on its way.
func (n *network) answer(m *mMessage, part int, a *mAttempt, status, id string) {
	words := map[string]string{"temporary": "status=0x58 temporary retry=1s", "refused": "status=0x0B", "accepted": "id=" + id}
	line := fmt.Sprintf("submit_resp %s %s", ref(m, part, slices.Index(m.parts[part].attempts, a)+1), words[status])
	n.air = append(n.air, func() {
		n.add(line)
		n.model.answered(m, part, a, status, id)
	})
}

// report sends a receipt on its way.
func (n *network) report(account, id, number string) {
	rt := n.rt
	r := mReceipt{account: account, word: pick(rt, "word", networkWords), src: number, class: pick(rt, "class", []string{"4", "4", "4", "0x20"})}
	if chance(rt, "another address", 6) {
		r.src = pick(rt, "address", []string{"INFO", "393331234567", "447700900123"})
	}
	if !chance(rt, "undated", 5) {
		r.date = n.now.Add(-time.Duration(rapid.IntRange(0, 60).Draw(rt, "hours before")) * time.Hour).Format("0601021504")
	}
	switch rapid.IntRange(0, 2).Draw(rt, "where") {
	case 0:
		r.text = id
	case 1:
		r.tlv = id
	default:
		r.tlv, r.text = id, id
	}
	if r.tlv != "" && chance(rt, "message_state", 2) {
		if r.tlvWord = r.word; chance(rt, "another one", 4) {
			r.tlvWord = pick(rt, "its word", networkWords[:7])
		}
		if networkStates[r.tlvWord] == 0 {
			r.tlvWord = ""
		}
	}
	n.air = append(n.air, func() { n.receive(r) })
}

// receive brings a receipt over any bind of its account.
func (n *network) receive(r mReceipt) {
	line := fmt.Sprintf("reception smsc=%s class=%s src=%s", n.smscOf(r.account), r.class, r.src)
	if r.tlv != "" {
		line += " tlv=" + r.tlv
	}
	if r.tlvWord != "" {
		line += fmt.Sprintf(" state=%d", networkStates[r.tlvWord])
	}
	words := []string{}
	for _, field := range [...][2]string{{"id", r.text}, {"done date", r.date}, {"stat", r.word}} {
		if field[1] != "" {
			words = append(words, field[0]+":"+field[1])
		}
	}
	n.add(line + fmt.Sprintf(" text=%q", strings.Join(append(words, "err:000"), " ")))
	n.model.reception(&r)
}

// lose gives up waiting for the answer to an attempt.
func (n *network) lose() {
	m := n.anyMessage()
	for part, p := range m.parts {
		for i, a := range p.attempts {
			if a.outcome != "unanswered" {
				continue
			}
			how := "cause=timeout"
			unsent := chance(n.rt, "not written", 5)
			if unsent {
				how = "not_written"
			}
			n.add(fmt.Sprintf("in_doubt %s %s", ref(m, part, i+1), how))
			n.model.lost(m, part, a, unsent)
			return
		}
	}
}

// stray brings what no submit of ours has to do with.
func (n *network) stray() {
	switch rapid.IntRange(0, 3).Draw(n.rt, "stray") {
	case 0:
		n.add("reception smsc=alpha garbage")
		n.model.reception(&mReceipt{account: "one", undecodable: true})
	case 1:
		n.add(`reception smsc=gamma class=0 text="hello"`)
		n.model.reception(&mReceipt{account: "gamma", notAReceipt: true})
	default:
		n.report(pick(n.rt, "account", []string{"one", "gamma"}), fmt.Sprint(rapid.IntRange(0, networkIDs).Draw(n.rt, "id")), "393331234567")
	}
}

// end takes what waits out of the queue, or asks that it is.
func (n *network) end() {
	m := n.anyMessage()
	switch rapid.IntRange(0, 7).Draw(n.rt, "end") {
	case 0, 1:
		n.add("expired " + m.id)
		n.model.expired(m)
	case 2, 3:
		n.add("operator cancel messages=" + m.id)
		n.model.cancelled(m)
	case 4:
		other, smsc := n.anyMessage(), pick(n.rt, "smsc", []string{"alpha", "beta", "gamma"})
		n.add(fmt.Sprintf("operator drop smsc=%s messages=%s,%s", smsc, m.id, other.id))
		n.model.dropped(smsc, m, other)
	case 5:
		n.add("operator " + pick(n.rt, "hold", []string{"hold", "release"}) + " smsc=" + m.smsc)
	case 6:
		n.add(fmt.Sprintf("cancel_resp %s/1/1 status=%d", m.id, rapid.IntRange(0, 1).Draw(n.rt, "status")))
	}
}

func (n *network) cutOff() {
	m := n.anyMessage()
	part := rapid.IntRange(0, len(m.parts)-1).Draw(n.rt, "part")
	n.add(fmt.Sprintf("cutoff %s/%d", m.id, part+1))
	n.model.cutoff(m, m.parts[part])
}

// told prints of the lab what model.String prints of the model.
func (l *lab) told() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(l.mem.Messages)) {
		m := l.mem.Messages[id]
		fmt.Fprintf(&b, "%s %s\n", id, m.State)
		for i := range m.Parts {
			p := &m.Parts[i]
			fmt.Fprintf(&b, "  part %d %s closed %v doubled %v queued %v\n", i+1, p.State, p.Closed(), p.MaybeDoubled(), p.Queued())
		}
		c := m.Counts
		for i, count := range []uint32{c.Duplicate, c.Repeat, c.Late, c.Stale, c.Unordered, c.Noted, c.Conflict} {
			fmt.Fprintf(&b, "  %s %d\n", modelVerdicts[i], count)
		}
	}
	var rows []string
	for _, row := range l.mem.Inbox {
		rows = append(rows, fmt.Sprintf("%s %v %s\n", row.Why, row.Receptions, row.WaitsFor))
	}
	slices.Sort(rows)
	b.WriteString(strings.Join(rows, ""))
	standing := map[uint64]statemachine.Correlation{}
	for _, d := range l.mem.Decisions {
		switch d.Correlation {
		case "":
		case statemachine.Matched, statemachine.NotAReceipt, statemachine.Undecodable:
			standing[d.Record] = d.Correlation
		default: // its row says why
			standing[d.Record] = "held"
		}
	}
	for seq := uint64(1); seq <= uint64(len(l.records)); seq++ {
		if what, ok := standing[seq]; ok {
			fmt.Fprintf(&b, "%d %s\n", seq, what)
		}
	}
	return b.String()
}

// TestFold_againstModel: two readings of the design, written apart, come to the same, record by record.
func TestFold_againstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := newNetwork(t, rt)
		for range rapid.IntRange(5, 70).Draw(rt, "records") {
			n.next()
			require.Equal(rt, n.model.String(), n.told())
		}
		requireConsistent(rt, n.lab)
	})
}
