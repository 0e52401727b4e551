package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Backup has the daemon copy its store, and verify the copy. progress may be nil; it is
// called in between.
func (c *Client) Backup(ctx context.Context, b Backup, progress func(BackupProgress)) (BackupResult, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return BackupResult{}, fmt.Errorf("control: backup: %w", err)
	}
	return postWork[BackupProgress, BackupResult](ctx, c, "/v1/backup", nil, bytes.NewReader(body), progress)
}
