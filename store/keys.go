package store

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	secretSize  = 32
	keyCheck    = 8 // octets of the secret's SHA-256 behind it: damage is told from a wrong key
	keyFileTime = "20060102T150405Z"
	keySuffix   = ".key"
)

// keyring keeps the keys directory. A key that is not there was destroyed.
type keyring struct {
	dir   string
	least uint64 // name that a new key has at least: behind those in the log, also those that were destroyed

	mu      sync.Mutex
	known   map[uint64]*sealKey // nil: known not to be there
	current *sealKey            // what this process seals with; nil = none yet
}

func newKeyring(dir string) *keyring {
	return &keyring{dir: dir, known: make(map[uint64]*sealKey)}
}

func keyFile(name uint64) string {
	return time.Unix(int64(name), 0).UTC().Format(keyFileTime) + keySuffix
}

// sealing is the key for texts that come at now. It is on disk when it is first returned.
func (k *keyring) sealing(now time.Time) (*sealKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	const hour = 60 * 60
	name := max(uint64(now.Unix()), k.least)
	if k.current != nil && k.current.name/hour >= name/hour {
		return k.current, nil
	}
	secret := make([]byte, secretSize)
	rand.Read(secret)
	for {
		err := writeKey(k.dir, name, secret)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("key: %w", err)
		}
		name++
	}
	key, err := newSealKey(name, secret)
	if err != nil {
		return nil, err
	}
	k.current, k.known[name] = key, key
	return key, nil
}

// renew makes the next text be sealed with a new key, since seqs will be given again.
func (k *keyring) renew() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current = nil
}

// keyLife is how long after it was made a key may have sealed texts: keys are of one hour.
const keyLife = time.Hour

// over reports whether a key by the name made sealed nothing at or after an instant and can be destroyed. The
// one in use stays.
func (k *keyring) over(made, before time.Time) bool {
	return !made.Add(keyLife).After(before) && (k.current == nil || k.current.name != uint64(made.Unix()))
}

// anyBefore reports whether there is something for destroyBefore.
func (k *keyring) anyBefore(before time.Time) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	files, err := os.ReadDir(k.dir)
	return slices.ContainsFunc(files, func(f os.DirEntry) bool {
		made, err := time.Parse(keyFileTime+keySuffix, f.Name())
		return err == nil && k.over(made, before) || filepath.Ext(f.Name()) == tmpSuffix
	}), err
}

// destroyBefore destroys keys that sealed nothing at or after an instant, the oldest first, at most limit. What
// they sealed reads as zeros from then on.
func (k *keyring) destroyBefore(before time.Time, limit int) (n int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	files, err := os.ReadDir(k.dir)
	if err != nil {
		return 0, err
	}
	for _, f := range files { // their names are times
		made, err := time.Parse(keyFileTime+keySuffix, f.Name())
		if err != nil {
			if err := overwriteKey(k.dir, f.Name()); err != nil {
				return n, err
			}
			continue
		}
		if n == limit || !k.over(made, before) {
			break
		}
		if err := destroyKey(k.dir, f.Name()); err != nil {
			return n, err
		}
		k.known[uint64(made.Unix())] = nil
		n++
	}
	return n, nil
}

// destroyKey overwrites a key under a name that nobody reads, so that a crash leaves it whole or gone, and
// removes it.
func destroyKey(dir, name string) error {
	path := filepath.Join(dir, name)
	if err := os.Rename(path, path+tmpSuffix); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	return overwriteKey(dir, name+tmpSuffix)
}

// overwriteKey makes an end of what a crash left of a key that was being made or destroyed.
func overwriteKey(dir, name string) error {
	if filepath.Ext(name) != tmpSuffix {
		return nil
	}
	path := filepath.Join(dir, name)
	if err := writeOver(path, make([]byte, secretSize+keyCheck)); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncDir(dir)
}

// writeKey makes a key file whole or not at all; fs.ErrExist when the name is taken.
func writeKey(dir string, name uint64, secret []byte) error {
	path := filepath.Join(dir, keyFile(name))
	check := sha256.Sum256(secret)
	data := append(secret[:secretSize:secretSize], check[:keyCheck]...)
	defer os.Remove(path + tmpSuffix)
	if err := writeSynced(path+tmpSuffix, data); err != nil {
		return err
	}
	if err := os.Link(path+tmpSuffix, path); err != nil {
		return err
	}
	return syncDir(dir)
}

// named is a key by name; nil when it was destroyed, which is to say that its file and nothing else is not
// there. Whatever else keeps it from being read is ErrKey, and may be over the next time.
func (k *keyring) named(name uint64) (*sealKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key, ok := k.known[name]; ok {
		return key, nil
	}
	key, err := readKey(filepath.Join(k.dir, keyFile(name)), name)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(k.dir)
	}
	if err != nil {
		return nil, keyError(keyFile(name), err)
	}
	k.known[name] = key
	return key, nil
}

var (
	errKeyDamaged = errors.New("key does not agree with its check")
	errKeyName    = errors.New("not the name of a key")
)

// keyError says which key cannot be read and why.
func keyError(file string, err error) error {
	if errors.Is(err, errKeyDamaged) || errors.Is(err, errKeyName) {
		err = &DamagedError{File: filepath.Join(keysDir, file), Err: err}
	}
	return fmt.Errorf("%w: %w", ErrKey, diskFull(err))
}

func readKey(path string, name uint64) (*sealKey, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, secretSize+keyCheck+1))
	if err != nil {
		return nil, err
	}
	if len(data) != secretSize+keyCheck {
		return nil, errKeyDamaged
	}
	check := sha256.Sum256(data[:secretSize])
	if !bytes.Equal(check[:keyCheck], data[secretSize:]) {
		return nil, errKeyDamaged
	}
	return newSealKey(name, data[:secretSize])
}

// checkedKeys is how many keys are read when a store is opened: those of the last hours and days, which
// the queue's texts are sealed with. Others are only looked at, so that years of them cost little.
const checkedKeys = 64

// check looks at every key file and reads the newest ones. It names the first that is damaged or cannot
// be read.
func (k *keyring) check(newest int) error {
	files, err := os.ReadDir(k.dir)
	if err != nil {
		return err
	}
	for _, f := range slices.Backward(files) { // their names are times
		if filepath.Ext(f.Name()) != keySuffix {
			continue
		}
		look := lookAtKey
		if newest--; newest >= 0 {
			look = func(path string) error {
				_, err := readKey(path, 0)
				return err
			}
		}
		_, err := time.Parse(keyFileTime+keySuffix, f.Name())
		if err != nil {
			err = errKeyName
		} else {
			err = look(filepath.Join(k.dir, f.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // destroyed meanwhile
			return keyError(f.Name(), err)
		}
	}
	return nil
}

// lookAtKey finds a key that was cut short, or that is not for us to read.
func lookAtKey(path string) error {
	const readable = 4 // R_OK of access(2)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.Size() != secretSize+keyCheck:
		return errKeyDamaged
	}
	if err := syscall.Access(path, readable); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}
