package daemon

import (
	"fmt"
	"time"

	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
)

// smscReading is an SMSC's sessions, but for stopped ones, and its queue.
type smscReading struct {
	name     string
	paused   bool
	sessions []sessionReading
}

type sessionReading struct {
	smpp.SessionStatus
	down        time.Duration // how long it has not been bound; 0: it is
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
	if worst.LastError != "" {
		detail += ": " + worst.LastError
	}
	return over(control.AlertBindDown, s.name, severity, worst.down.Seconds(), bindDownAfter.Seconds(), "s", detail)
}

// works reports whether a session of that mode is bound.
func (s *smscReading) works(mode smpp.BindMode) bool {
	for i := range s.sessions {
		if s.sessions[i].Mode == mode && s.sessions[i].State.Bound() {
			return true
		}
	}
	return false
}

func (s *smscReading) judgeCredentials() control.Alert {
	detail := "the SMSC takes system_id and password"
	refused := 0
	for i := range s.sessions {
		if one := &s.sessions[i]; one.credentials != 0 {
			if refused++; refused == 1 {
				detail = fmt.Sprintf("the SMSC refuses the bind of %s with %s: system_id or password are wrong, or the account may not bind so often",
					one.Name, one.credentials)
			}
		}
	}
	return over(control.AlertCredentials, s.name, control.Critical, float64(refused), 0, "", detail)
}
