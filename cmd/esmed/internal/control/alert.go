package control

import "time"

// Severities of an Alert, as monitoring plugins name them.
const (
	Warning  = "warning"  // somebody should look at it today
	Critical = "critical" // traffic stands still, or soon will
)

// Names of alerts, in the order in which they are listed: the label of esmed_alert_active.
const (
	AlertCoverage    = "coverage"
	AlertInboxAge    = "inbox_age"
	AlertOverdue     = "overdue"
	AlertBindDown    = "bind_down"
	AlertCredentials = "credentials"
	AlertPaused      = "paused"
	AlertInDoubt     = "in_doubt"
	AlertExceptions  = "exceptions"
	AlertApplyLag    = "apply_lag"
	AlertDisk        = "disk"
	AlertClock       = "clock"
)

// AlertNames are all of them, in that order.
func AlertNames() []string {
	return []string{
		AlertCoverage, AlertInboxAge, AlertOverdue, AlertBindDown, AlertCredentials, AlertPaused, AlertInDoubt,
		AlertExceptions, AlertApplyLag, AlertDisk, AlertClock,
	}
}

// Alert is one condition that an operator has to know of while it lasts, of one SMSC or of the daemon as a
// whole. Those that are not active are listed too, with what was measured.
type Alert struct {
	Alert    string     `json:"alert" doc:"As the label of esmed_alert_active"`
	SMSC     string     `json:"smsc" doc:"Empty: of the daemon as a whole"`
	Active   bool       `json:"active"`
	Severity string     `json:"severity" enum:"warning,critical" doc:"What it is, or would be, when active"`
	Since    *time.Time `json:"since" doc:"When it became active; null when it is not"`
	Value    *float64   `json:"value" doc:"What was measured; null when there was nothing to measure"`
	Limit    float64    `json:"limit" doc:"What value must not be over; for coverage and disk, under"`
	Unit     string     `json:"unit" doc:"s for seconds, B for octets, empty for counts and shares"`
	Detail   string     `json:"detail"`
}
