package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

var errDuration = errors.New(`not a duration: write a number with its unit, as 30s, 5m, 72h or 90d`)

// ParseDuration reads a duration: Go's own form, with days as a first unit if wanted ("90d", "1d12h").
// A number without a unit is an error, except 0. Days are 24 hours.
func ParseDuration(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	days, rest, found := strings.Cut(s, "d")
	if !found {
		d, err := time.ParseDuration(s)
		if err != nil {
			return 0, fmt.Errorf("%w (got %q)", errDuration, s)
		}
		return d, nil
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%w (got %q)", errDuration, s)
	}
	total := time.Duration(n) * day
	if rest == "" {
		return total, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || strings.HasPrefix(rest, "+") {
		return 0, fmt.Errorf("%w (got %q)", errDuration, s)
	}
	return total + d, nil
}
