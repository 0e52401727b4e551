package daemon_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/smpp/smpptest"
)

// me is who decides in these tests.
var me = fmt.Sprintf("uid:%d", os.Getuid())

// resolve has a decision recorded and gives what came of it.
func (s *system) resolve(r control.Resolve) (all []control.Resolved, sum control.ResolveSummary) {
	s.t.Helper()
	sum, err := s.api.Resolve(s.ctx, r, func(one control.Resolved) error {
		all = append(all, one)
		return nil
	})
	require.NoError(s.t, err)
	return all, sum
}

// decide decides one exception and expects that to have an effect.
func (s *system) decide(id, action string, with control.Resolve) control.Resolved {
	s.t.Helper()
	with.IDs, with.Action = []string{id}, action
	all, sum := s.resolve(with)
	require.Equal(s.t, control.ResolveSummary{Resolved: 1}, sum, "%+v", all)
	require.True(s.t, all[0].OK)
	return all[0]
}

func (s *system) exception(id string) control.ExceptionDetail {
	s.t.Helper()
	x, err := s.api.Exception(s.ctx, id)
	require.NoError(s.t, err)
	return x
}

// only is the one open exception.
func (s *system) only(kind string) control.Exception {
	s.t.Helper()
	open := s.exceptions()
	require.Len(s.t, open, 1)
	require.Equal(s.t, kind, open[0].Kind)
	return open[0]
}

// unanswered is an SMSC that never answers a submit_sm, and has it all the same.
func unanswered(_ smpptest.Submit, a smpptest.Action) smpptest.Action {
	a.Never, a.Receipts = true, nil
	return a
}

// inDoubt submits a message whose answer is lost, and gives it with the exception about it.
func inDoubt(t *testing.T) (s *system, id string, x control.Exception) {
	s = newSystem(t, smpptest.Config{OnSubmit: unanswered}, func(c *config.Config) {
		c.SMSCs[0].ResponseTimeout = 50 * time.Millisecond
	})
	id = s.submit(number(1))
	s.awaitState(id, "IN_DOUBT")
	s.smsc.Change(func(c *smpptest.Config) { c.OnSubmit = nil })
	return s, id, s.only("in_doubt")
}

func TestResolve_aDoubtIsEndedAsThePersonSays(t *testing.T) {
	t.Run("it never left: it is sent again and not doubled", func(t *testing.T) {
		s, id, x := inDoubt(t)
		r := s.decide(x.ID, "not_sent", control.Resolve{Reason: "the SMSC's log does not have it"})
		require.Equal(t, []control.Moved{{Message: id, Part: 1, From: "IN_DOUBT", To: "QUEUED"}}, r.Moves)
		m := s.awaitState(id, "DELIVERED")
		require.False(t, m.MaybeDoubled)
		require.Len(t, m.Parts[0].Attempts, 2)
		res := s.exception(x.ID).Resolution
		require.Equal(t, "not_sent", res.Action)
		require.Equal(t, me, res.By)
		require.Equal(t, "the SMSC's log does not have it", res.Reason)
		require.Equal(t, r.Record, res.Record)
	})
	t.Run("it is sent once more, and may be doubled", func(t *testing.T) {
		s, id, x := inDoubt(t)
		s.decide(x.ID, "resend", control.Resolve{})
		m := s.awaitState(id, "DELIVERED")
		require.True(t, m.MaybeDoubled)
	})
	t.Run("the SMSC accepted it: a receipt that waits for that id is its own", func(t *testing.T) {
		s, id, x := inDoubt(t)
		early := s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "DELIVRD")
		s.smsc.Deliver(early)
		s.drained()
		require.Len(t, s.inbox(), 1)
		s.decide(x.ID, "accepted", control.Resolve{MessageID: "1"})
		m := s.message(id)
		require.Equal(t, "DELIVERED", m.State)
		require.Empty(t, s.inbox())
		require.Empty(t, m.Exceptions)
	})
	t.Run("nothing is to be done: it stays in doubt, and off the list", func(t *testing.T) {
		s, id, x := inDoubt(t)
		require.Equal(t, "dismissed", s.decide(x.ID, "dismiss", control.Resolve{}).Status)
		require.Equal(t, "IN_DOUBT", s.message(id).State)
		require.Empty(t, s.exceptions())
	})
	t.Run("what was decided is taken back", func(t *testing.T) {
		s, id, x := inDoubt(t)
		s.decide(x.ID, "accepted", control.Resolve{MessageID: "77"})
		require.Equal(t, "SUBMITTED", s.message(id).State)
		require.Equal(t, "open", s.decide(x.ID, "undo", control.Resolve{Reason: "wrong line"}).Status)
		require.Equal(t, "IN_DOUBT", s.message(id).State)
		require.Equal(t, x.ID, s.only("in_doubt").ID)
	})
}

func TestResolve_theSecondFinalIsTakenAndGivenBack(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{Contradictions: 1}}, nil)
	id := s.submit(number(1))
	s.awaitState(id, "DELIVERED")
	s.drained()
	x := s.only("conflict")
	s.decide(x.ID, "take", control.Resolve{Reason: "alpha confirmed it"})
	m := s.message(id)
	require.Equal(t, "UNDELIVERABLE", m.State)
	require.Equal(t, "operator", m.Basis)
	require.Contains(t, m.Reason, me)
	require.Empty(t, m.Exceptions)

	again, sum := s.resolve(control.Resolve{IDs: []string{x.ID, "x999999", "i999999"}, Action: "take"})
	require.Equal(t, control.ResolveSummary{Failed: 3}, sum, "it is resolved, and the others are not there")
	for _, one := range again {
		require.False(t, one.OK)
		require.NotEmpty(t, one.Detail)
		require.Zero(t, one.Record, "what can have no effect is not recorded")
	}

	s.decide(x.ID, "undo", control.Resolve{})
	require.Equal(t, "DELIVERED", s.message(id).State)
	require.Equal(t, x.ID, s.only("conflict").ID)
	var decided []string
	for _, e := range s.history(id) {
		if e.Operator != nil {
			require.Equal(t, me, e.Operator.By)
			decided = append(decided, e.Operator.Action)
		}
	}
	require.Equal(t, []string{"take", "undo"}, decided, "both stay in the message's history")
}

func TestResolve_aReceiptWithoutAnOwnerIsAssigned(t *testing.T) {
	s, id, doubt := inDoubt(t)
	stranger := s.smsc.Receipt(s.smsc.Submits()[0], smpptest.Final, "DELIVRD")
	s.smsc.Deliver(stranger)
	s.drained()
	row := s.inbox()[0]

	x := s.exception(row.ID)
	require.Equal(t, "unmatched", x.Kind)
	require.Len(t, x.Events, 1)
	require.Len(t, x.InDoubt, 1, "the submit to the same destination that is in doubt stands beside it")
	require.Equal(t, id, x.InDoubt[0].Message)
	require.Equal(t, doubt.ID, x.InDoubt[0].Exception)
	require.Equal(t, "IN_DOUBT", s.message(id).State, "and nothing is assigned by that")

	r := s.decide(row.ID, "assign", control.Resolve{Target: id})
	require.NotEmpty(t, r.Exception, "that undo takes")
	m := s.message(id)
	require.Equal(t, "DELIVERED", m.State)
	require.Empty(t, s.inbox())
	require.Empty(t, s.exceptions(), "the receipt ended the doubt")

	s.decide(r.Exception, "undo", control.Resolve{})
	require.Equal(t, "IN_DOUBT", s.message(id).State)
	require.Len(t, s.inbox(), 1)
}

func TestResolve_inBulk(t *testing.T) {
	s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{Unknown: 1, Contradictions: 1}}, func(c *config.Config) {
		c.Alerts.InboxOlderThan = time.Nanosecond
	})
	const n = 300 // more than a page
	var ids []string
	for i := range n {
		ids = append(ids, s.submit(number(i)))
	}
	for _, id := range ids {
		s.awaitState(id, "DELIVERED")
	}
	s.drained()
	require.Len(t, s.inbox(), control.DefaultLimit)

	_, sum := s.resolve(control.Resolve{Select: &control.Selection{Kind: "unmatched", SMSC: "beta"}, Action: "dismiss"})
	require.Zero(t, sum)
	dismissed, sum := s.resolve(control.Resolve{Select: &control.Selection{Kind: "unmatched", SMSC: "alpha"}, Action: "dismiss", Reason: "of the old system"})
	require.Equal(t, control.ResolveSummary{Resolved: n}, sum)
	_, sum = s.resolve(control.Resolve{Select: &control.Selection{SMSC: "alpha"}, Action: "take"})
	require.Equal(t, control.ResolveSummary{Resolved: n}, sum, "take is about conflicts alone")
	require.Empty(t, s.exceptions())
	require.Equal(t, "UNDELIVERABLE", s.message(ids[0]).State)
	require.Len(t, s.inbox(), control.DefaultLimit, "what was dismissed is still found by a late id")

	future := time.Now().Add(time.Hour)
	s.decide(dismissed[0].Exception, "undo", control.Resolve{})
	require.Equal(t, dismissed[0].ID, s.only("unmatched").ID)
	_, sum = s.resolve(control.Resolve{Select: &control.Selection{Since: &future}, Action: "dismiss"})
	require.Zero(t, sum, "there is none of that time")
	_, sum = s.resolve(control.Resolve{Select: &control.Selection{Kind: "unmatched"}, Action: "dismiss"})
	require.Equal(t, control.ResolveSummary{Resolved: 1}, sum)
}

// withHexRule is a configuration whose receipts' ids are read as decimal.
func withHexRule(cfg *config.Config) *config.Config {
	next := *cfg
	next.SMSCs = slices.Clone(cfg.SMSCs)
	rule := receipt.IDRules{{Name: "hex_to_dec"}}
	next.SMSCs[0].Rules.MessageID = config.MessageIDRules{TLV: rule, Text: rule}
	return &next
}

// held submits messages whose receipts name them in a form that no rule reads.
func held(t *testing.T) (s *system, ids []string) {
	s = newSystem(t, smpptest.Config{IDs: smpptest.IDs{First: 10, Response: smpptest.Hex, TLV: smpptest.Decimal, Text: smpptest.Decimal}}, nil)
	for n := 10; n <= 16; n++ {
		id := s.submit(number(n))
		s.await(id, "accepted", func(m control.Message) bool { return m.Acceptance != nil })
		ids = append(ids, id)
	}
	s.drained()
	require.Len(t, s.inbox(), 7)
	return s, ids
}

func TestRules_aChangeMatchesWhatIsHeld(t *testing.T) {
	matched := func(s *system, ids []string) {
		for _, id := range ids {
			m := s.awaitState(id, "DELIVERED")
			require.Equal(s.t, control.Receptions{Receipts: 1}, m.Receptions)
		}
		s.awaitLog(`"msg":"reprocessed"`)
		require.Empty(s.t, s.inbox())
		require.Empty(s.t, s.exceptions())
		passes := slices.DeleteFunc(s.events(), func(e control.Event) bool { return e.Operator == nil })
		require.NotEmpty(s.t, passes)
		for _, e := range passes {
			require.Equal(s.t, "esmed", e.Operator.By)
			require.Equal(s.t, "reprocess", e.Operator.Action)
		}
	}
	t.Run("by SIGHUP", func(t *testing.T) {
		s, ids := held(t)
		s.hangUp(withHexRule(s.cfg), nil)
		matched(s, ids)
	})
	t.Run("by restart", func(t *testing.T) {
		s, ids := held(t)
		s.halt()
		s.cfg = withHexRule(s.cfg)
		s.start()
		matched(s, ids)
		recorded := len(s.events())
		s.restart()
		s.submit(number(99))
		require.Len(t, slices.DeleteFunc(s.events()[recorded:], func(e control.Event) bool { return e.Operator == nil }), 0,
			"what is judged under the rules in force is not judged again")
	})
	t.Run("a noted word counts once it has a meaning", func(t *testing.T) {
		s := newSystem(t, smpptest.Config{Receipts: smpptest.Receipts{States: []smpptest.StateShare{{Word: "FAILED", Share: 1}}}}, nil)
		id := s.submit(number(1))
		s.await(id, "noted", func(m control.Message) bool { return m.Receptions.Noted == 1 })
		require.Equal(t, "unmapped_state", s.only("unmapped_state").Kind)
		next := *s.cfg
		next.SMSCs = slices.Clone(s.cfg.SMSCs)
		next.SMSCs[0].Rules.States = map[string]string{"FAILED": "UNDELIVERABLE"}
		s.hangUp(&next, nil)
		s.awaitState(id, "UNDELIVERABLE")
		require.Empty(t, s.exceptions())
	})
}

func TestReprocess_onDemandTellsWhatItComesTo(t *testing.T) {
	s, ids := held(t)
	var decisions []control.Decision
	result, err := s.api.Reprocess(s.ctx, func(d control.Decision) error {
		decisions = append(decisions, d)
		return nil
	}, nil)
	require.NoError(t, err)
	require.Equal(t, len(ids), result.Messages)
	require.Equal(t, 7, result.Rows)
	require.Zero(t, result.Changed)
	require.Empty(t, decisions, "under the same rules the same is found")
	last := s.events()
	require.Equal(t, me, last[len(last)-1].Operator.By)

	looked, err := s.api.RetryInbox(s.ctx, "", nil)
	require.NoError(t, err)
	require.Equal(t, control.InboxRetry{Looked: 7}, looked)
	require.Len(t, s.events(), len(last), "a look that finds nothing is not recorded")
}
