package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Secret is text that never shows: printed, formatted or marshalled it reads "(secret)".
// Convert it with string(s) where it is used.
type Secret string

const hidden = "(secret)"

// String hides the secret.
func (Secret) String() string { return hidden }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return hidden }

// MarshalText hides the secret from JSON and YAML.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// checkFiles looks whether the files that will be read can be.
func (c *Config) checkFiles(ps *problems) {
	if c.API.Listen != "" {
		ps.readable("api.tokens_file", c.API.TokensFile)
	}
	for i := range c.SMSCs {
		if tls, path := c.SMSCs[i].TLS, fmt.Sprintf("smscs[%d].tls", i); tls.Enabled {
			ps.readable(path+".ca_file", tls.CAFile)
			ps.readable(path+".cert_file", tls.CertFile)
			ps.readable(path+".key_file", tls.KeyFile)
			ps.usable(path, tls)
		}
	}
}

// readable adds a problem when a file cannot be opened, or is none; file "" is not looked for.
func (p *problems) readable(path, file string) {
	if file == "" {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		p.check(false, path, "%s", err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	p.check(err == nil && info.Mode().IsRegular(), path, "%s is not a file", file)
}

// usable adds a problem when files can be read but not used.
func (p *problems) usable(path string, t TLS) {
	_, err := t.Config()
	if problem, ok := errors.AsType[*Problem](err); ok {
		p.check(false, path+"."+problem.Path, "%s", problem.Text)
	}
}

// placeFiles finds the files that are read once, at start: see place.
func (c *Config) placeFiles(configDir, credentialsDir string) {
	files := []*string{&c.API.TokensFile}
	for i := range c.SMSCs {
		s := &c.SMSCs[i]
		files = append(files, &s.PasswordFile, &s.TLS.CAFile, &s.TLS.CertFile, &s.TLS.KeyFile)
	}
	for _, file := range files {
		if *file != "" {
			*file = place(*file, configDir, credentialsDir)
		}
	}
}

// readSecrets puts each password_file's content into Password.
func (c *Config) readSecrets(ps *problems) {
	for i := range c.SMSCs {
		s, path := &c.SMSCs[i], fmt.Sprintf("smscs[%d].password_file", i)
		if s.PasswordFile == "" || s.Password != "" {
			continue
		}
		password, err := readSecret(s.PasswordFile)
		if err != nil {
			ps.add(path, "%s", err)
			continue
		}
		ps.credential(path, string(password))
		s.Password = password
	}
}

// place says where a file is: an absolute path as it stands; another among systemd's credentials if it is there, else
// beside the configuration file. A credential's name has no slash: LoadCredential=credentials:/etc/esmed/credentials
// names the files of that directory credentials_FILE (systemd.exec(5)), which is what credentials/FILE stands for.
func place(file, configDir, credentialsDir string) string {
	if filepath.IsAbs(file) {
		return file
	}
	if credentialsDir != "" {
		path := filepath.Join(credentialsDir, strings.ReplaceAll(filepath.Clean(file), "/", "_"))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return filepath.Join(configDir, file)
}

// readSecret reads a one-line secret. Its file must not be open to everybody, nor writable by its
// group: who can write it can point us at an account of theirs.
func readSecret(path string) (Secret, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", path)
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return "", fmt.Errorf("%s is open to others (mode %04o): chmod 0640 it, or 0600", path, mode)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(b), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return Secret(secret), nil
}
