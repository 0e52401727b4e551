package control

import "time"

// ReportRow is the report of an hour and SMSC, or of an SMSC over the whole window (Hour null). Shares
// are those of the messages that had the time to settle, and null when none of these was asked about.
type ReportRow struct {
	Hour         *time.Time `json:"hour" doc:"Of accepted_at; null for a row over the whole window"`
	SMSC         string     `json:"smsc"`
	Accepted     int64      `json:"accepted" doc:"By us"`
	Submitted    int64      `json:"submitted" doc:"ESME_ROK"`
	Failed       int64      `json:"failed"`
	Asked        int64      `json:"asked" doc:"Submitted with a final receipt asked for"`
	Final        int64      `json:"final" doc:"Asked, with a final state by evidence"`
	Delivered    int64      `json:"delivered"`
	Open         int64      `json:"open"`
	Unreported   int64      `json:"unreported"`
	InDoubt      int64      `json:"in_doubt"`
	MaybeDoubled int64      `json:"maybe_doubled"`
	Verified     int64      `json:"verified"`
	Coverage     *float64   `json:"coverage" doc:"final / asked, without the hours that have not settled"`
	Delivery     *float64   `json:"delivered_share" doc:"delivered / asked, likewise"`
	Inbox        int64      `json:"inbox" doc:"Receipts waiting; by hour in the SMSC's newest row only"`
}
