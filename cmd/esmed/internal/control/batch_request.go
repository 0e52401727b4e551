package control

import (
	"math"
	"net/http"
	"strconv"
)

// batchRequest is what a batch's query and header say of all its lines.
type batchRequest struct {
	dry   bool   // say what is wrong with the lines, and accept none
	key   string // the batch's Idempotency-Key; "" = none
	first int    // number of the body's first line, from 1
}

// readBatchRequest reads query and header, or refuses the whole of the batch.
func (a *API) readBatchRequest(r *http.Request) (batchRequest, *Problem) {
	q := r.URL.Query()
	b := batchRequest{key: r.Header.Get("Idempotency-Key"), first: 1}
	dry, p := boolQuery(q, "dry_run")
	if p := firstProblem(a.taking(), checkMedia(r.Header, batchTypes), knownQuery(q, "dry_run", "first_line"), p, badKey(b.key)); p != nil {
		return b, p
	}
	b.dry = dry
	if q.Has("first_line") {
		n, err := strconv.ParseUint(q.Get("first_line"), 10, 64)
		if err != nil || n < 1 || n > math.MaxInt32 {
			return b, badQuery("first_line", "want a number, 1 or more")
		}
		b.first = int(n)
	}
	return b, nil
}

// badKey refuses an Idempotency-Key that is none.
func badKey(key string) *Problem {
	wrong := checkLabel(key)
	if wrong == "" {
		return nil
	}
	p := newProblem(http.StatusUnprocessableEntity, "the header is not valid", "")
	p.Errors = []FieldProblem{{Path: "header.Idempotency-Key", Message: wrong}}
	return p
}

// lineKey is the idempotency key of a line that has no ref; "" = none. A ref needs no key beside it: it is the
// line's name wherever the line stands.
func (b batchRequest) lineKey(line int, ref string) string {
	if b.key == "" || ref != "" {
		return ""
	}
	return b.key + "/" + strconv.Itoa(line)
}
