package lives

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// answer is what the API said to one submission.
type answer struct {
	status     int    // of HTTP; 202 in a batch's line stands for accepted
	id         []byte // of the message; valid until the next answer is read
	retryAfter time.Duration
}

const accepted = 202

var (
	idKey       = []byte(`"id":"`)
	existingKey = []byte(`"existing":true`)
)

// findID is the id in a message or a batch's result, found without decoding the rest.
func findID(b []byte) ([]byte, bool) {
	_, rest, ok := bytes.Cut(b, idKey)
	if !ok {
		return nil, false
	}
	id, _, ok := bytes.Cut(rest, []byte{'"'})
	return id, ok
}

// readResult reads a line of a batch's answer.
func readResult(line []byte) (answer, error) {
	if id, ok := findID(line); ok {
		if bytes.Contains(line, existingKey) {
			return answer{}, fmt.Errorf("a submission was taken for an earlier one: %s", bytes.TrimSpace(line))
		}
		return answer{status: accepted, id: id}, nil
	}
	var r struct {
		Error struct {
			Status int    `json:"status"`
			Detail string `json:"detail"`
		} `json:"error"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return answer{}, fmt.Errorf("a result that is no JSON: %w", err)
	}
	if r.Error.Status < 300 {
		return answer{}, fmt.Errorf("a result with neither id nor error: %s", bytes.TrimSpace(line))
	}
	if r.Error.Status < 500 && r.Error.Status != tooMany {
		return answer{}, fmt.Errorf("a submission was refused: %d %s", r.Error.Status, r.Error.Detail)
	}
	return answer{status: r.Error.Status}, nil
}

// tooMany is the status by which the API pushes back.
const tooMany = 429
