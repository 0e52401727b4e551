package control

import "context"

// Backup asks for a copy of the store.
type Backup struct {
	Dir       string `json:"dir" doc:"An absolute path on the daemon's machine: a directory that is empty or does not exist"`
	ChainOnly bool   `json:"chain_only,omitempty" doc:"Verify the copy's hash chain alone, not what follows from its log"`
}

// BackupProgress says how far a backup has come.
type BackupProgress struct {
	File  string `json:"file" doc:"What is being copied; empty while the copy is verified"`
	Done  int64  `json:"done" doc:"Octets"`
	Total int64  `json:"total" doc:"What there was when it began"`
}

// BackupResult says what was copied. Seq and Hash are the end of the hash chain in it.
type BackupResult struct {
	Backup string `json:"backup" doc:"Names it, also in the log of a store that is restored from it"`
	Dir    string `json:"dir"`
	Seq    uint64 `json:"seq"`
	Hash   string `json:"hash"`
	Bytes  int64  `json:"bytes"`
	Folded bool   `json:"folded" doc:"The copy's log was folded and agrees with its projection; its hash chain was verified in any case"`
}

// BackupLine is one line of the answer to POST /v1/backup.
type BackupLine = WorkLine[BackupProgress, BackupResult]

// Copier copies the store while it is in use.
type Copier interface {
	// Backup copies it into the directory, and verifies the copy. An error that wraps ErrDirectory is about that.
	Backup(ctx context.Context, b Backup, progress func(BackupProgress)) (BackupResult, error)
}
