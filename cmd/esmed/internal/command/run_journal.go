package command

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// run is what is remembered of sending a file with rows that have no ref. It is on disk before the first row
// leaves: a row is known by the run's key and its line.
type run struct {
	Key        string    `json:"key"` // of the batch: nobody else has it
	File       string    `json:"file"`
	SHA256     string    `json:"sha256"` // of the file, in hex
	Owner      int       `json:"owner"`  // user id, in whose name the daemon keeps keys
	Socket     string    `json:"socket"` // of the daemon that has the rows
	BegunAt    time.Time `json:"begun_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"` // all rows are answered
	Refused    int       `json:"refused,omitempty"`    // rows, when it is finished
}

// newRun begins a run.
func newRun(file, sum, socket string) run {
	return run{Key: "file-" + rand.Text(), File: file, SHA256: sum, Owner: os.Getuid(), Socket: socket, BegunAt: time.Now().UTC().Truncate(time.Second)}
}

func (r *run) finished() bool { return !r.FinishedAt.IsZero() }

// journal keeps the last run of a file: beside the file, or in the user's state directory where that cannot be
// written.
type journal struct {
	path string // "" = not chosen yet
	last *run   // nil = none
	dirs []string
	name map[string]string // of the journal, by directory
}

// openJournal finds the last run of a file, which is an absolute path.
func openJournal(file string) (*journal, error) {
	sum := sha256.Sum256([]byte(file))
	beside, state := filepath.Dir(file), stateDir()
	j := &journal{dirs: []string{beside}, name: map[string]string{beside: filepath.Base(file) + ".run"}}
	if state != "" {
		j.dirs = append(j.dirs, state)
		j.name[state] = fmt.Sprintf("%s-%x.run", filepath.Base(file), sum[:8])
	}
	for _, dir := range j.dirs {
		path := filepath.Join(dir, j.name[dir])
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var r run
		if err := json.Unmarshal(b, &r); err != nil || r.Key == "" {
			return nil, &failure{text: path + " says what was sent of the file, and cannot be read", hint: "move it away if none of the file was ever sent"}
		}
		if j.last == nil || r.BegunAt.After(j.last.BegunAt) {
			j.path, j.last = path, &r
		}
	}
	return j, nil
}

// stateDir is where a user's programs keep what they remember; "" when nobody says.
func stateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "esmed")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "esmed")
}

// keep makes a run the last one, durably.
func (j *journal) keep(r run) error {
	if j.path != "" {
		j.last = &r
		return r.write(j.path)
	}
	var all []error
	for _, dir := range j.dirs {
		path := filepath.Join(dir, j.name[dir])
		err := r.write(path)
		if err == nil {
			j.path, j.last = path, &r
			return nil
		}
		all = append(all, err)
	}
	return &failure{
		text: "what was sent can be remembered nowhere: " + errors.Join(all...).Error(),
		hint: "give every row a ref, or let --ref-prefix do it: rows with a ref need no memory",
	}
}

// write replaces a file, and returns when that is on disk.
func (r run) write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(dir)
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
