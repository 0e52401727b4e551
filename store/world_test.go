package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// world draws facts as a daemon with bad luck brings them: few messages, few ids and few numbers, so
// that all meets all.
type world struct {
	messages []*lifeOf
}

type lifeOf struct {
	id    statemachine.ID
	smsc  string
	dest  string
	parts []int // attempts made, by part
}

var (
	smscs    = rapid.SampledFrom([]string{"alpha", "beta"})
	external = rapid.SampledFrom([]string{"1", "2", "A", "00", "5A3C99F1", ""})
	dests    = rapid.SampledFrom([]string{"393331234567", "393337654321", "4711"})
	stats    = rapid.SampledFrom([]string{"DELIVRD", "EXPIRED", "ENROUTE", "ACCEPTD", "UNDELIV", "NONSENSE"})
)

func (w *world) next(t *rapid.T) statemachine.Fact {
	kinds := []string{"accepted", "reception", "reception", "rules", "session", "retry", "hold"}
	if len(w.messages) > 0 {
		kinds = append(kinds, "sent", "sent", "sent", "submit_resp", "submit_resp", "submit_resp", "in_doubt", "expired", "cutoff", "query_resp",
			"cancel", "drop", "cancel_resp")
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	switch kind {
	case "accepted":
		return w.accepted(t)
	case "reception":
		return w.reception(t)
	case "rules":
		r := rulesOf(rapid.SampledFrom([]string{"1", "2"}).Draw(t, "parser"))
		return &r
	case "session":
		return &statemachine.SessionEvent{SMSC: "alpha", Session: "alpha/1", Event: "bound"}
	case "retry":
		return &statemachine.Retry{Row: statemachine.InboxKey("none")}
	case "hold":
		action := rapid.SampledFrom([]statemachine.Action{statemachine.ActionHold, statemachine.ActionRelease}).Draw(t, "action")
		return &statemachine.Operator{Action: action, By: "uid:0", Reason: "a reason", SMSC: smscs.Draw(t, "smsc")}
	}
	m := rapid.SampledFrom(w.messages).Draw(t, "message")
	part := rapid.IntRange(1, len(m.parts)).Draw(t, "part")
	attempt := max(1, m.parts[part-1]-rapid.IntRange(0, 1).Draw(t, "back"))
	switch kind {
	case "sent":
		m.parts[part-1]++
		return &statemachine.Sent{
			Message: m.id, Part: part, Attempt: m.parts[part-1], SMSC: m.smsc, Session: m.smsc + "/1", SequenceNumber: 9,
			PDU: requestPDU(submitSM, 0, "ACME", m.dest, "secret text"),
		}
	case "submit_resp":
		status := rapid.SampledFrom([]uint32{0, 0, 0, 0x58, 0x0B}).Draw(t, "status")
		r := &statemachine.SubmitResp{Message: m.id, Part: part, Attempt: attempt, SMSC: m.smsc, CommandStatus: status}
		if status == 0 {
			r.MessageID = external.Draw(t, "id")
		} else if r.Temporary = status == 0x58; r.Temporary {
			r.RetryAt = began.Add(time.Minute)
		}
		return r
	case "in_doubt":
		d := &statemachine.AttemptInDoubt{Message: m.id, Part: part, Attempt: attempt, SMSC: m.smsc, Cause: "cut", NotWritten: rapid.Bool().Draw(t, "not written")}
		if rapid.Bool().Draw(t, "in turn") {
			d.RetryAt = began
		}
		return d
	case "expired":
		return &statemachine.QueueExpired{Message: m.id}
	case "cancel":
		return &statemachine.Operator{Action: statemachine.ActionCancel, By: "uid:0", Messages: []statemachine.ID{m.id}}
	case "drop":
		other := rapid.SampledFrom(w.messages).Draw(t, "other")
		return &statemachine.Operator{Action: statemachine.ActionDrop, By: "uid:0", SMSC: m.smsc, Messages: []statemachine.ID{m.id, other.id, "none"}}
	case "cancel_resp":
		return &statemachine.CancelResp{Message: m.id, Part: part, Attempt: attempt, SMSC: m.smsc, CommandStatus: uint32(rapid.IntRange(0, 1).Draw(t, "status"))}
	case "cutoff":
		return &statemachine.Cutoff{Message: m.id, Part: part}
	}
	return &statemachine.QueryResp{Message: m.id, Part: part, Attempt: attempt, SMSC: m.smsc, Account: m.smsc, MessageState: byte(rapid.IntRange(0, 9).Draw(t, "state"))}
}

func (w *world) accepted(t *rapid.T) statemachine.Fact {
	m := &lifeOf{smsc: smscs.Draw(t, "smsc"), dest: dests.Draw(t, "dest"), parts: make([]int, rapid.IntRange(1, 2).Draw(t, "parts"))}
	m.id = statemachine.ID(fmt.Sprintf("M%03d", len(w.messages)))
	if rapid.IntRange(0, 9).Draw(t, "early") == 0 {
		m.id = "A" + m.id // an id that sorts before the others
	}
	w.messages = append(w.messages, m)
	a := message(string(m.id), "", "secret text")
	a.SMSC, a.Account, a.Priority = m.smsc, m.smsc, byte(rapid.IntRange(0, 3).Draw(t, "priority"))
	a.To, a.E164, a.Dest.Addr = m.dest, "", m.dest
	for len(a.Parts) < len(m.parts) {
		a.Parts = append(a.Parts, a.Parts[0])
	}
	return a
}

func (w *world) reception(t *rapid.T) statemachine.Fact {
	r := &statemachine.Reception{SMSC: smscs.Draw(t, "smsc"), Session: "s/1"}
	r.Account = r.SMSC
	switch dest := dests.Draw(t, "dest"); rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		r.PDU = rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "garbage")
	case 1:
		r.PDU = requestPDU(deliverSM, 0, dest, "ACME", "secret text")
	case 2:
		r.PDU = requestPDU(deliverSM, 4, dest, "ACME", "stat:DELIVRD text:secret text")
	case 3:
		r.PDU = receiptPDU(external.Draw(t, "id"), stats.Draw(t, "stat"), dest, "secret text", 0x20)
	default:
		r.PDU = receiptPDU(external.Draw(t, "id"), stats.Draw(t, "stat"), dest, "secret text", 4)
	}
	r.Length = uint32(len(r.PDU))
	return r
}

// clock goes on at each look, and sometimes back.
func clock(t *rapid.T) func() time.Time {
	ticks := rapid.SliceOfN(rapid.IntRange(-10, 200), 1, 20).Draw(t, "ticks")
	now, n := began, 0
	return func() time.Time {
		now = now.Add(time.Duration(ticks[n%len(ticks)]) * time.Second)
		n++
		return now
	}
}

// bring appends a fact as the daemon would.
func (r *running) bring(fact statemachine.Fact) {
	if a, ok := fact.(*statemachine.MessageAccepted); ok {
		got, err := r.Accept(context.Background(), a)
		require.NoError(r.t, err)
		require.Equal(r.t, a.Message, got.Message)
		return
	}
	r.append(fact)
}

// dump gives all that a projection holds.
func dump(t tb, s *Store) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, s.view(func(tx *stateTx) error {
		ids, err := tablesIn(tx)
		for _, id := range ids {
			if err == nil {
				err = tx.scan(id, nil, nil, false, func(key, value []byte) error {
					all[fmt.Sprintf("%s/%d/%x", id.name(), id.part, key)] = fmt.Sprintf("%x", value)
					return nil
				})
			}
		}
		return err
	}))
	return all
}

// same compares dumps, and tells only what differs.
func same(t tb, want, got map[string]string) {
	t.Helper()
	differ := make(map[string][2]string)
	for key := range want {
		if want[key] != got[key] {
			differ[key] = [2]string{want[key], got[key]}
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			differ[key] = [2]string{"", got[key]}
		}
	}
	require.Empty(t, differ)
}

func TestStore_againstMemory(t *testing.T) {
	n := 0
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n++
		cfg := testConfig(filepath.Join(base, fmt.Sprint(n)))
		cfg.SegmentRecords = rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "segment")
		cfg.PartitionMessages = rapid.SampledFrom([]int{1, 2, 50_000}).Draw(t, "partition")
		cfg.Now = clock(t)
		s := start(t, cfg)
		var w world
		for range rapid.IntRange(1, 40).Draw(t, "facts") {
			s.bring(w.next(t))
			switch rapid.IntRange(0, 19).Draw(t, "then") {
			case 0:
				require.NoError(t, s.stop())
				s = start(t, cfg)
			case 1, 2, 3:
				require.NoError(t, s.Sync(context.Background()))
			}
		}
		agrees(t, s.Store)
		many := dump(t, s.Store)
		s.check()

		// State made in one batch, in memory and on disk, is the same.
		again := filepath.Join(base, fmt.Sprint(n, "again"))
		copyDir(t, cfg.Dir, again)
		require.NoError(t, os.Remove(filepath.Join(again, stateFile)))
		cfg.Dir = again
		r, err := OpenReadOnly(cfg)
		require.NoError(t, err)
		same(t, many, dump(t, r))
		require.NoError(t, r.Close())
		s = start(t, cfg)
		require.NoError(t, s.Sync(context.Background()))
		same(t, many, dump(t, s.Store))
		s.check()
	})
}
