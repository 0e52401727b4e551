package store

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
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
	dir string

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
	name := uint64(now.Unix())
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

// named is a key by name; nil when it was destroyed, or is damaged (verify tells).
func (k *keyring) named(name uint64) *sealKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.known[name]
	if !ok {
		key, _ = readKey(filepath.Join(k.dir, keyFile(name)), name)
		k.known[name] = key
	}
	return key
}

var errKeyDamaged = errors.New("key does not agree with its check")

func readKey(path string, name uint64) (*sealKey, error) {
	data, err := os.ReadFile(path)
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

// check reads every key file and names the first that is damaged.
func (k *keyring) check() error {
	files, err := os.ReadDir(k.dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != keySuffix {
			continue
		}
		if _, err := readKey(filepath.Join(k.dir, f.Name()), 0); err != nil {
			return &DamagedError{File: filepath.Join(keysDir, f.Name()), Err: err}
		}
	}
	return nil
}
