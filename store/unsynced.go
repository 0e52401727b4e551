package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// unsyncedFile is there while what Config.Unsynced made may not be on the disk.
const unsyncedFile = "unsynced"

// markUnsynced takes an empty directory for a store that is made without fsync.
func (s *Store) markUnsynced() error {
	files, err := os.ReadDir(s.cfg.Dir)
	switch {
	case err != nil:
		return err
	case len(files) > 0:
		return fmt.Errorf("%s is not empty", s.cfg.Dir)
	}
	if err := writeSynced(filepath.Join(s.cfg.Dir, unsyncedFile), nil); err != nil {
		return err
	}
	return syncDir(s.cfg.Dir)
}

// checkUnsynced refuses a store whose making was cut short.
func (s *Store) checkUnsynced() error {
	there, err := exists(filepath.Join(s.cfg.Dir, unsyncedFile))
	if there {
		return &DamagedError{File: unsyncedFile, Err: errors.New("the store was made without fsync, and never finished")}
	}
	return err
}

// finishUnsynced makes all durable, and then the store like any other.
func (s *Store) finishUnsynced() error {
	err := s.state.Sync()
	for _, segment := range s.log.from(0) {
		err = errors.Join(err, segment.db.Sync())
	}
	if err == nil {
		err = os.Remove(filepath.Join(s.cfg.Dir, unsyncedFile))
	}
	return errors.Join(err, syncDir(s.cfg.Dir))
}
