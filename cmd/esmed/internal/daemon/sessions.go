package daemon

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"
)

// session is what an SMSC has for each of its sessions.
type session struct {
	name string
	mode smpp.BindMode
	*receptions
	rates rates
}

// sessionsOf are the sessions that a configuration asks for. Those that submit are NAME/1, NAME/2 …; with
// transmitter+receiver each has one beside it that only receives, NAME/1r and so on.
func sessionsOf(cfg *config.SMSC) []*session {
	var all []*session
	for n := 1; n <= cfg.Sessions; n++ {
		name := fmt.Sprintf("%s/%d", cfg.Name, n)
		if !cfg.Apart() {
			all = append(all, &session{name: name, mode: smpp.Transceiver})
			continue
		}
		all = append(all, &session{name: name, mode: smpp.Transmitter}, &session{name: name + "r", mode: smpp.Receiver})
	}
	return all
}

// config is that of the session's smpp.Client.
func (s *session) config(cfg *config.SMSC, security *tls.Config, shutdown time.Duration, log *zap.Logger) smpp.Config {
	return smpp.Config{
		Name:  s.name,
		Addrs: cfg.Addr,
		TLS:   security,
		Bind: smpp.BindConfig{
			Mode: s.mode, SystemID: cfg.SystemID, Password: string(cfg.Password), SystemType: cfg.SystemType,
			InterfaceVersion: cfg.InterfaceVersion,
			AddrTON:          cfg.AddressRange.TON, AddrNPI: cfg.AddressRange.NPI, AddressRange: cfg.AddressRange.Range,
		},
		Window: cfg.Window, EnquireLink: cfg.EnquireLink, ResponseTimeout: cfg.ResponseTimeout,
		ConnectTimeout: cfg.ConnectTimeout, ReconnectMin: cfg.Reconnect.Min, ReconnectMax: cfg.Reconnect.Max,
		ShutdownTimeout: shutdown, MaxPDU: int(cfg.MaxPDU), Log: log, Handler: s.receptions,
	}
}

// sameTLS reports whether two connections are protected alike: a certificate that was renewed in its file is
// another one.
func sameTLS(a, b *tls.Config) bool {
	if a == nil || b == nil {
		return a == b
	}
	sameChain := func(x, y tls.Certificate) bool { return slices.EqualFunc(x.Certificate, y.Certificate, bytes.Equal) }
	return a.RootCAs.Equal(b.RootCAs) && slices.EqualFunc(a.Certificates, b.Certificates, sameChain)
}
