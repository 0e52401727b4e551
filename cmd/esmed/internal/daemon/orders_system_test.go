package daemon_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

func (s *system) cancel(id string) control.Cancellation {
	s.t.Helper()
	done, err := s.api.Cancel(s.ctx, id, "a mistake")
	require.NoError(s.t, err)
	require.Equal(s.t, id, done.Message)
	require.Equal(s.t, s.message(id).State, done.State)
	return done
}

func (s *system) query(id string) control.Inquiry {
	s.t.Helper()
	found, err := s.api.Query(s.ctx, id, 0)
	require.NoError(s.t, err)
	require.Equal(s.t, s.message(id).State, found.State)
	return found
}

// seen are the destinations of the submit_sm that the SMSC saw.
func (s *system) seen() map[string]bool {
	all := map[string]bool{}
	for _, line := range s.smsc.Truth() {
		if line.Type == smpptest.LineSubmit {
			all["+"+line.Dest] = true
		}
	}
	return all
}

func TestCancel_whatWaitsHereNeverLeaves(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: firstTry(refuse(smpp.StatusMsgQFul))}, func(c *config.Config) {
		c.SMSCs[0].Retry.Min, c.SMSCs[0].Retry.Max = time.Hour, time.Hour
	})
	id := s.submit(number(1))
	s.await(id, "refused for now", func(m control.Message) bool { return len(m.Parts[0].Attempts) > 0 && m.State == "QUEUED" })
	done := s.cancel(id)
	require.True(t, done.OK)
	require.Equal(t, "FAILED", done.State)
	require.Equal(t, []control.CancelledPart{{
		Part: 1, OK: true, Outcome: control.OutcomeCancelled, State: "FAILED", Record: done.Record, Detail: "it waited here and will not be sent",
	}}, done.Parts)
	m := s.message(id)
	require.Equal(t, "operator", m.Basis)
	require.True(t, m.Final)
	events := s.history(id)
	last := events[len(events)-1]
	require.Equal(t, done.Record, last.Seq)
	require.Equal(t, "cancel", last.Operator.Action)
	require.Equal(t, "a mistake", last.Operator.Reason)

	again := s.cancel(id)
	require.True(t, again.OK, "cancelling is done once, however often it is asked for")
	require.Zero(t, again.Record)
	require.Equal(t, done.Parts, again.Parts)

	_, err := s.api.Cancel(s.ctx, "01JDXW5Q0C8Z4Y3K7M2N9P6R5T", "")
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, 404, p.Status)
}

func TestCancel_ofWhatTheSMSCHas(t *testing.T) {
	tests := []struct {
		name    string
		answer  smpptest.Cancelled
		ok      bool
		outcome string
		status  string
	}{
		{"it accepts", smpptest.Cancelled{Deleted: true}, true, control.OutcomeAccepted, "ESME_ROK"},
		{"it refuses", smpptest.Cancelled{Status: smpp.StatusCancelFail}, false, control.OutcomeRefused, "ESME_RCANCELFAIL"},
		{"it knows no cancel_sm", smpptest.Cancelled{Nack: true, Status: smpp.StatusInvCmdID}, false, control.OutcomeRefused, "ESME_RINVCMDID"},
		{"it does not answer", smpptest.Cancelled{Never: true}, false, control.OutcomeUnanswered, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked []smpptest.Cancel
			s := newSystem(t, smpptest.Config{OnSubmit: silent.OnSubmit, OnCancel: func(c smpptest.Cancel) smpptest.Cancelled {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, c)
				return tt.answer
			}}, func(c *config.Config) { c.SMSCs[0].ResponseTimeout = 500 * time.Millisecond })
			m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(1), From: "ACME", Text: "hello", ServiceType: "CMT"}, "")
			require.NoError(t, err)
			id := m.ID
			m = s.awaitState(id, "SUBMITTED")
			done := s.cancel(id)
			require.Equal(t, tt.ok, done.OK)
			require.NotZero(t, done.Record, "who asked for it is recorded")
			require.Len(t, done.Parts, 1)
			part := done.Parts[0]
			require.Equal(t, tt.outcome, part.Outcome)
			require.Equal(t, tt.status, part.CommandStatus)
			require.Equal(t, m.Acceptance.MessageID, part.MessageID)
			require.NotEmpty(t, part.Detail)

			mu.Lock()
			require.Len(t, asked, 1)
			require.True(t, asked[0].Known)
			require.Equal(t, "CMT", asked[0].ServiceType)
			require.Equal(t, smpptest.Address{Addr: "ACME", TON: 5}, asked[0].Source)
			require.Equal(t, smpptest.Address{Addr: m.Destination.Addr, TON: 1, NPI: 1}, asked[0].Dest)
			mu.Unlock()
			if tt.status == "" {
				require.Zero(t, s.count(id, "cancel_resp"))
				return
			}
			events := s.history(id)
			i := slices.IndexFunc(events, func(e control.Event) bool { return e.Type == "cancel_resp" })
			require.Equal(t, part.Record, events[i].Seq)
			require.Equal(t, tt.status, events[i].Detail)
			require.Equal(t, "alpha/1", events[i].Session)
			require.NotEmpty(t, events[i].PDU)
			if tt.ok {
				s.awaitState(id, "DELETED")
				closed := s.cancel(id)
				require.False(t, closed.OK)
				require.Equal(t, control.OutcomeClosed, closed.Parts[0].Outcome)
			}
		})
	}
}

func TestOrders_aboutWhatCannotBeAsked(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
		a = silent.OnSubmit(sub, a)
		switch sub.Dest.Addr[len(sub.Dest.Addr)-1] {
		case '1':
			a.Never = true
		case '2':
			a.MessageID = ""
		}
		return a
	}}, func(c *config.Config) { c.SMSCs[0].ResponseTimeout = 300 * time.Millisecond })
	submitted := s.submit(number(3))
	s.awaitState(submitted, "SUBMITTED")
	ask := func(id, detail string) {
		t.Helper()
		done := s.cancel(id)
		require.False(t, done.OK)
		require.Equal(t, control.OutcomeUnasked, done.Parts[0].Outcome)
		require.Contains(t, done.Parts[0].Detail, detail)
		found := s.query(id)
		require.False(t, found.OK)
		require.Equal(t, control.OutcomeUnasked, found.Asked[0].Outcome)
		require.Contains(t, found.Asked[0].Detail, detail)
	}
	doubtful := s.submit(number(1))
	s.awaitState(doubtful, "IN_DOUBT")
	ask(doubtful, "its answer was lost")
	nameless := s.submit(number(2))
	s.awaitState(nameless, "SUBMITTED")
	ask(nameless, "the SMSC gave no id")

	other := newConfig(t, s.smsc.Addr())
	other.SMSCs[0] = newSMSC("beta", s.smsc.Addr())
	s.hangUp(other, nil)
	s.awaitLog(`"msg":"stopped","smsc":"alpha"`)
	ask(submitted, "alpha is not configured any more")
}

func TestOrders_withoutASession(t *testing.T) {
	s := newSystem(t, silent, nil)
	id := s.submit(number(1))
	s.awaitState(id, "SUBMITTED")
	require.NoError(t, s.smsc.Close())
	done := s.cancel(id)
	require.False(t, done.OK)
	require.Equal(t, control.OutcomeUnasked, done.Parts[0].Outcome)
	require.Contains(t, done.Parts[0].Detail, "no session of alpha is bound that sends")
}

func TestOrders_ofAnSMSCThatIsStopped(t *testing.T) {
	s := newSystem(t, silent, nil)
	id := s.submit(number(1))
	s.awaitState(id, "SUBMITTED")
	_, err := s.api.OrderBind(s.ctx, "alpha", control.StopBinds, "")
	require.NoError(t, err)
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Bound == 0 })
	began := time.Now()
	done := s.cancel(id)
	require.Equal(t, control.OutcomeUnasked, done.Parts[0].Outcome)
	require.Contains(t, done.Parts[0].Detail, "alpha is stopped: esmed binds start alpha")
	require.Less(t, time.Since(began), 4*time.Second, "nobody waits for a session that is not to come")
	require.Equal(t, control.BindStopped, s.queue("alpha").Bind)
}

func TestOrders_areAnsweredWhenTheDaemonStops(t *testing.T) {
	asked := make(chan struct{})
	s := newSystem(t, smpptest.Config{OnSubmit: silent.OnSubmit, OnCancel: func(smpptest.Cancel) smpptest.Cancelled {
		close(asked)
		return smpptest.Cancelled{Never: true}
	}}, func(c *config.Config) { c.ShutdownTimeout = time.Second })
	id := s.submit(number(1))
	s.awaitState(id, "SUBMITTED")
	var done control.Cancellation
	var g errgroup.Group
	g.Go(func() (err error) {
		done, err = s.api.Cancel(s.ctx, id, "")
		return err
	})
	<-asked
	s.stop()
	require.NoError(t, g.Wait())
	require.Equal(t, control.OutcomeUnanswered, done.Parts[0].Outcome)
	require.Contains(t, done.Parts[0].Detail, "the session ended before its answer")
	s.halt()
}

func TestQuery_answersAreEvidence(t *testing.T) {
	r := replies{list: []smpptest.Reply{{State: 1}, {State: 2, FinalDate: "261130120401000+"}, {State: 5, ErrorCode: 11}, {Status: smpp.StatusQueryFail}}}
	s := newSystem(t, smpptest.Config{OnSubmit: silent.OnSubmit, OnQuery: r.reply}, nil)
	id := s.submit(number(1))
	m := s.awaitState(id, "SUBMITTED")
	one := func(state string, ok bool) control.Asked {
		t.Helper()
		found := s.query(id)
		require.Equal(t, ok, found.OK)
		require.Equal(t, state, found.State)
		require.Len(t, found.Asked, 1)
		asked := found.Asked[0]
		require.Equal(t, m.Acceptance.MessageID, asked.MessageID)
		require.NotZero(t, asked.Record)
		return asked
	}
	asked := one("ENROUTE", true)
	require.Equal(t, "ENROUTE", asked.Reported)
	require.Equal(t, []string{"applied", "SUBMITTED", "ENROUTE"}, []string{asked.Verdict, asked.From, asked.To})
	asked = one("DELIVERED", true)
	require.Equal(t, 2, *asked.MessageState)
	require.Equal(t, "261130120401000+", asked.FinalDate)
	require.Equal(t, []string{"applied", "ENROUTE", "DELIVERED"}, []string{asked.Verdict, asked.From, asked.To})
	asked = one("DELIVERED", true)
	require.Equal(t, "UNDELIVERABLE", asked.Reported, "a message that is final may be asked about")
	require.Equal(t, 11, *asked.ErrorCode)
	require.Equal(t, []string{"conflict", "DELIVERED", "DELIVERED"}, []string{asked.Verdict, asked.From, asked.To}, "and stays as it is")
	asked = one("DELIVERED", false)
	require.Equal(t, control.OutcomeRefused, asked.Outcome)
	require.Equal(t, "ESME_RQUERYFAIL", asked.CommandStatus)
	require.Empty(t, asked.Reported)
	require.Nil(t, asked.MessageState)

	_, err := s.api.Query(s.ctx, id, 2)
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "query.part", p.Errors[0].Path)
}

func TestOrders_anAnswerThatComesLateIsRecorded(t *testing.T) {
	var mu sync.Mutex
	var numbers []uint32
	asked := func(number uint32) {
		mu.Lock()
		defer mu.Unlock()
		numbers = append(numbers, number)
	}
	s := newSystem(t, smpptest.Config{OnSubmit: silent.OnSubmit,
		OnQuery: func(q smpptest.Query) smpptest.Reply {
			asked(q.SequenceNumber)
			return smpptest.Reply{Never: true}
		},
		OnCancel: func(c smpptest.Cancel) smpptest.Cancelled {
			asked(c.SequenceNumber)
			return smpptest.Cancelled{Never: true}
		},
	}, func(c *config.Config) { c.SMSCs[0].ResponseTimeout = 300 * time.Millisecond })
	id := s.submit(number(1))
	m := s.awaitState(id, "SUBMITTED")
	require.Equal(t, control.OutcomeUnanswered, s.cancel(id).Parts[0].Outcome)
	found := s.query(id)
	require.Equal(t, control.OutcomeUnanswered, found.Asked[0].Outcome)

	mu.Lock()
	defer mu.Unlock()
	taken := smpp.AppendResponse(nil, smpp.CommandCancelSMResp, smpp.StatusOK, numbers[0])
	deleted, err := smpp.Append(nil, &smpp.QuerySMResp{
		Header: smpp.Header{SequenceNumber: numbers[1]}, MessageID: m.Acceptance.MessageID, MessageState: 4, FinalDate: "261130120401000+",
	})
	require.NoError(t, err)
	require.NoError(t, s.smsc.WriteRaw(deleted))
	m = s.awaitState(id, "DELETED")
	require.Equal(t, "query_sm", m.Basis)
	require.NoError(t, s.smsc.WriteRaw(taken))
	require.NoError(t, s.smsc.WriteRaw(taken)) // and once more, which answers nothing any more
	s.awaitLog(`"msg":"response to nothing outstanding"`)
	s.await(id, "the answer to cancel_sm", func(control.Message) bool { return s.count(id, "cancel_resp") == 1 })
}

// A part is either cancelled or sent, whenever the order comes.
func TestCancel_racesWithTheDispatcher(t *testing.T) {
	s := newSystem(t, smpptest.Config{OnSubmit: silent.OnSubmit, OnCancel: func(smpptest.Cancel) smpptest.Cancelled {
		return smpptest.Cancelled{}
	}}, nil)
	const lanes, each = 8, 60
	outcomes := make([]string, lanes*each)
	var g errgroup.Group
	for lane := range lanes {
		g.Go(func() error {
			for n := lane * each; n < (lane+1)*each; n++ {
				m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(n), From: "ACME", Text: "x"}, "")
				if err != nil {
					return err
				}
				done, err := s.api.Cancel(s.ctx, m.ID, "")
				if err != nil {
					return err
				}
				outcomes[n] = done.Parts[0].Outcome
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	s.halt() // what was leaving has left
	seen, count := s.seen(), map[string]int{}
	for n, outcome := range outcomes {
		count[outcome]++
		require.Equal(t, outcome != control.OutcomeCancelled, seen[number(n)], "message %s was %s", strconv.Itoa(n), outcome)
	}
	t.Logf("outcomes: %v", count)
	require.Len(t, seen, lanes*each-count[control.OutcomeCancelled])
	require.EqualValues(t, len(seen), s.smsc.Stats().Submits, "and nothing was sent twice")
}
