package daemon

import (
	"errors"
	"fmt"
	"net/http"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

// Reader is the API over a store that no daemon runs on, for reading only. It is an http.Handler, to be
// used through control.NewInProcess.
type Reader struct {
	http.Handler
	store *store.Store
}

// OpenReader opens the data directory at dir for reading and folds in memory what a daemon that has gone
// had not come to. Nothing is written. Its errors are the store's: store.ErrLocked where a daemon runs,
// store.ErrNoStore, store.ErrNewerFormat, *store.DamagedError. The caller closes it.
func OpenReader(dir, version string) (*Reader, error) { return OpenReaderUnder(dir, version, nil) }

// OpenReaderUnder is OpenReader that can also tell what the rules of a configuration would change; load reads it.
func OpenReaderUnder(dir, version string, load func() (*config.Config, error)) (*Reader, error) {
	s, err := store.OpenReadOnly(store.Config{Dir: dir, Decode: DecodePDU, TextSpans: TextSpans})
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	b := &backend{store: s, dataDir: dir, reload: load}
	api, err := control.New(control.Config{
		Backend: b.readers(), InboxOlderThan: config.Default().Alerts.InboxOlderThan,
		Reception: b.reception, StatusName: statusName, Version: version,
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Reader{Handler: api, store: s}, nil
}

// Close closes the store.
func (r *Reader) Close() error { return r.store.Close() }
