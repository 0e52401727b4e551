package config

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxSocketPath is what sockaddr_un holds on Linux, with its NUL.
const maxSocketPath = 107

// Validate reports every problem of c at once, joined, each a *Problem with its path. Load has called
// it; it is for a Config made in code.
func (c *Config) Validate() error {
	ps := new(problems)
	c.validate(ps)
	return ps.err()
}

func (c *Config) validate(ps *problems) {
	ps.check(c.DataDir != "", "data_dir", "must name a directory")
	ps.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	ps.oneOf("log.format", c.Log.Format, "json", "console")
	ps.atLeast("shutdown_timeout", c.ShutdownTimeout, minTimer)
	c.API.validate(ps)
	c.Alerts.validate(ps)

	ps.check(len(c.SMSCs) > 0, "smscs", "at least one is needed")
	seen := make(map[string]int)
	for i := range c.SMSCs {
		s, path := &c.SMSCs[i], "smscs["+strconv.Itoa(i)+"]"
		s.validate(ps, path)
		if first, twice := seen[s.Name]; twice && s.Name != "" {
			ps.add(path+".name", "%q is the name of smscs[%d] already", s.Name, first)
			continue
		}
		seen[s.Name] = i
	}
	c.validateAccounts(ps)
	if c.DefaultSMSC != "" {
		ps.check(c.SMSC(c.DefaultSMSC) != nil, "default_smsc", "no SMSC is named %q (there are: %s)", c.DefaultSMSC, strings.Join(c.names(), ", "))
	}
	c.validateRetention(ps)
	c.refuseUnsupported(ps)
}

func (a API) validate(ps *problems) {
	ps.check(a.Socket != "", "api.socket", "must name a file")
	ps.check(len(a.Socket) <= maxSocketPath, "api.socket", "must be %d octets or less (got %d): it is the system's limit", maxSocketPath, len(a.Socket))
	if a.Listen != "" {
		ps.hostPort("api.listen", a.Listen)
		ps.check(a.TokensFile != "", "api.tokens_file", "is required when api.listen is set")
	}
}

func (a Alerts) validate(ps *problems) {
	ps.check(a.CoverageBelow >= 0 && a.CoverageBelow <= 1, "alerts.coverage_below", "must be 0 to 1 (got %v)", a.CoverageBelow)
	ps.check(a.CoverageWindow > 0, "alerts.coverage_window", "must be more than 0")
	ps.check(a.CoverageSettle >= 0, "alerts.coverage_settle", "must not be negative")
	ps.check(a.CoverageWindow-a.CoverageSettle >= time.Hour, "alerts.coverage_settle",
		"must be at least an hour less than coverage_window (got %s and %s): no message would ever count", a.CoverageSettle, a.CoverageWindow)
	ps.check(a.CoverageMin >= 0, "alerts.coverage_min", "must not be negative")
	ps.check(a.InboxOlderThan > 0, "alerts.inbox_older_than", "must be more than 0")
	ps.check(a.OverdueAbove >= 0, "alerts.overdue_above", "must not be negative")
}

func (p *problems) oneOf(path, got string, allowed ...string) {
	p.check(slices.Contains(allowed, got), path, "must be %s (got %q)", alternatives(allowed), got)
}

func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (p *problems) hostPort(path, s string) {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" && path != "api.listen" {
		p.add(path, "must be host:port (got %q)", s)
		return
	}
	n, err := strconv.ParseUint(port, 10, 16)
	p.check(err == nil && (n > 0 || path == "api.listen"), path, "the port must be 1 to 65535 (got %q)", port)
}
