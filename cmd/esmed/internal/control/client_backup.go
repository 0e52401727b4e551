package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Backup has the daemon copy its store into dir, an absolute path on its machine. progress may be nil; it is
// called in between.
func (c *Client) Backup(ctx context.Context, dir string, progress func(BackupProgress)) (BackupResult, error) {
	body, err := json.Marshal(Backup{Dir: dir})
	if err != nil {
		return BackupResult{}, fmt.Errorf("control: backup: %w", err)
	}
	return postWork[BackupProgress, BackupResult](ctx, c, "/v1/backup", nil, bytes.NewReader(body), progress)
}
