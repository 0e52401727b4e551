package config

import (
	"fmt"
	"os"
)

// Warnings are what keeps no daemon from running and should not stay so: secrets and message texts that others
// may read or change. path is the file that c was loaded from, "" for none. What is not there yet, or
// cannot be looked at, is no warning.
func (c *Config) Warnings(path string) []*Problem {
	ps := new(problems)
	ps.private("data_dir", c.DataDir, "holds messages", "0700")
	if c.API.Listen != "" {
		ps.private("api.tokens_file", c.API.TokensFile, "says who may use the API", "0640")
	}
	for i := range c.SMSCs {
		s, at := &c.SMSCs[i], fmt.Sprintf("smscs[%d]", i)
		if s.Password != "" && s.PasswordFile == "" {
			ps.private(at+".password", path, "holds a password", "0640")
		}
		if s.TLS.Enabled {
			ps.private(at+".tls.key_file", s.TLS.KeyFile, "holds a key", "0640")
		}
	}
	return ps.list
}

// private adds a problem when everybody may use a file or directory.
func (p *problems) private(path, file, what, mode string) {
	info, err := os.Stat(file)
	if err != nil {
		return
	}
	perm := info.Mode().Perm()
	p.check(perm&0o007 == 0, path, "%s %s and is open to others (mode %04o): chmod %s it", file, what, perm, mode)
}
