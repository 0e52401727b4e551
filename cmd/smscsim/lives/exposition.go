package lives

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// exposition is what /metrics says, labels but le added up.
type exposition struct {
	values  map[string]float64
	buckets map[string]map[float64]float64 // of a histogram, by its upper end: as many or fewer
}

// readExposition reads the text format of Prometheus.
func readExposition(r io.Reader) (exposition, error) {
	e := exposition{map[string]float64{}, map[string]map[float64]float64{}}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		if at < 0 {
			return e, fmt.Errorf("metrics: no value: %q", line)
		}
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return e, fmt.Errorf("metrics: %w", err)
		}
		name, labels, _ := strings.Cut(line[:at], "{")
		if of, ok := strings.CutSuffix(name, "_bucket"); ok {
			if err := e.bucket(of, labels, v); err != nil {
				return e, err
			}
			continue
		}
		e.values[name] += v
	}
	return e, lines.Err()
}

func (e exposition) bucket(name, labels string, v float64) error {
	_, rest, ok := strings.Cut(labels, `le="`)
	text, _, closed := strings.Cut(rest, `"`)
	le, err := strconv.ParseFloat(text, 64)
	if !ok || !closed || err != nil {
		return fmt.Errorf("metrics: a bucket of %s without its end", name)
	}
	if e.buckets[name] == nil {
		e.buckets[name] = map[float64]float64{}
	}
	e.buckets[name][le] += v
	return nil
}

// since is the growth of a counter.
func (e exposition) since(before exposition, name string) float64 {
	return e.values[name] - before.values[name]
}

// quantile is where the share q of what a histogram of seconds counted since before is reached, straight
// between the ends of a bucket; 0 if it counted nothing.
func (e exposition) quantile(before exposition, name string, q float64) time.Duration {
	ends := make([]float64, 0, len(e.buckets[name]))
	for end := range e.buckets[name] {
		ends = append(ends, end)
	}
	slices.Sort(ends)
	count := func(end float64) float64 { return e.buckets[name][end] - before.buckets[name][end] }
	if len(ends) == 0 || count(ends[len(ends)-1]) == 0 {
		return 0
	}
	want, from, below := q*count(ends[len(ends)-1]), 0.0, 0.0
	for _, end := range ends {
		n := count(end)
		if n >= want && n > below && !math.IsInf(end, 1) {
			return time.Duration((from + (end-from)*(want-below)/(n-below)) * float64(time.Second))
		}
		if math.IsInf(end, 1) {
			break
		}
		from, below = end, n
	}
	return time.Duration(from * float64(time.Second)) // beyond the last end: at least that
}
