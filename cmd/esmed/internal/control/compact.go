package control

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// CompactProgress says how far a compaction has come.
type CompactProgress struct {
	File  string `json:"file" doc:"What is being written anew"`
	Done  int64  `json:"done" doc:"Octets"`
	Total int64  `json:"total" doc:"About"`
}

// CompactResult says what became of each file.
type CompactResult struct {
	Files []CompactedFile `json:"files" nullable:"false"`
}

// CompactedFile is what became of a file.
type CompactedFile struct {
	File   string `json:"file"`
	Before int64  `json:"before_bytes" doc:"On the disk"`
	After  int64  `json:"after_bytes"`
	Left   string `json:"left,omitempty" doc:"Why the file was left as it is"`
}

// CompactLine is one line of the answer to POST /v1/compact.
type CompactLine = WorkLine[CompactProgress, CompactResult]

// Compacter gives room back that files of the store have and do not need.
type Compacter interface {
	Compact(ctx context.Context, progress func(CompactProgress)) (CompactResult, error)
}

// postCompact compacts.
func (a *API) postCompact(w http.ResponseWriter, r *http.Request) {
	if p := knownQuery(r.URL.Query()); p != nil {
		writeProblem(w, p)
		return
	}
	if a.cfg.Compact == nil {
		writeProblem(w, newProblem(http.StatusServiceUnavailable, "there is nothing to compact with", ""))
		return
	}
	work(a, w, r, a.cfg.Compact.Compact, func(err error) *Problem { return a.problemOf("compact", err) })
}

func (a *API) describeCompact(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/compact", OperationID: "compact", Summary: "Give room back that files of the store do not need",
		Description: "state.db is left: it is written anew by esmed compact while the daemon is stopped.",
		Responses: map[string]*huma.Response{
			"200": {Description: "Progress, then the result", Content: content(ndjsonType, schemaOf[CompactLine](api))},
		},
	}
}

// Compact has the daemon give room back. progress may be nil; it is called in between.
func (c *Client) Compact(ctx context.Context, progress func(CompactProgress)) (CompactResult, error) {
	return postWork[CompactProgress, CompactResult](ctx, c, "/v1/compact", nil, nil, progress)
}
