package smpptest_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/smpp/smpptest"
)

func TestStats_say_what_was_taken_on_with_and_without_a_truth(t *testing.T) {
	var sums []smpptest.Sum
	for _, tt := range []struct {
		name      string
		countOnly bool
	}{{"with the truth in memory", false}, {"counts only", true}} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, smpptest.Config{
				CountOnly: tt.countOnly,
				Answers:   smpptest.Answers{Refuse: []smpptest.Refusal{{Status: 0x14, Share: 0.1}}},
				Receipts:  smpptest.Receipts{Duplicates: 0.2, Contradictions: 0.1},
			})
			res, err := smpptest.Load{Addr: s.Addr(), Submits: 500, RegisteredDelivery: 1}.Run(t.Context())
			require.NoError(t, err)
			st := s.Stats()
			require.EqualValues(t, res.Accepted, st.Accepted)
			require.Equal(t, st.Accepted, st.Finals, "a repeat or contradiction is not the first final receipt")
			require.Greater(t, st.Acked, st.Finals)
			require.WithinDuration(t, time.Now(), st.LastAck, time.Minute)
			require.Equal(t, tt.countOnly, s.Truth() == nil)
			require.Equal(t, tt.countOnly, s.Submits() == nil)
			sums = append(sums, st.TextSum)
			var want smpptest.Sum
			for _, sub := range s.Submits() {
				if sub.MessageID != "" {
					want += smpptest.Fingerprint(sub.Dest.Addr, sub.ShortMessage)
				}
			}
			if !tt.countOnly {
				require.Equal(t, want, st.TextSum)
			}
		})
	}
	require.Equal(t, sums[0], sums[1], "equal seeds do the same")
}

func TestSum_is_16_hex_digits(t *testing.T) {
	s := smpptest.Fingerprint("393331234567", "Hello")
	require.Equal(t, s, smpptest.Fingerprint("393331234567", []byte("Hello")))
	require.NotEqual(t, s, smpptest.Fingerprint("393331234567H", "ello"))
	b, err := json.Marshal(smpptest.Sum(0xA1))
	require.NoError(t, err)
	require.JSONEq(t, `"00000000000000a1"`, string(b))
	var back smpptest.Sum
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, smpptest.Sum(0xA1), back)
	require.Error(t, back.UnmarshalText([]byte("no number")))
}
