package receipt

import "time"

// Date is a receipt's date: a wall clock without zone unless the SMSC's timezone is configured.
type Date struct {
	Wall  time.Time // in UTC as carrier of the wall clock; zero when the text was no possible date
	Zoned bool      // Wall is an instant: Rules.Timezone was applied
}

// dateLayout is how a date without a zone is written; a zoned one has a Z behind it.
const dateLayout = "2006-01-02T15:04:05"

// IsZero reports whether there is no date: the label was missing, or its text was no possible date.
func (d Date) IsZero() bool { return d.Wall.IsZero() }

// String gives 2024-03-15T12:04:00, with a Z behind it if the date is zoned; "" if there is none.
func (d Date) String() string {
	switch {
	case d.IsZero():
		return ""
	case d.Zoned:
		return d.Wall.Format(dateLayout + "Z")
	}
	return d.Wall.Format(dateLayout)
}

// MarshalText gives String.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes what String gives.
func (d *Date) UnmarshalText(text []byte) error {
	*d = Date{}
	if len(text) == 0 {
		return nil
	}
	layout := dateLayout
	if text[len(text)-1] == 'Z' {
		layout, d.Zoned = dateLayout+"Z", true
	}
	wall, err := time.Parse(layout, string(text))
	d.Wall = wall
	return err
}

// date reads a receipt's date in one of the notations that are met (testdata/receipts/dates.jsonl)
// and puts it into the SMSC's time zone, if that is configured. Impossible dates give none.
func (r *Rules) date(raw string) Date {
	wall, ok := parseDate(raw)
	if !ok {
		return Date{}
	}
	loc := r.location()
	if loc == nil {
		return Date{Wall: wall}
	}
	year, month, day := wall.Date()
	hour, minute, second := wall.Clock()
	return Date{Wall: time.Date(year, month, day, hour, minute, second, 0, loc).UTC(), Zoned: true}
}

// parseDate reads the notations that RULES of dates allow: YYMMDDhhmm; YYMMDDhhmmss, or YYYYMMDDhhmm
// where that is impossible; YYYYMMDDhhmmss; SMPP's absolute time of 16 characters (SMPP v3.4
// §7.1.1), of which only the wall clock is read; an ISO date with a blank before its time.
func parseDate(s string) (time.Time, bool) {
	switch len(s) {
	case 10:
		return wallTime(s, yearTwo, "")
	case 12:
		if t, ok := wallTime(s[:10], yearTwo, s[10:]); ok {
			return t, true
		}
		return wallTime(s, yearFour, "")
	case 14:
		return wallTime(s[:12], yearFour, s[12:])
	case 16:
		if s[4] == '-' {
			return isoTime(s)
		}
		if !isAbsoluteTail(s[12:]) {
			return time.Time{}, false
		}
		return wallTime(s[:10], yearTwo, s[10:12])
	case 19:
		return isoTime(s)
	}
	return time.Time{}, false
}

// Digits of a year.
const (
	yearTwo  = 2
	yearFour = 4
)

// wallTime reads year, MMDDhhmm and, if there are any, seconds, all of digits. Two-digit years from
// 38 on are of the last century, as everywhere in SMPP (v3.4 §7.1.1).
func wallTime(s string, yearDigits int, seconds string) (time.Time, bool) {
	if !allDigits(s) || !allDigits(seconds) {
		return time.Time{}, false
	}
	year := number(s[:yearDigits])
	if yearDigits == yearTwo {
		if year += 1900; year < 1938 {
			year += 100
		}
	}
	s = s[yearDigits:]
	month, day, hour, minute := number(s[:2]), number(s[2:4]), number(s[4:6]), number(s[6:8])
	second := number(seconds)
	if month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	if day > daysIn(month, year) {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return t, !t.IsZero()
}

func daysIn(month, year int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// isAbsoluteTail checks tenths, quarter hours and sign of an absolute time. R is a relative one.
func isAbsoluteTail(s string) bool {
	return allDigits(s[:3]) && number(s[1:3]) <= 48 && (s[3] == '+' || s[3] == '-')
}

// isoTime reads YYYY-MM-DD hh:mm[:ss].
func isoTime(s string) (time.Time, bool) {
	if s[4] != '-' || s[7] != '-' || !isBlank(s[10]) || s[13] != ':' {
		return time.Time{}, false
	}
	var seconds string
	if len(s) == 19 {
		if s[16] != ':' {
			return time.Time{}, false
		}
		seconds = s[17:]
	}
	return wallTime(s[:4]+s[5:7]+s[8:10]+s[11:13]+s[14:16], yearFour, seconds)
}

// isoEnd is where the value v[start:end] of a date label ends if it is the date of an ISO date and
// its time follows after one blank; else end.
func isoEnd(v []byte, start, end int) int {
	if end-start != len("2006-01-02") || v[start+4] != '-' || v[start+7] != '-' || end == len(v) {
		return end
	}
	stop := end + 1
	for stop < len(v) && !isBlank(v[stop]) {
		stop++
	}
	clock := v[end+1 : stop]
	for i, c := range clock {
		if colon := i%3 == 2; colon != (c == ':') || !colon && !isDigit(c) {
			return end
		}
	}
	if len(clock) != len("15:04") && len(clock) != len("15:04:05") {
		return end
	}
	return stop
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// number is the value of a few digits.
func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}
