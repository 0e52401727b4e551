package statemachine_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/receipt"
	"esmed/statemachine"
)

// world draws histories in which ids, destinations and accounts collide.
type world struct {
	*lab
	rt *rapid.T
}

const worldRules = `rules alpha account=one client_ref ; beta account=one in_doubt=resend user_message_reference ids=fold_case ; ` +
	`gamma ids=hex_to_dec address_check=flag accepted=final client_ref`

var (
	smscs    = []string{"alpha", "beta", "gamma"}
	ids      = []string{"7", "8", "a", "A", "10", "0", "null", ""}
	dests    = []string{"+393331234567", "+393331234568", "4711"}
	messages = []string{"M1", "M2", "M3", "M4"}
	asks     = []string{"each", "last", "first", "none", "failure"}
	stats    = []string{"DELIVRD", "UNDELIV", "EXPIRED", "ENROUTE", "ACCEPTD", "UNKNOWN", "ODD", ""}
	dates    = []string{"2611300901", "2611300902", "2611300903", "2610010900", "soon"}
)

func pick(rt *rapid.T, name string, of []string) string { return rapid.SampledFrom(of).Draw(rt, name) }

func chance(rt *rapid.T, name string, in int) bool { return rapid.IntRange(1, in).Draw(rt, name) == 1 }

func newWorld(t *testing.T, rt *rapid.T) *world {
	w := &world{lab: newLab(t), rt: rt}
	w.add(worldRules)
	return w
}

func (w *world) add(line string) statemachine.Effects {
	w.rt.Log(line)
	return w.apply(w.record(line))
}

// part draws a part of a message.
func (w *world) part() string {
	return fmt.Sprintf("%s/%d", pick(w.rt, "message", messages), rapid.IntRange(1, 2).Draw(w.rt, "part"))
}

// made is how many attempts a part has.
func (w *world) made(part string) int {
	id, number, _ := strings.Cut(part, "/")
	m := w.mem.Messages[statemachine.ID(id)]
	if m == nil || m.Part(int(number[0]-'0')) == nil {
		return 0
	}
	return len(m.Part(int(number[0] - '0')).Attempts)
}

// attempt draws an attempt, mostly the last one made.
func (w *world) attempt() string {
	part := w.part()
	n := w.made(part)
	if n > 1 && chance(w.rt, "earlier", 3) {
		n--
	}
	return fmt.Sprintf("%s/%d smsc=%s", part, n, w.smscOf(part))
}

func (w *world) smscOf(part string) string {
	id, _, _ := strings.Cut(part, "/")
	if m := w.mem.Messages[statemachine.ID(id)]; m != nil {
		return m.SMSC
	}
	return "alpha"
}

func (w *world) accept(id string) string {
	rt := w.rt
	return fmt.Sprintf("accepted %s smsc=%s to=%s parts=%d asks=%s in_doubt=%s", id, pick(rt, "smsc", smscs), pick(rt, "to", dests),
		rapid.IntRange(1, 2).Draw(rt, "parts"), pick(rt, "asks", asks), pick(rt, "in_doubt", []string{"hold", "resend"}))
}

// line draws the next record.
func (w *world) line() string {
	rt := w.rt
	switch rapid.IntRange(0, 15).Draw(rt, "what") {
	case 0:
		return w.accept(pick(rt, "message", messages))
	case 1, 2, 3, 4:
		part := w.part()
		return fmt.Sprintf("sent %s/%d smsc=%s umr=%d%s", part, w.made(part)+1, w.smscOf(part), rapid.IntRange(0, 2).Draw(rt, "umr"),
			pick(rt, "valid", []string{"", " valid=2h"}))
	case 5, 6, 7:
		return fmt.Sprintf("submit_resp %s id=%s", w.attempt(), pick(rt, "id", ids))
	case 8:
		return fmt.Sprintf("submit_resp %s %s", w.attempt(), pick(rt, "refusal", []string{"status=0x58 temporary retry=1s", "status=0x0B"}))
	case 9:
		return fmt.Sprintf("in_doubt %s %s", w.attempt(), pick(rt, "cause", []string{"cause=timeout", "not_written"}))
	case 10:
		return pick(rt, "end", []string{
			"expired " + pick(rt, "message", messages), "cutoff " + w.part(),
			w.now.Add(73*time.Hour).Format(time.DateTime) + " cutoff " + w.part(),
		})
	case 11:
		return fmt.Sprintf("query_resp %s state=%d", w.attempt(), rapid.IntRange(0, 9).Draw(rt, "state"))
	case 12:
		if chance(rt, "rules", 4) {
			return strings.Replace(worldRules, "alpha", "alpha window="+pick(rt, "window", []string{"1h", "72h", "2000h"}), 1)
		}
		if chance(rt, "retention", 4) {
			return w.retained()
		}
		for _, key := range slices.Sorted(maps.Keys(w.mem.Inbox)) {
			return fmt.Sprintf("retry %d", w.mem.Inbox[key].Receptions[0])
		}
		return "retry 1"
	case 13:
		if chance(rt, "withdrawn", 2) {
			return w.withdrawn()
		}
	}
	return w.reception()
}

// withdrawn draws what a person does not want sent (any more), or for now.
func (w *world) withdrawn() string {
	rt := w.rt
	switch rapid.IntRange(0, 5).Draw(rt, "withdrawn") {
	case 0:
		return fmt.Sprintf("operator drop smsc=%s messages=%s,%s", pick(rt, "smsc", smscs), pick(rt, "message", messages), pick(rt, "message", messages))
	case 1:
		return fmt.Sprintf("operator %s smsc=%s", pick(rt, "hold", []string{"hold", "release"}), pick(rt, "smsc", smscs))
	case 2:
		return fmt.Sprintf("cancel_resp %s status=%s", w.attempt(), pick(rt, "status", []string{"0", "0x11"}))
	}
	return "operator cancel reason=because messages=" + pick(rt, "message", messages)
}

// retained draws what retention closes or drops, but for whole messages. A doubt stays somebody's to decide.
func (w *world) retained() string {
	switch rapid.IntRange(0, 2).Draw(w.rt, "drop") {
	case 0:
		for _, key := range slices.Sorted(maps.Keys(w.mem.Inbox)) {
			return fmt.Sprintf("retention inbox=%d", w.mem.Inbox[key].Receptions[0])
		}
	case 1:
		for _, id := range slices.Sorted(maps.Keys(w.mem.Exceptions)) {
			if w.mem.Exceptions[id].Kind != statemachine.KindInDoubt {
				return "retention exceptions=" + id
			}
		}
	}
	return "retention close=" + pick(w.rt, "message", messages)
}

func (w *world) reception() string {
	rt := w.rt
	if chance(rt, "garbage", 12) {
		return "reception garbage"
	}
	line := fmt.Sprintf("reception smsc=%s class=%s src=%s dst=%s", pick(rt, "smsc", smscs), pick(rt, "class", []string{"4", "4", "4", "0x20", "0", "8"}),
		strings.TrimPrefix(pick(rt, "src", dests), "+"), pick(rt, "dst", []string{"ACME", "15550100"}))
	if chance(rt, "tlv", 2) {
		line += " tlv=" + pick(rt, "id", ids)
	}
	if chance(rt, "state", 3) {
		line += fmt.Sprintf(" state=%d", rapid.IntRange(0, 9).Draw(rt, "state"))
	}
	if chance(rt, "ref", 4) {
		line += " ref=" + pick(rt, "ref", []string{"M1", "M2", "M3/1", "M3/2", "M4/9", "nobody"})
	}
	if chance(rt, "umr", 3) {
		line += " umr=1"
	}
	return line + fmt.Sprintf(` text="id:%s done date:%s stat:%s err:000"`, pick(rt, "id", ids), pick(rt, "date", dates), pick(rt, "stat", stats))
}

func TestFold_randomHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rt)
		for _, id := range messages[:2] {
			w.add(w.accept(id))
		}
		for range rapid.IntRange(10, 60).Draw(rt, "records") {
			before := maps.Clone(w.mem.Messages)
			printed := map[statemachine.ID]string{}
			for id, m := range before {
				printed[id] = fmt.Sprintf("%+v", *m)
			}
			line := w.line()
			w.add(line)
			for id, m := range before {
				require.Equal(rt, printed[id], fmt.Sprintf("%+v", *m), "a step modified a value it was given")
				requireAbsorbed(rt, m, w.mem.Messages[id])
			}
			requireConsistent(rt, w.lab)
		}
		for _, m := range w.mem.Messages {
			requireChain(rt, w.lab, m)
		}
		requireReplays(rt, w)
	})
}

// requireAbsorbed: final states stay, of the message and of each part.
func requireAbsorbed(rt *rapid.T, was, is *statemachine.Message) {
	if was.Final() {
		require.Equal(rt, was.State, is.State, "a final message moved")
		require.True(rt, is.Final(), "a final message opened again")
		require.Equal(rt, was.FinalisedAt, is.FinalisedAt)
	}
	for i := range was.Parts {
		if was.Parts[i].Final() {
			require.Equal(rt, was.Parts[i].State, is.Parts[i].State, "a final part moved")
			require.Equal(rt, was.Parts[i].Reported, is.Parts[i].Reported)
		}
		require.GreaterOrEqual(rt, len(is.Parts[i].Attempts), len(was.Parts[i].Attempts), "an attempt was lost")
	}
}

// requireConsistent checks that all that a Memory holds tells the same story.
func requireConsistent(rt *rapid.T, l *lab) {
	tallies := map[statemachine.TallyKey]statemachine.Tally{}
	queue := map[statemachine.QueueEntry]bool{}
	unanswered := 0
	for _, m := range l.mem.Messages {
		key := statemachine.TallyKey{Hour: m.Hour(), SMSC: m.SMSC}
		tallies[key] = tallies[key].Add(m.Tally())
		require.Equal(rt, m.Deciding().State, m.State)
		require.Equal(rt, !m.FinalisedAt.IsZero(), m.Final())
		require.NotEmpty(rt, m.Reason(statusName))
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Queued() {
				queue[statemachine.QueueEntry{SMSC: m.SMSC, Priority: m.Priority, NotBefore: p.NotBefore, Seq: p.QueuedSeq, Message: m.ID, Part: p.Number}] = true
				require.False(rt, p.Final(), "a final part is queued")
			}
			for _, a := range p.Attempts {
				if a.Outcome == statemachine.Unanswered {
					unanswered++
				}
			}
			requireFailedOnly(rt, p)
			requireDoubt(rt, l, m, p)
		}
	}
	require.Equal(rt, tallies, l.mem.Tallies, "the sum of the changes is not the sum of the messages")
	require.Equal(rt, queue, l.mem.Queue)
	require.Equal(rt, unanswered, l.unanswered())
	requireWindows(rt, l)
	requireAccounted(rt, l)
}

// requireWindows: what waits for an end, and what ended in silence, follows from the messages as they are.
func requireWindows(rt *rapid.T, l *lab) {
	windows := map[statemachine.WindowChange]bool{}
	overdue := map[statemachine.OverdueKey]int64{}
	for _, m := range l.mem.Messages {
		for i := range m.Parts {
			p := &m.Parts[i]
			doubt := p.State == statemachine.InDoubt
			waits := !p.Closed() && (p.State == statemachine.Submitted || p.State.Reported())
			switch {
			case p.State == statemachine.Unreported:
				overdue[statemachine.OverdueKey{Minute: p.WindowEnd.UTC().Truncate(time.Minute), SMSC: m.SMSC}]++
			case doubt || waits:
				require.False(rt, p.WindowEnd.IsZero(), "a part waits for ever")
				windows[statemachine.WindowChange{
					SMSC: m.SMSC, At: p.WindowEnd, Doubt: doubt, Ref: statemachine.AttemptRef{Message: m.ID, Part: p.Number},
				}] = true
			default:
				require.Zero(rt, p.WindowEnd)
			}
		}
	}
	require.Equal(rt, windows, l.mem.Windows)
	require.Equal(rt, overdue, l.mem.Overdue)
}

func (l *lab) unanswered() int {
	n := 0
	seen := map[string]bool{}
	for _, m := range l.mem.Messages {
		dest := cmp.Or(m.E164, m.Dest.Addr)
		if seen[m.Account+dest] {
			continue
		}
		seen[m.Account+dest] = true
		refs, _ := l.mem.Unanswered(m.Account, dest)
		n += len(refs)
	}
	return n
}

// requireFailedOnly: a part fails only when no attempt of it may have arrived. What comes after the part
// had failed changes nothing any more.
func requireFailedOnly(rt *rapid.T, p *statemachine.Part) {
	if p.State != statemachine.Failed {
		return
	}
	for _, a := range p.Attempts {
		require.True(rt, !a.MayHaveArrived() || max(a.Seq, a.AnswerSeq) > p.BasisSeq, "a failed part may have arrived")
	}
}

// requireDoubt: a doubt that nobody resolves is somebody's to decide.
func requireDoubt(rt *rapid.T, l *lab, m *statemachine.Message, p *statemachine.Part) {
	arrived := false
	for _, a := range p.Attempts {
		arrived = arrived || a.Outcome == statemachine.AcceptedBy || a.Outcome == statemachine.Arrived
	}
	if p.State != statemachine.InDoubt || arrived {
		return
	}
	for _, id := range m.Exceptions {
		if x := l.mem.Exceptions[id]; x.Kind == statemachine.KindInDoubt && x.Part == p.Number && x.Status == statemachine.StatusOpen {
			return
		}
	}
	for _, x := range l.mem.Exceptions {
		if x.Kind == statemachine.KindInDoubt && x.Message == m.ID && x.Part == p.Number && x.Status == statemachine.StatusDismissed {
			return
		}
	}
	require.Fail(rt, "a part in doubt has no exception")
}

// requireChain: the history of a message can be walked back from its last decision, and misses none.
func requireChain(rt *rapid.T, l *lab, m *statemachine.Message) {
	byPos := map[statemachine.DecisionPos]statemachine.Decision{}
	n := 0
	for _, d := range l.mem.Decisions {
		byPos[d.Pos] = d
		if d.Message == m.ID {
			n++
		}
	}
	for pos := m.LastDecision; pos != (statemachine.DecisionPos{}); pos = byPos[pos].Previous {
		require.Equal(rt, m.ID, byPos[pos].Message)
		n--
	}
	require.Zero(rt, n)
}

// requireAccounted: every reception is matched, or in the inbox once (or was there until retention dropped
// it), or an exception, or no evidence.
func requireAccounted(rt *rapid.T, l *lab) {
	standing := map[uint64]statemachine.Decision{}
	perPart := map[string]int{}
	for _, d := range l.mem.Decisions {
		if d.Correlation == "" || d.By == statemachine.ByRequest {
			continue
		}
		standing[d.Record] = d
		if d.Correlation == statemachine.Matched {
			key := fmt.Sprintf("%d %s/%d", d.Record, d.Message, d.Part)
			if _, person := l.mem.Records[d.Pos.Seq].Fact.(*statemachine.Operator); !person {
				perPart[key]++
			}
			require.LessOrEqual(rt, perPart[key], 1, "a reception was judged twice for a part: %s", key)
			require.NotEmpty(rt, d.Verdict)
		}
	}
	held := map[uint64]int{}
	for _, row := range l.mem.Inbox {
		require.True(rt, slices.IsSorted(row.Receptions))
		for _, seq := range row.Receptions {
			held[seq]++
			require.Equal(rt, row.Account, l.mem.Records[seq].Fact.(*statemachine.Reception).Account)
		}
	}
	for seq, rec := range l.mem.Records {
		if rec.Fact.Type() != statemachine.TypeReception {
			continue
		}
		d, ok := standing[seq]
		require.True(rt, ok, "no decision about reception %d", seq)
		switch d.Correlation {
		case statemachine.Matched, statemachine.NotAReceipt, statemachine.Undecodable:
			require.Zero(rt, held[seq], "reception %d is %s and held", seq, d.Correlation)
		default:
			if l.mem.Records[d.Pos.Seq].Fact.Type() == statemachine.TypeRetention {
				require.Zero(rt, held[seq], "reception %d is dropped and held", seq)
				continue
			}
			require.Equal(rt, 1, held[seq], "reception %d is %s and in %d rows", seq, d.Correlation, held[seq])
		}
	}
}

// reversed is a View that lists all things backwards.
type reversed struct{ *statemachine.Memory }

func backwards[T any](list []T, err error) ([]T, error) {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list, err
}

func (r reversed) Attempts(account string, key receipt.Key) ([]statemachine.AttemptRef, error) {
	return backwards(r.Memory.Attempts(account, key))
}

func (r reversed) Held(account string, key receipt.Key) ([]*statemachine.InboxRow, error) {
	return backwards(r.Memory.Held(account, key))
}

func (r reversed) Unanswered(account, dest string) ([]statemachine.AttemptRef, error) {
	return backwards(r.Memory.Unanswered(account, dest))
}

func (r reversed) HeldFor(account, dest string) ([]*statemachine.InboxRow, error) {
	return backwards(r.Memory.HeldFor(account, dest))
}

// lending is a View whose messages a step may change in place.
type lending struct{ *statemachine.Memory }

func (l lending) Message(id statemachine.ID) (*statemachine.Message, bool, error) {
	m, _, err := l.Memory.Message(id)
	return m, true, err
}

// requireLends: steps that change messages in place give the same, and what has no effect changes none.
func requireLends(rt *rapid.T, w *world) {
	mem := statemachine.NewMemory(statemachine.Fold{Decode: delivery})
	var eff statemachine.Effects
	for i, rec := range w.records {
		require.NoError(rt, mem.ApplySeenAs(lending{mem}, rec, &eff))
		require.Equal(rt, w.effects[i], kept(&eff))
	}
	require.Equal(rt, w.mem.Messages, mem.Messages)
}

// requireReplays: the same records give the same, in whatever order the View lists things.
func requireReplays(rt *rapid.T, w *world) {
	requireLends(rt, w)
	again := statemachine.NewMemory(statemachine.Fold{Decode: delivery})
	var eff statemachine.Effects
	for i, rec := range w.records {
		require.NoError(rt, again.Fold.Step(reversed{again}, rec, &eff))
		require.Equal(rt, w.effects[i], kept(&eff))
		require.NoError(rt, again.Apply(rec, &eff))
	}
}

// TestFold_responseAnywhere: wherever the response stands among the receipts, the end is equal.
func TestFold_responseAnywhere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.IntRange(1, 3).Draw(rt, "parts")
		shared := rapid.Bool().Draw(rt, "shared")
		recycled, busy := rapid.Bool().Draw(rt, "recycled"), rapid.Bool().Draw(rt, "busy")
		rules := "rules alpha" + pick(rt, "rule", []string{"", " accepted=final", " state=text"})
		ask := pick(rt, "asks", asks)
		var receipts []string
		for range rapid.IntRange(1, 8).Draw(rt, "receipts") {
			id := 1
			if !shared {
				id = rapid.IntRange(1, parts).Draw(rt, "id")
			}
			line := fmt.Sprintf(`reception class=%s text="id:%d done date:%s stat:%s err:000"`,
				pick(rt, "class", []string{"4", "4", "0x20"}), id, pick(rt, "date", dates), pick(rt, "stat", stats))
			if chance(rt, "state", 3) {
				line = strings.Replace(line, "text=", fmt.Sprintf("state=%d text=", rapid.IntRange(0, 9).Draw(rt, "state")), 1)
			}
			receipts = append(receipts, line)
		}
		end := func(at int) string {
			l := newLab(t)
			l.play(rules)
			if recycled { // an older message had the id, and is closed and out of its window
				l.play("2026-11-20 09:00:00 accepted M0\nsent M0\nsubmit_resp M0 id=1\nreception text=\"id:1 stat:DELIVRD\"\n# later")
				l.now = began
			}
			if busy { // another submit to the destination is unanswered all the time
				l.play("accepted M9\nsent M9")
			}
			l.play(fmt.Sprintf("accepted M1 parts=%d asks=%s", parts, ask))
			for i := range parts {
				l.play(fmt.Sprintf("sent M1/%d", i+1))
			}
			respond := func(i int) {
				id := i
				if shared {
					id = 1
				}
				l.play(fmt.Sprintf("submit_resp M1/%d id=%d", i, id))
			}
			for i := 2; i <= parts; i++ {
				respond(i)
			}
			index := map[uint64]int{}
			for i := range len(receipts) + 1 {
				if i == at {
					respond(1)
				}
				if i < len(receipts) {
					l.play(receipts[i])
					index[uint64(len(l.effects))] = i
				}
			}
			if busy {
				l.play("submit_resp M9 id=99")
			}
			return l.ending(index)
		}
		want := end(0)
		for at := 1; at <= len(receipts); at++ {
			require.Equal(rt, want, end(at), "the response came after receipt %d", at)
		}
	})
}

// ending prints all that may not depend on where the response stood. index gives each reception's number
// among the receptions.
func (l *lab) ending(index map[uint64]int) string {
	var b strings.Builder
	m := l.message("M1")
	fmt.Fprintf(&b, "%s final %v closed %v %+v\n", m.State, m.Final(), m.Closed(), m.Counts)
	for i := range m.Parts {
		p := &m.Parts[i]
		fmt.Fprintf(&b, "part %d %s by %d %s", p.Number, p.State, index[p.Reported.Seq], p.Basis)
		for _, e := range p.Events {
			fmt.Fprintf(&b, " %d:%d", index[e.Seq], e.Count)
		}
		b.WriteByte('\n')
	}
	verdicts := []string{}
	for _, d := range l.mem.Decisions {
		if d.Correlation == statemachine.Matched && d.Verdict != statemachine.VerdictDuplicate {
			verdicts = append(verdicts, fmt.Sprintf("%d/%d %s %s", index[d.Record], d.Part, d.Verdict, d.To))
		}
	}
	slices.Sort(verdicts)
	kinds := []string{}
	for _, x := range l.mem.Exceptions {
		kinds = append(kinds, fmt.Sprintf("%s %s %d", x.Kind, x.Status, x.Count))
	}
	slices.Sort(kinds)
	fmt.Fprintf(&b, "%v\n%v\ninbox %d", verdicts, kinds, len(l.mem.Inbox))
	return b.String()
}

// TestFold_permutedReceipts: however receipts are ordered and repeated, no lock opens and none is lost.
func TestFold_permutedReceipts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var receipts []string
		finals := 0
		for range rapid.IntRange(1, 6).Draw(rt, "receipts") {
			stat := pick(rt, "stat", stats)
			if slices.Contains([]string{"DELIVRD", "UNDELIV", "EXPIRED"}, stat) {
				finals++
			}
			receipts = append(receipts, fmt.Sprintf(`reception text="id:7 done date:%s stat:%s"`, pick(rt, "date", dates), stat))
		}
		receipts = append(receipts, rapid.SliceOfN(rapid.SampledFrom(receipts), 0, 4).Draw(rt, "again")...)
		receipts = rapid.Permutation(receipts).Draw(rt, "order")
		l := play(t, "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=7")
		var locked statemachine.State
		for i, line := range receipts {
			l.play(line)
			m := l.message("M1")
			require.EqualValues(rt, i+1, m.Counts.Receipts)
			if locked != statemachine.NoState {
				require.Equal(rt, locked, m.State)
			}
			if m.Final() {
				locked = m.State
			}
		}
		require.Equal(rt, finals > 0, locked != statemachine.NoState, "a final receipt was lost")
	})
}
