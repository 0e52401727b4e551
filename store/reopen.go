package store

// reopenPages is how many pages of state.db are allocated before it is opened again. bbolt notes for each page that it
// gives out once more which transaction has it, until the page is free: with ten million messages that would be as much
// memory as everything else.
const reopenPages = 1 << 19

// reopenState opens state.db again, once it is time and nobody uses it for long. Who folds calls it, while nothing is
// written. When the file cannot be opened nothing can be read any more.
func (s *Store) reopenState() error {
	a := s.applier
	if a.allocated < s.reopenAfter || !s.stateUse.TryLock() {
		return nil
	}
	defer s.stateUse.Unlock()
	a.layers.mu.Lock()
	defer a.layers.mu.Unlock()
	path := s.state.Path()
	if err := s.state.Close(); err != nil {
		return err
	}
	db, err := openStateFile(path, stateFile, stateOptions(false))
	if err != nil {
		return err
	}
	s.useState(db)
	return nil
}
