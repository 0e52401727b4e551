package smpptest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"esmed/smpp"
)

func TestLine_is_written_as_encoding_json_reads_it(t *testing.T) {
	latin1 := func(s string) string {
		runes := make([]rune, 0, len(s))
		for _, c := range []byte(s) {
			runes = append(runes, rune(c))
		}
		return string(runes)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, name)) }
		state := rapid.IntRange(0, 9).Draw(t, "state")
		l := Line{
			Type: LineDelivery, At: time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "at")).UTC(),
			N: rapid.Uint64().Draw(t, "n"), D: rapid.Uint64().Draw(t, "d"), Conn: rapid.IntRange(0, 9).Draw(t, "conn"), Seq: rapid.Uint32().Draw(t, "seq"),
			Source: text("source"), Dest: text("dest"), Class: rapid.Byte().Draw(t, "class"), RegisteredDelivery: rapid.Byte().Draw(t, "rd"),
			Text: "00", Part: 1, Parts: 2, JoinedBy: "sar:7", Ref: text("ref"), Status: "ESME_ROK", MessageID: text("id"), Ignored: rapid.Bool().Draw(t, "ignored"), Kind: Final,
			Command: smpp.CommandID(rapid.Uint32().Draw(t, "command")), TLVID: text("tlv"), TextID: text("text"), Word: text("word"), State: "DELIVERED",
			MessageState: &state, Length: 16, Sum: "ff", Sends: 2, LatencyUS: rapid.Int64Range(0, 1e9).Draw(t, "latency"), Event: "open", Drop: DropMid, Pending: 3,
		}
		got, err := ReadTruth(bytes.NewReader(l.appendJSON(nil)))
		require.NoError(t, err)
		for _, s := range []*string{&l.Source, &l.Dest, &l.Ref, &l.MessageID, &l.TLVID, &l.TextID, &l.Word} {
			*s = latin1(*s)
		}
		require.Equal(t, []Line{l}, got)
	})
}

func TestLine_leaves_out_what_is_zero(t *testing.T) {
	l := Line{Type: LineLink, At: time.Unix(0, 0)}
	want, err := json.Marshal(l)
	require.NoError(t, err)
	require.JSONEq(t, string(want[:len(want)-len(`"1970-01-01T00:00:00Z"}`)])+`"1970-01-01T00:00:00.000000Z"}`, string(l.appendJSON(nil)))
}

func TestReadTruth(t *testing.T) {
	tests := []struct {
		name, in string
		want     int
		err      string
	}{
		{"empty", "", 0, ""},
		{"a last line cut short by a kill is left out", `{"type":"link"}` + "\n" + `{"type":"li`, 1, ""},
		{"a broken line is an error with its number", `{"type":"link"}` + "\n" + `{"type":` + "\n", 0, "line 2"},
		{"blank lines are skipped", "\n" + `{"type":"link"}` + "\n\n", 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadTruth(strings.NewReader(tt.in))
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Len(t, got, tt.want)
		})
	}
}

func TestHistogram_quantiles_are_within_three_percent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Histogram
		d := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "d")).Truncate(time.Microsecond)
		h.Add(d)
		h.Add(2 * time.Hour)
		got := h.Quantile(0.5)
		require.GreaterOrEqual(t, got, d)
		require.LessOrEqual(t, float64(got), float64(d)*1.04+float64(2*time.Microsecond))
	})
}

func TestSchedule_gives_back_by_time_and_then_by_order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q schedule
		times := rapid.SliceOf(rapid.Int64Range(0, 20)).Draw(t, "times")
		for _, at := range times {
			q.push(due{at: time.Unix(at, 0)})
		}
		last := due{}
		for range times {
			d := q.pop()
			require.True(t, last.before(&d))
			last = d
		}
	})
}

func TestQueue_is_first_in_first_out_with_a_front_to_push_to(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var model []*delivery
		t.Repeat(map[string]func(*rapid.T){
			"pushBack": func(t *rapid.T) {
				d := &delivery{}
				q.pushBack(d)
				model = append(model, d)
			},
			"pushFront": func(t *rapid.T) {
				d := &delivery{}
				q.pushFront(d)
				model = append([]*delivery{d}, model...)
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				require.Same(t, model[0], q.pop())
				model = model[1:]
			},
			"": func(t *rapid.T) { require.Equal(t, len(model), q.len()) },
		})
	})
}

func TestConfig_Validate_reports_everything_at_once(t *testing.T) {
	err := Config{
		IDs: IDs{TLV: "octal"}, Receipts: Receipts{DataSM: 1.5, Form: "pigeon", States: []StateShare{{Word: "DELIVRD"}}},
		Traffic: Traffic{Sequence: "random", OversizeOctets: 3}, Link: Link{Drops: []Drop{"gently"}},
	}.Validate()
	for _, want := range []string{"ids.tlv", "receipts.data_sm", "receipts.form", "receipts.states", "traffic.sequence", "traffic.oversize_octets", "link.drops"} {
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, Config{}.Validate())
}
