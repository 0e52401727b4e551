package smpptest_test

import (
	"testing"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/fiorix/go-smpp/v2/smpp/pdu/pdufield"
	"github.com/stretchr/testify/require"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

func querySM(id string) pdu.Body {
	p := pdu.NewQuerySM()
	f := p.Fields()
	_ = f.Set(pdufield.MessageID, id)
	_ = f.Set(pdufield.SourceAddr, "15550100")
	return p
}

func TestQuery_is_answered_as_the_config_says(t *testing.T) {
	replies := map[string]smpptest.Reply{
		"final":   {State: 2, FinalDate: "261130120401000+", ErrorCode: 7},
		"undated": {State: 5},
		"unseen":  {},
		"unknown": {Status: smpp.StatusInvMsgID},
		"nack":    {Nack: true, Status: smpp.StatusInvCmdID},
	}
	tests := []struct {
		name, id string
		command  pdu.ID
		status   smpp.Status
		body     string
	}{
		{"a final state, with its date and error code", "final", pdu.QuerySMRespID, 0, "final\x00261130120401000+\x00\x02\x07"},
		{"a final state without date", "undated", pdu.QuerySMRespID, 0, "undated\x00\x00\x05\x00"},
		{"message_state 0 for an id never seen", "unseen", pdu.QuerySMRespID, 0, "unseen\x00\x00\x00\x00"},
		{"a refusal has no body", "unknown", pdu.QuerySMRespID, smpp.StatusInvMsgID, ""},
		{"a command that the SMSC does not know", "nack", pdu.GenericNACKID, smpp.StatusInvCmdID, ""},
	}
	s := start(t, smpptest.Config{OnQuery: func(q smpptest.Query) smpptest.Reply { return replies[q.MessageID] }})
	e := bound(t, s)
	for n, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seq := e.send(querySM(tt.id))
			f := e.want(tt.command)
			require.Equal(t, seq, f.seq)
			require.Equal(t, uint32(tt.status), f.status)
			require.Equal(t, tt.body, string(f.body))
			line := lines(s, smpptest.LineQuery)[n]
			require.Equal(t, tt.id, line.MessageID)
			require.Equal(t, "15550100", line.Source)
			require.Equal(t, tt.status.String(), line.Status)
		})
	}
	require.EqualValues(t, len(tests), s.Stats().Queries)
}

func TestQuery_without_a_word_in_the_config_is_refused(t *testing.T) {
	s := start(t, smpptest.Config{})
	e := bound(t, s)
	e.send(querySM("1"))
	require.Equal(t, uint32(smpp.StatusQueryFail), e.want(pdu.QuerySMRespID).status)
}

func TestQuery_that_is_not_answered_shows_no_status(t *testing.T) {
	s := start(t, smpptest.Config{OnQuery: func(smpptest.Query) smpptest.Reply { return smpptest.Reply{Never: true} }})
	e := bound(t, s)
	e.send(querySM("1"))
	e.submit("393331234567") // its answer comes behind where the query's would have been
	e.want(pdu.SubmitSMRespID)
	require.Empty(t, lines(s, smpptest.LineQuery)[0].Status)
}
