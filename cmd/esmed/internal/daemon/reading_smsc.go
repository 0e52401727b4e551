package daemon

import (
	"fmt"
	"strings"
	"time"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
)

// smscReading is an SMSC's sessions, but for stopped ones, and its queue.
type smscReading struct {
	name     string
	paused   bool
	sessions []sessionReading

	certificate *time.Duration // how long ours is still valid; nil: there is none
}

type sessionReading struct {
	smpp.SessionStatus
	down        time.Duration // as outage.down
	flaps       uint64        // as outage.flaps
	credentials smpp.Status   // with which the last bind was refused for who we say we are; 0: it was not
}

// judgeBinds is about the session that has been down for longest. While others do its work, that is a warning.
func (s *smscReading) judgeBinds() control.Alert {
	var worst *sessionReading
	for i := range s.sessions {
		if one := &s.sessions[i]; worst == nil || one.down > worst.down {
			worst = one
		}
	}
	if worst == nil || worst.down == 0 {
		return over(control.AlertBindDown, s.name, control.Critical, 0, bindDownAfter.Seconds(), "s", "all sessions are bound")
	}
	severity := control.Critical
	if s.works(worst.Mode) {
		severity = control.Warning
	}
	detail := worst.Name + " is not bound"
	if worst.flaps > 0 {
		detail = fmt.Sprintf("%s does not stay bound, the SMSC accepted %d binds since", worst.Name, worst.flaps)
	}
	if worst.LastError != "" {
		detail += ": " + worst.LastError
	}
	return over(control.AlertBindDown, s.name, severity, worst.down.Seconds(), bindDownAfter.Seconds(), "s", detail)
}

// works reports whether a session of that mode is bound, and stays so.
func (s *smscReading) works(mode smpp.BindMode) bool {
	for i := range s.sessions {
		if s.sessions[i].Mode == mode && s.sessions[i].down == 0 {
			return true
		}
	}
	return false
}

// certificateSoon is how long before our certificate ends that is an alert.
const certificateSoon = 14 * 24 * time.Hour

// judgeCredentials is about who we say we are: system_id and password, and our certificate if there is one. A
// certificate that only ends soon is a warning.
func (s *smscReading) judgeCredentials() control.Alert {
	severity, wrong := control.Critical, 0
	var details []string
	for i := range s.sessions {
		if one := &s.sessions[i]; one.credentials != 0 {
			if wrong++; wrong == 1 {
				details = append(details, fmt.Sprintf("the SMSC refuses the bind of %s with %s: system_id or password are wrong, or the account may not bind so often",
					one.Name, one.credentials))
			}
		}
	}
	if left := s.certificate; left != nil && *left < certificateSoon {
		if wrong++; wrong == 1 && *left > 0 {
			severity = control.Warning
		}
		details = append(details, certificateWords(*left))
	}
	if wrong == 0 {
		details = append(details, "the SMSC takes system_id and password")
	}
	return over(control.AlertCredentials, s.name, severity, float64(wrong), 0, "", strings.Join(details, "; "))
}

func certificateWords(left time.Duration) string {
	if left <= 0 {
		return "the certificate of tls.cert_file has ended: renew it, then SIGHUP"
	}
	return fmt.Sprintf("the certificate of tls.cert_file ends in %d days: renew it, then SIGHUP", int(left.Hours()/24))
}
