package receipt_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/receipt"
)

func TestDecode_dates(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"10 digits", "2403151204", "2024-03-15T12:04:00"},
		{"10 digits, midnight", "2403150000", "2024-03-15T00:00:00"},
		{"10 digits, last minute of a year", "2312312359", "2023-12-31T23:59:00"},
		{"12 digits", "240315120431", "2024-03-15T12:04:31"},
		{"12 digits with a whole year", "202403151204", "2024-03-15T12:04:00"},
		{"12 digits with a year of the last century", "199912312359", "1999-12-31T23:59:00"},
		{"12 digits that could be both", "201203151204", "2020-12-03T15:12:04"},
		{"14 digits", "20240315120431", "2024-03-15T12:04:31"},
		{"SMPP's absolute time", "240315120431012+", "2024-03-15T12:04:31"},
		{"SMPP's absolute time west of Greenwich", "240315120431920-", "2024-03-15T12:04:31"},
		{"SMPP's relative time", "000003000000000R", ""},
		{"SMPP's absolute time with 49 quarters", "240315120431049+", ""},
		{"SMPP's absolute time with letters", "2403151204310x2+", ""},
		{"ISO with seconds", "2024-03-15 12:04:31", "2024-03-15T12:04:31"},
		{"ISO without seconds", "2024-03-15 12:04", "2024-03-15T12:04:00"},
		{"ISO, impossible", "2024-02-30 12:04:31", ""},
		{"ISO without a time", "2024-03-15", ""},
		{"1938", "3801010000", "1938-01-01T00:00:00"},
		{"2037", "3712312359", "2037-12-31T23:59:00"},
		{"1999", "9912312359", "1999-12-31T23:59:00"},
		{"2000", "0001010000", "2000-01-01T00:00:00"},
		{"leap day", "2402291204", "2024-02-29T12:04:00"},
		{"no leap day", "2302291204", ""},
		{"leap day of 2000", "20000229000000", "2000-02-29T00:00:00"},
		{"no leap day in 1900", "19000229000000", ""},
		{"day 31 of April", "2404311204", ""},
		{"day 0", "2403001204", ""},
		{"month 0", "2400151204", ""},
		{"month 13", "2413151204", ""},
		{"hour 24", "2403152400", ""},
		{"minute 60", "2403151260", ""},
		{"second 60", "240315120460", ""},
		{"zeros of 10", "0000000000", ""},
		{"zeros of 12", "000000000000", ""},
		{"zeros of 14", "00000000000000", ""},
		{"9 digits", "240315120", ""},
		{"11 digits", "24031512043", ""},
		{"13 digits", "1710504271000", ""},
		{"an epoch", "1710504271", ""},
		{"a word", "yesterday!", ""},
		{"a word of 16", "yesterday-at-ten", ""},
		{"a word of 19", "the-day-before-that", ""},
		{"letters among digits", "24031512o4", ""},
		{"a sign", "+240315120", ""},
		{"a hyphen", "-", ""},
		{"digits of another script", "\xb2403151204", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := receipt.Decode(deliver(4, "id:7 submit date:"+tt.raw+" done date:"+tt.raw+" stat:DELIVRD"), nil)
			require.Equal(t, tt.want, r.SubmitDate.String())
			require.Equal(t, tt.want, r.DoneDate.String())
			require.Equal(t, tt.want == "", r.DoneDate.IsZero())
			require.False(t, r.DoneDate.Zoned)
			require.Equal(t, runes(tt.raw), r.DoneDateRaw)
			require.Equal(t, receipt.Delivered, r.State)
		})
	}
}

func TestDecode_timezone(t *testing.T) {
	text := "id:7 submit date:2403151204 done date:2407151204 stat:DELIVRD"
	tests := []struct {
		name, zone, submit, done string
	}{
		{"none", "", "2024-03-15T12:04:00", "2024-07-15T12:04:00"},
		{"UTC", "UTC", "2024-03-15T12:04:00Z", "2024-07-15T12:04:00Z"},
		{"with summer time", "Europe/Rome", "2024-03-15T11:04:00Z", "2024-07-15T10:04:00Z"},
		{"west", "America/New_York", "2024-03-15T16:04:00Z", "2024-07-15T16:04:00Z"},
		{"not known", "Atlantis/Centre", "2024-03-15T12:04:00", "2024-07-15T12:04:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := receipt.DefaultRules()
			rules.Timezone = tt.zone
			for range 2 {
				r := receipt.Decode(deliver(4, text), &rules)
				require.Equal(t, []string{tt.submit, tt.done}, []string{r.SubmitDate.String(), r.DoneDate.String()})
				rules.Prepare()
			}
		})
	}
}

func TestDate_JSON(t *testing.T) {
	for _, text := range []string{`""`, `"2024-03-15T12:04:00"`, `"2024-03-15T12:04:00Z"`} {
		var d receipt.Date
		require.NoError(t, json.Unmarshal([]byte(text), &d))
		got, err := json.Marshal(d)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
	var d receipt.Date
	require.Error(t, json.Unmarshal([]byte(`"2403151204"`), &d))
}
