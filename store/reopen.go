package store

import "os"

// reopenPages is how many pages of state.db are allocated before it is opened again. bbolt notes for each page that it
// gives out once more which transaction has it, until the page is free: with ten million messages that would be as much
// memory as everything else.
const reopenPages = 1 << 19

// reopenState opens state.db again, once it is time and nobody uses it for long. Who folds calls it, while nothing is
// written. It is put off while the file cannot be opened, for want of a descriptor for instance: only then is the one
// closed that is in use. An error is one after which nothing can be read any more.
func (s *Store) reopenState() error {
	a := s.applier
	if a.allocated < s.reopenAfter || !s.stateUse.TryLock() {
		return nil
	}
	defer s.stateUse.Unlock()
	a.layers.mu.Lock()
	defer a.layers.mu.Unlock()
	path := s.state.Path()
	used, err := checkHeader(path, stateFile)
	if err != nil {
		return nil
	}
	f, err := openFile(path, os.O_RDWR)
	if err != nil {
		return nil
	}
	if err := s.state.Close(); err != nil {
		f.Close()
		return err
	}
	options := stateOptions(false)
	options.InitialMmapSize += int(used)
	db, err := openBoltBy(func(string, int, os.FileMode) (*os.File, error) { return f, nil }, path, stateFile, options)
	if err != nil {
		return err
	}
	s.useState(db)
	return nil
}
