package control

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// badQuery refuses a query parameter.
func badQuery(name, message string) *Problem {
	p := newProblem(http.StatusUnprocessableEntity, "the query is not valid", "")
	p.Errors = []FieldProblem{{Path: "query." + name, Message: message}}
	return p
}

// knownQuery refuses parameters that an endpoint does not have.
func knownQuery(q url.Values, names ...string) *Problem {
next:
	for name := range q {
		for _, n := range names {
			if n == name {
				continue next
			}
		}
		return badQuery(name, fmt.Sprintf("is unknown here; known: %s", strings.Join(names, ", ")))
	}
	return nil
}

// boolQuery reads true, false or nothing.
func boolQuery(q url.Values, name string) (bool, *Problem) {
	switch q.Get(name) {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, badQuery(name, "want true or false")
}

// durationQuery reads a duration of 0 or more with its unit; "" is the default.
func durationQuery(name, value string, def time.Duration) (time.Duration, error) {
	if value == "" {
		return def, nil
	}
	d, err := parseDuration(value)
	if err != nil || d < 0 {
		return 0, badQuery(name, "want a duration as 90s, 6h or 2d")
	}
	return d, nil
}

// timeQuery reads RFC 3339; "" is the zero time.
func timeQuery(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return time.Time{}, badQuery(name, "want RFC 3339, as 2026-11-30T12:00:00Z")
	}
	return t.UTC(), nil
}
