package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/smpp"

	"golang.org/x/sync/errgroup"
)

// smsc checks certificates, then each address, then the bind.
func (d *doctor) smsc(ctx context.Context, s *config.SMSC) {
	check := "smsc " + s.Name
	security, err := s.TLS.Config()
	if err != nil {
		d.result(check+" tls", err, "", "correct the file, or tls of the SMSC")
		return
	}
	if security != nil {
		for _, pair := range security.Certificates {
			d.certificate(check+" tls.cert_file", pair.Leaf)
		}
	}
	var reached []string
	for _, addr := range s.Addr {
		if d.reach(ctx, check+" "+addr, s, addr, security) {
			reached = append(reached, addr)
		}
	}
	switch {
	case d.binds != nil:
		d.askBinds(check+" bind", s.Name)
	case !d.bind:
	case len(reached) > 0:
		d.tryBind(ctx, check+" bind", s, reached, security)
	}
}

// certificate looks how long one is still valid.
func (d *doctor) certificate(check string, c *x509.Certificate) {
	if c == nil {
		return
	}
	left := time.Until(c.NotAfter)
	detail := fmt.Sprintf("valid until %s", clock(c.NotAfter))
	switch {
	case time.Until(c.NotBefore) > 0:
		d.add(check, doctorFail, "not valid before "+clock(c.NotBefore), "look at the clock, or use one that is valid now")
	case left <= 0:
		d.add(check, doctorFail, "expired at "+clock(c.NotAfter), "renew it")
	case left < certificateDays*24*time.Hour:
		d.add(check, doctorWarn, detail, "renew it")
	default:
		d.add(check, doctorOK, detail, "")
	}
}

// reach resolves a name, connects and, where that is configured, shakes hands. It says whether the SMSC is there.
func (d *doctor) reach(ctx context.Context, check string, s *config.SMSC, addr string, security *tls.Config) bool {
	ctx, cancel := context.WithTimeout(ctx, d.patience(s.ConnectTimeout))
	defer cancel()
	host, _, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.DefaultResolver.LookupHost(ctx, host)
	}
	if err != nil {
		d.result(check, err, "", "correct the name, or the resolver (/etc/resolv.conf)")
		return false
	}
	began := time.Now()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		d.result(check, err, "", "ask the provider whether the address is right and lets this machine in; look at firewalls on the way")
		return false
	}
	defer conn.Close()
	took := within(time.Since(began))
	if security == nil {
		d.add(check, doctorOK, "connected in "+took, "")
		return true
	}
	named := security.Clone()
	if named.ServerName == "" {
		named.ServerName = host
	}
	secure := tls.Client(conn, named)
	if err := secure.HandshakeContext(ctx); err != nil {
		d.result(check, fmt.Errorf("connected, but TLS failed: %w", err), "",
			"ask the provider for the port that speaks TLS, its CA (tls.ca_file) and the name in its certificate (tls.server_name)")
		return false
	}
	d.add(check, doctorOK, "connected in "+took+", "+tls.VersionName(secure.ConnectionState().Version), "")
	d.certificate(check+" certificate", secure.ConnectionState().PeerCertificates[0])
	return true
}

func (d *doctor) patience(configured time.Duration) time.Duration {
	if d.timeout > 0 {
		return d.timeout
	}
	return configured
}

// askBinds says how the daemon's own sessions are.
func (d *doctor) askBinds(check, smsc string) {
	known := false
	for i := range d.binds {
		b := &d.binds[i]
		if b.SMSC != smsc || !b.Configured {
			continue
		}
		known = true
		switch {
		case b.Stopped != nil:
			d.add(check, doctorWarn, b.Session+" was stopped by "+b.Stopped.By, "esmed binds start "+smsc)
		case b.State == smpp.Open.String() || b.State == smpp.Closed.String():
			d.add(check, doctorFail, fmt.Sprintf("%s is %s: %s", b.Session, b.State, or(b.LastError, "no error is known")), "esmed binds says more; esmed help working-the-exceptions")
		default:
			d.add(check, doctorOK, b.Session+" is "+b.State+", says the daemon", "")
		}
	}
	if !known {
		d.add(check, doctorWarn, "the daemon that runs does not know this SMSC", "reload it: systemctl reload esmed")
	}
}

// tryBind binds as transmitter, which makes an SMSC send nothing, and unbinds.
func (d *doctor) tryBind(ctx context.Context, check string, s *config.SMSC, addrs []string, security *tls.Config) {
	patience := d.patience(s.ConnectTimeout) + d.patience(s.ResponseTimeout)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	probe := &bindProbe{told: make(chan smpp.Event, 1)}
	client := smpp.New(smpp.Config{
		Name: s.Name + "/doctor", Addrs: addrs, TLS: security, Handler: probe,
		Bind: smpp.BindConfig{
			Mode: smpp.Transmitter, SystemID: s.SystemID, Password: string(s.Password), SystemType: s.SystemType,
			InterfaceVersion: s.InterfaceVersion,
			AddrTON:          s.AddressRange.TON, AddrNPI: s.AddressRange.NPI, AddressRange: s.AddressRange.Range,
		},
		ConnectTimeout: d.patience(s.ConnectTimeout), ResponseTimeout: d.patience(s.ResponseTimeout),
		ReconnectMin: patience, ReconnectMax: patience, MaxPDU: int(s.MaxPDU),
	})
	var g errgroup.Group
	g.Go(func() error { return client.Run(ctx) })
	e := smpp.Event{Kind: smpp.EventFailed, Reason: "no answer to the bind"}
	select {
	case e = <-probe.told:
	case <-ctx.Done():
	}
	cancel()
	_ = g.Wait() // it ends by the context
	switch e.Kind {
	case smpp.EventBound:
		d.add(check, doctorOK, fmt.Sprintf("bound to %s as transmitter, and unbound", or(e.SystemID, e.Addr)), "")
	case smpp.EventBindRefused:
		d.add(check, doctorFail, "refused: "+e.Status.String(), refusedHint(e.Status))
	default:
		detail := e.Reason
		if e.Err != nil {
			detail += ": " + e.Err.Error()
		}
		d.add(check, doctorFail, "connected, but not bound: "+detail, "ask the provider whether this port speaks SMPP, with or without TLS, and lets this machine in")
	}
}

// refusedHint says what to do about a bind that was refused.
func refusedHint(s smpp.Status) string {
	switch {
	case s == smpp.StatusAlyBnd:
		return "somebody is bound with this system_id: another daemon, or a session that the SMSC has not given up yet"
	case s.Credentials():
		return "check system_id, password and system_type with the provider, and whether the account may bind as transmitter, which is how this was tried"
	}
	return "ask the provider what this status means there"
}

// bindProbe is the smpp.Handler of a session that is only tried.
type bindProbe struct{ told chan smpp.Event }

// Session implements smpp.Handler: the first event is what is asked for.
func (p *bindProbe) Session(e smpp.Event) {
	select {
	case p.told <- e:
	default:
	}
}

// Received implements smpp.Handler: nothing is taken, so that the SMSC sends it again to who stores it.
func (p *bindProbe) Received(r *smpp.Request) { r.Respond(smpp.StatusXTAppn) }
