package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"esmed/receipt"
)

const (
	// version34 is the first interface_version with optional parameters (SMPP v3.4 §5.2.4).
	version34 = 0x34

	// firstVendorTag begins the tags that are not the specification's (SMPP v3.4 §5.3.2).
	firstVendorTag = 0x1400

	maxSessions = 100    // each is a connection, and a bind that the SMSC has to allow
	maxWindow   = 10_000 // a window beyond it only makes a crash leave more in doubt
	minMaxPDU   = 256
	maxMaxPDU   = 16 << 20 // more is broken framing
	maxAddr     = 20       // octets, without NUL (SMPP v3.4 §5.2.8)
	maxRange    = 40       // SMPP v3.4 §5.2.7
	maxNameSize = 64

	// What is shorter is a unit that was forgotten or mistaken, and keeps the SMSC busy with itself.
	minTimer  = 100 * time.Millisecond // a round trip, and one across the world
	minDelay  = 10 * time.Millisecond  // between attempts
	minWindow = time.Second            // for a receipt to come

	// maxCredential bounds system_id, password and system_type. The specification's own limits (15, 8
	// and 12 octets) are exceeded by credentials that SMSCs really give out.
	maxCredential = 64
)

func (s *SMSC) validate(ps *problems, path string) {
	s.validateIdentity(ps, path)
	s.validateSession(ps, path)
	s.validateMessages(ps, path)
	s.validateVersion(ps, path)
	s.Rules.validate(ps, path+".rules")
	s.validateReading(ps, path+".rules")
	if ignores(s.Rules.MessageID.TLV) && ignores(s.Rules.MessageID.Text) {
		ps.check(s.ClientRefTLV != 0, path+".rules.message_id", "ignores both ids: no receipt could ever find its message")
	}
}

func (s *SMSC) validateIdentity(ps *problems, path string) {
	ps.name(path+".name", s.Name)
	if s.Account != s.Name {
		ps.name(path+".account", s.Account)
	}
	ps.check(len(s.Addr) > 0, path+".addr", "at least one host:port is needed")
	for i, addr := range s.Addr {
		ps.hostPort(fmt.Sprintf("%s.addr[%d]", path, i), addr)
	}
	ps.check(s.SystemID != "", path+".system_id", "is required")
	ps.credential(path+".system_id", s.SystemID)
	ps.credential(path+".system_type", s.SystemType)
	ps.check(s.Password == "" || s.PasswordFile == "", path+".password", "give password or password_file, not both")
	ps.credential(path+".password", string(s.Password))
	ps.ascii(path+".address_range.range", s.AddressRange.Range, maxRange)

	t := s.TLS
	ps.check((t.CertFile == "") == (t.KeyFile == ""), path+".tls", "cert_file and key_file belong together")
	ps.check(t.Enabled || t == (TLS{}), path+".tls.enabled", "is false, so that what else stands under tls would have no effect")
}

func (s *SMSC) validateSession(ps *problems, path string) {
	ps.oneOf(path+".bind", s.Bind, bindBoth, bindApart)
	ps.check(s.Sessions >= 1, path+".sessions", "must be 1 or more (got %d)", s.Sessions)
	ps.check(s.Sessions <= maxSessions, path+".sessions", "must be %d or less (got %d)", maxSessions, s.Sessions)
	ps.check(s.Window >= 1, path+".window", "must be 1 or more (got %d)", s.Window)
	ps.check(s.Window <= maxWindow, path+".window", "must be %d or less (got %d)", maxWindow, s.Window)
	ps.check(s.Throughput >= 0 && !math.IsInf(s.Throughput, 1), path+".throughput", "must be 0 (no limit) or more (got %v)", s.Throughput)
	if s.EnquireLink != 0 {
		ps.atLeast(path+".enquire_link", s.EnquireLink, minTimer)
	}
	ps.atLeast(path+".response_timeout", s.ResponseTimeout, minTimer)
	ps.atLeast(path+".connect_timeout", s.ConnectTimeout, minTimer)
	ps.backoff(path+".reconnect", s.Reconnect.Min, s.Reconnect.Max)
	ps.check(s.MaxPDU >= minMaxPDU && s.MaxPDU <= maxMaxPDU, path+".max_pdu", "must be %d to %d octets (got %d)", minMaxPDU, maxMaxPDU, s.MaxPDU)
}

func (s *SMSC) validateMessages(ps *problems, path string) {
	ps.ascii(path+".source.addr", s.Source.Addr, maxAddr)
	country := s.Dest.Country
	ps.check(country == "" || len(country) == 2 && strings.Trim(country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "",
		path+".dest.country", "must be an ISO code of two capital letters, as IT (got %q)", country)
	ps.oneOf(path+".registered_delivery.receipt", s.RegisteredDelivery.Receipt, "final", "failure", "none")
	ps.check(s.ClientRefTLV == 0 || s.ClientRefTLV >= firstVendorTag, path+".client_ref_tlv",
		"must be a vendor's tag, 0x%04X or more, or 0 for none (got 0x%04X)", firstVendorTag, s.ClientRefTLV)
	ps.oneOf(path+".default_alphabet", s.DefaultAlphabet, "gsm7", "latin1", "ascii")
	ps.oneOf(path+".long_messages", s.LongMessages, "udh", "sar", "payload")
	ps.oneOf(path+".long_receipts", s.LongReceipts, "each", "last", "first")
	ps.atLeast(path+".delivery_window", s.DeliveryWindow, minWindow)
	ps.check(s.ReceiptGrace >= 0, path+".receipt_grace", "must not be negative")
	ps.oneOf(path+".in_doubt", s.InDoubt, "hold", "resend")
	ps.backoff(path+".retry", s.Retry.Min, s.Retry.Max)
	for _, status := range s.Retry.PauseStatuses {
		ps.check(!slices.Contains(s.Retry.Statuses, status), path+".retry.pause_statuses", "0x%08X is in retry.statuses too: it either waits or pauses", uint32(status))
	}
}

// validateVersion refuses what needs optional parameters where the SMSC was told of none.
func (s *SMSC) validateVersion(ps *problems, path string) {
	if v := s.InterfaceVersion; v == 33 || v == 34 {
		ps.add(path+".interface_version", "is 0x%02X, which no SMPP has: write 0x%d", v, v)
		return
	}
	if s.InterfaceVersion >= version34 {
		return
	}
	const why = "needs optional parameters, which interface_version 0x%02X does not have"
	ps.check(s.LongMessages == "udh", path+".long_messages", "%s "+why, s.LongMessages, s.InterfaceVersion)
	ps.check(s.ClientRefTLV == 0, path+".client_ref_tlv", why, s.InterfaceVersion)
	ps.check(!s.UserMessageReference, path+".user_message_reference", why, s.InterfaceVersion)
}

func (r *Rules) validate(ps *problems, path string) {
	ps.oneOf(path+".accepted", r.Accepted, "intermediate", "final")
	ps.oneOf(path+".unknown", r.Unknown, "intermediate", "final")
	ps.check(r.Timezone != "Local", path+".timezone", "must be a zone's name, as Europe/Rome or UTC (got %q)", r.Timezone)
	words := make(map[string]bool)
	for _, word := range slices.Sorted(maps.Keys(r.States)) {
		upper := strings.ToUpper(word)
		ps.check(!words[upper], path+".states", "%q is there twice: words are read in any case", upper)
		words[upper] = true
		_, ok := receipt.ParseMessageState(r.States[word])
		ps.check(ok, path+".states."+upper, "must be an SMPP state, as UNDELIVERABLE (got %q)", r.States[word])
	}
	for _, code := range slices.Sorted(maps.Keys(r.Errors)) {
		ps.check(code != "" && r.Errors[code] != "", path+".errors."+code, "code and word must not be empty")
	}
}

// validateReading adds what package receipt finds in the rules; each of its findings begins with its
// path.
func (s *SMSC) validateReading(ps *problems, path string) {
	rules := s.ReceiptRules()
	found, ok := rules.Validate(path).(interface{ Unwrap() []error })
	if !ok {
		return
	}
	for _, err := range found.Unwrap() {
		at, text, _ := strings.Cut(err.Error(), ": ")
		ps.check(false, at, "%s", text)
	}
}

func ignores(rules receipt.IDRules) bool {
	return slices.ContainsFunc(rules, func(r receipt.IDRule) bool { return r.Name == receipt.RuleIgnore })
}

func (p *problems) atLeast(path string, d, least time.Duration) {
	p.check(d >= least, path, "must be %s or more (got %s)", least, d)
}

func (p *problems) backoff(path string, least, most time.Duration) {
	p.atLeast(path+".min", least, minDelay)
	p.check(most >= least, path+".max", "must not be less than min (got %s and %s)", most, least)
}

// name checks what becomes a part of session names, of URLs and of metrics' labels.
func (p *problems) name(path, s string) {
	ok := s != "" && len(s) <= maxNameSize
	for _, c := range []byte(s) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}
	p.check(ok, path, "must be 1 to %d letters, digits, '-', '_' or '.' (got %q)", maxNameSize, s)
}

func (p *problems) credential(path, s string) { p.printable(path, s, maxCredential, false) }

func (p *problems) ascii(path, s string, limit int) { p.printable(path, s, limit, true) }

func (p *problems) printable(path, s string, limit int, quote bool) {
	p.check(len(s) <= limit, path, "must be %d octets or less (got %d)", limit, len(s))
	got := ""
	if quote {
		got = fmt.Sprintf(" (got %q)", s)
	}
	odd := strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	p.check(!odd, path, "must be printable ASCII%s", got)
}
