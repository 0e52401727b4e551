package statemachine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/statemachine"
)

// TestCorrelate plays who a reception is matched to; the last line of a script is the reception.
func TestCorrelate(t *testing.T) {
	const (
		mine   = "accepted M1 to=+393331234567\nsent M1\n"
		yours  = "accepted M2 to=+393331234568\nsent M2\n"
		twins  = "accepted M1\nsent M1\naccepted M2\nsent M2\n" // one destination
		accept = "submit_resp M1 id=7\nsubmit_resp M2 id=8\n"
		same   = "submit_resp M1 id=7\nsubmit_resp M2 id=7\n"
	)
	tests := []struct {
		name, rules, script string
		want                statemachine.Correlation
		to                  statemachine.ID
		by, narrowed        string
		candidates          int
	}{
		{"by the TLV's id", "alpha", mine + yours + accept + `reception tlv=7 text="stat:DELIVRD"`, "matched", "M1", "receipted_message_id", "", 1},
		{"by the text's id", "alpha", mine + yours + accept + `reception text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"the TLV first where both fit the same", "alpha", mine + yours + accept + `reception tlv=7 text="id:7 stat:DELIVRD"`, "matched", "M1", "receipted_message_id", "", 1},
		{"the text where the TLV fits none", "alpha", mine + yours + accept + `reception tlv=99 text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"the text where the TLV is a word for none", "alpha", mine + yours + accept + `reception tlv=NULL text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"nothing fits", "alpha", mine + yours + accept + `reception tlv=9 text="id:9 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"no id at all", "alpha", mine + yours + accept + `reception text="stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"zeros only as received", "alpha ids=strip_zeros", mine + `submit_resp M1 id=0` + "\n" + `reception text="id:000 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"zeros as received", "alpha ids=hex_to_dec", mine + `submit_resp M1 id=0` + "\n" + `reception text="id:0 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"an ignored text id", "alpha text=ignore", mine + yours + accept + `reception text="id:7 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"another account", "alpha ; beta", mine + "submit_resp M1 id=7\n" + `reception smsc=beta text="id:7 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"two SMSCs that share an account", "alpha account=x ; beta account=x", mine + "submit_resp M1 id=7\n" + `reception smsc=beta text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},

		{"octets over 0x7F", "alpha", mine + "submit_resp M1 id=caf\xE9\n" + "reception text=\"id:caf\xE9 stat:DELIVRD\"", "matched", "M1", "text_id", "", 1},
		{"octets over 0x7F, which have no case", "alpha ids=fold_case", mine + "submit_resp M1 id=\xC1\n" + "reception text=\"id:\xE1 stat:DELIVRD\"", "unmatched", "", "", "", 0},
		{"blanks of 0xA0 behind it", "alpha", mine + "submit_resp M1 id=7\xA0\n" + `reception text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"blanks of 0xA0 and no id", "alpha", mine + "submit_resp M1 id=\xA0\n" + "reception text=\"id:\xA0 stat:DELIVRD\"", "unmatched", "", "", "", 0},

		{"the beginning of one id", "alpha text=truncate:4", mine + "submit_resp M1 id=abcd01\n" + `reception text="id:abcd stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"the beginning of two", "alpha text=truncate:4", twins + "submit_resp M1 id=abcd01\nsubmit_resp M2 id=abcd02\n" +
			`reception text="id:abcd stat:DELIVRD"`, "ambiguous", "", "", "", 2},
		{"the beginning of two, told apart", "alpha text=truncate:4", mine + yours + "submit_resp M1 id=abcd01\nsubmit_resp M2 id=abcd02\n" +
			`reception src=393331234568 text="id:abcd stat:DELIVRD"`, "matched", "M2", "text_id", "address", 2},
		{"the beginning of two, and the whole id in the TLV", "alpha text=truncate:4", twins + "submit_resp M1 id=abcd01\nsubmit_resp M2 id=abcd02\n" +
			`reception tlv=abcd02 text="id:abcd stat:DELIVRD"`, "matched", "M2", "receipted_message_id", "", 1},
		{"the beginning of another id than the TLV's", "alpha text=truncate:4", twins + "submit_resp M1 id=abcd01\nsubmit_resp M2 id=7\n" +
			`reception tlv=7 text="id:abcd stat:DELIVRD"`, "ambiguous", "", "", "", 2},
		{"the beginning of the ids of two parts", "alpha text=truncate:4", "accepted M1 parts=2\nsent M1/1\nsent M1/2\nsubmit_resp M1/1 id=abcd01\nsubmit_resp M1/2 id=abcd02\n" +
			`reception text="id:abcd stat:DELIVRD"`, "ambiguous", "", "", "", 2},
		{"the beginning of one id of two parts", "alpha text=truncate:4", "accepted M1 parts=2\nsent M1/1\nsent M1/2\nsubmit_resp M1/1 id=abcd01\nsubmit_resp M1/2 id=abcd01\n" +
			`reception text="id:abcd stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},

		{"by our reference, before any response", "alpha client_ref", mine + `reception ref=M1 text="id:7 stat:DELIVRD"`, "matched", "M1", "client_ref", "", 1},
		{"our reference before the ids", "alpha client_ref", twins + accept + `reception ref=M2 tlv=7 text="id:7 stat:DELIVRD"`, "matched", "M2", "client_ref", "", 1},
		{"a reference that names nobody leaves it to the ids", "alpha client_ref", mine + yours + accept + `reception ref=M9 text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"a reference of another account", "alpha client_ref ; beta client_ref", mine + `reception smsc=beta ref=M1 text="id:7 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"a reference to a part that there is not", "alpha client_ref", mine + `reception ref=M1/2 text="id:7 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"a reference to what was never sent", "alpha client_ref", "accepted M1\n" + `reception ref=M1 text="id:7 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"a reference to a message of several parts must name one", "alpha client_ref", "accepted M1 parts=2\nsent M1/1\n" + `reception ref=M1 text="id:7 stat:DELIVRD"`, "unmatched", "", "", "", 0},

		{"a reference with a sign", "alpha client_ref", "accepted M1 parts=2\nsent M1/1\nsent M1/2\n" + `reception ref=M1/+2 text="id:7 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"a reference with a zero before the part", "alpha client_ref", "accepted M1 parts=2\nsent M1/1\nsent M1/2\n" + `reception ref=M1/02 text="id:7 stat:DELIVRD"`, "unmatched", "", "", "", 0},
		{"a reference with its part", "alpha client_ref", "accepted M1 parts=2\nsent M1/1\nsent M1/2\n" + `reception ref=M1/2 text="id:7 stat:DELIVRD"`, "matched", "M1", "client_ref", "", 1},

		{"the address refuses", "alpha", mine + "submit_resp M1 id=7\n" + `reception src=447700900123 text="id:7 stat:DELIVRD"`, "address_mismatch", "", "text_id", "", 1},
		{"flagged only", "alpha address_check=flag", mine + "submit_resp M1 id=7\n" + `reception src=447700900123 text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"never asked", "alpha address_check=off", mine + "submit_resp M1 id=7\n" + `reception src=447700900123 text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},

		{"narrowed by the event that one knows", "alpha", twins + "submit_resp M1 id=7\n" + `reception text="id:7 stat:ENROUTE done date:2611300901"` +
			"\nsubmit_resp M2 id=7\n" + `reception text="id:7 stat:ENROUTE done date:2611300901"`, "matched", "M1", "text_id", "logical_event", 2},
		{"narrowed by the address", "alpha", mine + yours + same + `reception src=393331234568 text="id:7 stat:DELIVRD"`, "matched", "M2", "text_id", "address", 2},
		{"the TLV's and the text's id fit two messages", "alpha", mine + yours + accept + `reception src=393331234568 tlv=7 text="id:8 stat:DELIVRD"`, "matched", "M2", "text_id", "address", 2},
		{"not narrowed by addresses that mean nothing", "alpha address_check=off", mine + yours + same + `reception src=393331234568 text="id:7 stat:DELIVRD"`, "ambiguous", "", "", "", 2},
		{"refused by all addresses", "alpha", mine + yours + same + `reception src=447700900123 text="id:7 stat:DELIVRD"`, "ambiguous", "", "", "", 2},
		{"narrowed by user_message_reference", "alpha user_message_reference", "accepted M1\nsent M1 umr=1\naccepted M2\nsent M2 umr=2\n" + same +
			`reception umr=2 text="id:7 stat:DELIVRD"`, "matched", "M2", "text_id", "user_message_reference", 2},
		{"which selects nothing where it is not configured", "alpha", "accepted M1\nsent M1 umr=1\naccepted M2\nsent M2 umr=2\n" + same +
			`reception umr=2 text="id:7 stat:DELIVRD"`, "ambiguous", "", "", "", 2},
		{"the address agrees with one and user_message_reference with the other", "alpha user_message_reference", "accepted M1\nsent M1 umr=1\naccepted M2 to=+393331234568\nsent M2 umr=2\n" + same +
			`reception umr=2 text="id:7 stat:DELIVRD"`, "ambiguous", "", "", "", 2},
		{"both agree with one", "alpha user_message_reference", "accepted M1\nsent M1 umr=1\naccepted M2 to=+393331234568\nsent M2 umr=2\n" + same +
			`reception src=393331234568 umr=2 text="id:7 stat:DELIVRD"`, "matched", "M2", "text_id", "address+user_message_reference", 2},
		{"what was sent without a reference is not refused by one", "alpha user_message_reference", "accepted M1\nsent M1 umr=1\naccepted M2\nsent M2\n" + same +
			`reception umr=1 text="id:7 stat:DELIVRD"`, "ambiguous", "", "", "", 2},
		{"nor where only one candidate is left", "alpha user_message_reference", "accepted M1\nsent M1 umr=1\nsubmit_resp M1 id=7\n" +
			`reception umr=2 text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"narrowed by its dates", "alpha", "2026-11-28 09:00:00 accepted M1\nsent M1\nsubmit_resp M1 id=7\n2026-11-30 09:00:00 accepted M2\nsent M2\nsubmit_resp M2 id=7\n" +
			`reception text="id:7 stat:DELIVRD done date:2611281000"`, "matched", "M1", "text_id", "dates", 2},
		{"a day between them is not enough", "alpha", "2026-11-29 09:00:00 accepted M1\nsent M1\nsubmit_resp M1 id=7\n2026-11-30 09:00:00 accepted M2\nsent M2\nsubmit_resp M2 id=7\n" +
			`reception text="id:7 stat:DELIVRD done date:2611291000"`, "ambiguous", "", "", "", 2},
		{"narrowed by the window", "alpha", "2026-11-20 09:00:00 accepted M1\nsent M1\nsubmit_resp M1 id=7\n2026-11-30 09:00:00 accepted M2\nsent M2\nsubmit_resp M2 id=7\n" +
			`reception text="id:7 stat:DELIVRD"`, "matched", "M2", "text_id", "window", 2},
		{"no step tells them apart", "alpha", twins + same + `reception text="id:7 stat:DELIVRD"`, "ambiguous", "", "", "", 2},

		{"a closed message is matched when nothing is unanswered", "alpha", mine + "submit_resp M1 id=7\n" + `reception text="id:7 stat:DELIVRD"` + "\n" +
			`reception text="id:7 stat:EXPIRED"`, "matched", "M1", "text_id", "", 1},
		{"what it knows is its own", "alpha", mine + "submit_resp M1 id=7\n" + `reception text="id:7 stat:DELIVRD"` + "\naccepted M2\nsent M2\n" +
			`reception text="id:7 stat:DELIVRD"`, "matched", "M1", "text_id", "", 1},
		{"what is new may be an unanswered submit's", "alpha", mine + "submit_resp M1 id=7\n" + `reception text="id:7 stat:DELIVRD"` + "\naccepted M2\nsent M2\n" +
			`reception text="id:7 stat:EXPIRED"`, "unmatched", "", "", "", 1},
		{"an unanswered submit to somebody else is no reason to wait", "alpha", mine + "submit_resp M1 id=7\n" + `reception text="id:7 stat:DELIVRD"` + "\n" + yours +
			`reception text="id:7 stat:EXPIRED"`, "matched", "M1", "text_id", "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := play(t, "rules "+tt.rules+"\n"+tt.script).last()
			require.Equal(t, tt.want, d.Correlation)
			require.Equal(t, tt.to, d.Message)
			require.Equal(t, tt.by, d.By)
			require.Equal(t, tt.narrowed, d.NarrowedBy)
			require.Equal(t, tt.candidates, d.Candidates)
		})
	}
}

func TestCorrelate_namesTheRule(t *testing.T) {
	l := play(t, "rules alpha ids=fold_case\naccepted M1\nsent M1\nsubmit_resp M1 id=AF02C9\nreception text=\"id:af02c9 stat:DELIVRD\"")
	require.Equal(t, []string{"fold_case"}, l.last().Rule)
	require.Equal(t, "af02c9", l.last().ExternalID)
	l = play(t, "rules alpha ids=fold_case\naccepted M1\nsent M1\nsubmit_resp M1 id=AF02C9\nreception text=\"id:AF02C9 stat:DELIVRD\"")
	require.Empty(t, l.last().Rule, "as received, no rule was needed")
}

func TestSubmitResp_readsItsID(t *testing.T) {
	l := play(t, "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=caf\xE9\xA0")
	require.Equal(t, "café", l.message("M1").Parts[0].Attempts[0].MessageID)
	l = play(t, "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=\xA0")
	require.Empty(t, l.message("M1").Parts[0].Attempts[0].MessageID)
	open, _ := l.exceptions(statemachine.KindNoMessageID)
	require.Equal(t, 1, open)
}

// counting counts the messages that a step reads.
type counting struct {
	*statemachine.Memory
	read int
}

func (c *counting) Message(id statemachine.ID) (*statemachine.Message, bool, error) {
	c.read++
	return c.Memory.Message(id)
}

// TestDuplicateMessageID: ids that begin alike are no duplicates, however many there are, and an answer
// costs the same.
func TestDuplicateMessageID(t *testing.T) {
	const many = 300
	tests := []struct {
		name, rules, id string
		want            int // exceptions
		read            int // messages that the last answer looks at
	}{
		{"under truncate", "text=truncate:10", "b41d77c09e%06x", 0, 1},
		{"under truncate, the same id", "text=truncate:10", "b41d77c09e", 1, many},
		{"under another rule, its form is one", "text=cut_after:@", "b41d77c09e@%d", 1, many},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := play(t, "rules alpha "+tt.rules)
			for i := range many {
				id := tt.id
				if strings.Contains(id, "%") {
					id = fmt.Sprintf(id, i)
				}
				l.play(fmt.Sprintf("accepted M%d\nsent M%d", i, i))
				answer := l.record(fmt.Sprintf("submit_resp M%d id=%s", i, id))
				if i == many-1 {
					view := &counting{Memory: l.mem}
					require.NoError(t, l.mem.Fold.Step(view, answer, new(statemachine.Effects)))
					require.Equal(t, tt.read, view.read)
				}
				l.apply(answer)
			}
			open, _ := l.exceptions(statemachine.KindDuplicateMessageID)
			require.Equal(t, tt.want != 0, open != 0)
		})
	}
}

// TestWait_endsForSubmitsThatLeftLater: a busy destination does not hold a receipt for ever.
func TestWait_endsForSubmitsThatLeftLater(t *testing.T) {
	l := play(t, `rules alpha
		accepted M1
		sent M1
		submit_resp M1 id=7
		reception text="id:7 stat:DELIVRD"
		accepted M2
		accepted M3
		sent M2
		reception text="id:7 stat:EXPIRED"
		sent M3
		submit_resp M2 id=8`)
	require.Empty(t, l.mem.Inbox)
	require.Equal(t, statemachine.VerdictConflict, l.last().Verdict)
	require.EqualValues(t, 9, l.last().Record)
}

// TestRetry judges a row under the rules of today.
func TestRetry(t *testing.T) {
	script := `rules alpha
		accepted M1
		sent M1
		submit_resp M1 id=1F
		accepted M2
		sent M2
		reception text="id:31 stat:DELIVRD"
		retry 7`
	l := play(t, script)
	require.Equal(t, "it still has no owner", l.effects[7].NoEffect)
	require.Len(t, l.mem.Inbox, 1)
	l.play("rules alpha ids=hex_to_dec\nretry 7")
	require.Empty(t, l.effects[9].NoEffect, "the row is keyed by the new rules")
	require.Len(t, l.mem.Inbox, 1, "the attempt is not: that is Reindex's")
	l.play("submit_resp M2 id=1F")
	require.Empty(t, l.mem.Inbox)
	require.Equal(t, []string{"hex_to_dec"}, l.last().Rule)
	l.play("retry 7")
	require.Equal(t, "the row is not in the inbox any more", l.effects[len(l.effects)-1].NoEffect)
}

func TestMessage_Reindex(t *testing.T) {
	l := play(t, "rules alpha\naccepted M1\nsent M1\nsubmit_resp M1 id=1F")
	_, rules := l.mem.Rules()
	require.Equal(t, l.effects[3].Index, l.message("M1").Reindex(&rules.SMSCs[0]))
	l.play("rules alpha ids=hex_to_dec")
	_, rules = l.mem.Rules()
	require.Len(t, l.message("M1").Reindex(&rules.SMSCs[0]), 2, "as received, and in decimal")

	// An id that a receipt told is in the receipts' notation.
	l = play(t, "rules alpha client_ref ids=hex_to_dec\naccepted M1\nsent M1\nreception ref=M1 text=\"id:31 stat:ENROUTE\"")
	_, rules = l.mem.Rules()
	require.Equal(t, l.effects[3].Index, l.message("M1").Reindex(&rules.SMSCs[0]))
	require.Len(t, l.effects[3].Index, 1)
}
