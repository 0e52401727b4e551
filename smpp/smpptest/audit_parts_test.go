package smpptest_test

import (
	"testing"

	"github.com/fiorix/go-smpp/v2/smpp/pdu"
	"github.com/stretchr/testify/require"

	"esmed/smpp/smpptest"
)

// tellParts is a story of two messages of two parts to one destination, which cross.
func tellParts(t *testing.T) *story {
	t.Helper()
	s := start(t, smpptest.Config{})
	e := bound(t, s)
	st := &story{opt: smpptest.AuditOptions{MaxInDoubt: -1}, messages: make([]smpptest.AuditMessage, 2)}
	for i, id := range []string{"M0", "M1"} {
		st.messages[i] = smpptest.AuditMessage{ID: id, Destination: smpptest.AuditAddress{Addr: "393331234567"}, State: "SUBMITTED"}
	}
	for n := byte(1); n <= 2; n++ {
		for i := range st.messages {
			seq := e.send(udh16(uint16(i+1), 2, n, "text").pdu())
			st.messages[i].Parts = append(st.messages[i].Parts, smpptest.AuditPart{Part: int(n), State: "SUBMITTED", Attempts: []smpptest.AuditAttempt{
				{Attempt: 1, SequenceNumber: seq, CommandStatus: "ESME_ROK", MessageID: e.want(pdu.SubmitSMRespID).messageID()}}})
		}
	}
	require.NoError(t, s.Close())
	st.truth = s.Truth()
	return st
}

func TestAudit_of_parts(t *testing.T) {
	tests := []struct {
		name   string
		doctor func(*story)
		want   []smpptest.DifferenceKind
	}{
		{"nothing is wrong", func(*story) {}, nil},
		{"the attempts of two parts changed places", func(st *story) {
			p := st.messages[0].Parts
			p[0].Attempts, p[1].Attempts = p[1].Attempts, p[0].Attempts
		}, []smpptest.DifferenceKind{smpptest.WrongPart, smpptest.WrongPart}},
		{"an attempt that never arrived, with the number that the next one has on its session", func(st *story) {
			p := &st.messages[0].Parts[0]
			again := p.Attempts[0]
			again.Attempt = 2
			p.Attempts = []smpptest.AuditAttempt{{Attempt: 1, SequenceNumber: again.SequenceNumber}, again}
		}, nil},
		{"a message of fewer parts", func(st *story) { st.truth[2].Parts = 3 }, []smpptest.DifferenceKind{smpptest.Mixed, smpptest.WrongPart}},
		{"parts of two messages changed places", func(st *story) {
			a, b := st.messages[0].Parts, st.messages[1].Parts
			a[1].Attempts, b[1].Attempts = b[1].Attempts, a[1].Attempts
		}, []smpptest.DifferenceKind{smpptest.Mixed, smpptest.Mixed}},
		{"one reference for two messages", func(st *story) {
			for i := range st.truth {
				if l := &st.truth[i]; l.JoinedBy != "" {
					l.JoinedBy = "udh16:1"
				}
			}
		}, []smpptest.DifferenceKind{smpptest.Mixed}},
		{"a part that was taken on twice, while the other never was", func(st *story) {
			p := st.messages[0].Parts
			p[0].Attempts = append(p[0].Attempts, smpptest.AuditAttempt{Attempt: 2, SequenceNumber: 99, CommandStatus: "ESME_ROK", MessageID: "9"})
			again := st.truth[2]
			again.N, again.Seq, again.MessageID = 5, 99, "9"
			st.truth = append(st.truth, again)
			for i := range st.truth {
				if l := &st.truth[i]; l.Type == smpptest.LineSubmit && l.JoinedBy == "udh16:1" && l.Part == 2 {
					l.Status, l.MessageID = "ESME_RTHROTTLED", ""
				}
			}
			p[1].State, p[1].Attempts[0].CommandStatus, p[1].Attempts[0].MessageID = "QUEUED", "ESME_RTHROTTLED", ""
		}, []smpptest.DifferenceKind{smpptest.Doubled}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := tellParts(t)
			tt.doctor(st)
			r := st.audit()
			var kinds []smpptest.DifferenceKind
			for _, d := range r.Differences {
				kinds = append(kinds, d.Kind)
			}
			require.ElementsMatch(t, tt.want, kinds, r.Differences)
		})
	}
}
