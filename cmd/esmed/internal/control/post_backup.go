package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// postBackup copies the store.
func (a *API) postBackup(w http.ResponseWriter, r *http.Request) {
	asked, p := readBackup(w, r)
	if p = firstProblem(knownQuery(r.URL.Query()), p); p != nil {
		writeProblem(w, p)
		return
	}
	if a.cfg.Backup == nil {
		writeProblem(w, newProblem(http.StatusServiceUnavailable, "there is nothing to copy", ""))
		return
	}
	copied := func(ctx context.Context, progress func(BackupProgress)) (BackupResult, error) {
		return a.cfg.Backup.Backup(ctx, asked, progress)
	}
	work(a, w, r, copied, func(err error) *Problem {
		if errors.Is(err, ErrDirectory) {
			return newProblem(http.StatusUnprocessableEntity, strings.TrimPrefix(err.Error(), "control: "),
				"name a directory that is empty, or does not exist yet, outside data_dir, with room, where the daemon's user may write")
		}
		return a.problemOf("backup", err)
	})
}

// maxBackupBody is more than any path takes.
const maxBackupBody = 16 << 10

func readBackup(w http.ResponseWriter, r *http.Request) (b Backup, p *Problem) {
	if p := checkMedia(r.Header, messageTypes); p != nil {
		return b, p
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBackupBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return b, newProblem(http.StatusBadRequest, "the body is not a backup: "+err.Error(), `{"dir": "/var/backups/esmed/today"}`)
	}
	if !filepath.IsAbs(b.Dir) {
		p := newProblem(http.StatusUnprocessableEntity, "the backup is not valid", "")
		p.Errors = []FieldProblem{{Path: "dir", Message: "want an absolute path"}}
		return b, p
	}
	b.Dir = filepath.Clean(b.Dir)
	return b, nil
}

func (a *API) describeBackup(api huma.API) huma.Operation {
	return huma.Operation{
		Method: http.MethodPost, Path: "/v1/backup", OperationID: "backup", Summary: "Copy the store while it is in use",
		RequestBody: &huma.RequestBody{Required: true, Content: content(jsonType, schemaOf[Backup](api))},
		Responses: map[string]*huma.Response{
			"200": {Description: "Progress, then the result", Content: content(ndjsonType, schemaOf[BackupLine](api))},
		},
	}
}
