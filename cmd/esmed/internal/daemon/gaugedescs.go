package daemon

import "github.com/prometheus/client_golang/prometheus"

// gaugeDescs are the metrics that gauges gives.
type gaugeDescs struct {
	all []*prometheus.Desc

	bindUp, bindStopped, bindRefused, bindsTotal, windowInUse, windowSize, certificateExpiry,
	queueSize, queuePaused, inboxSize, inboxOldest, exceptionsOpen, inDoubt, maybeDoubled, overdue,
	coverage, coverageMessages, coverageMin, delivered,
	applyLag, diskFree, diskSize, diskReserve, logBytes, stateBytes, alertLimit *prometheus.Desc
}

func newGaugeDescs() gaugeDescs {
	var d gaugeDescs
	d.bindUp = d.add("esmed_bind_up", "1 while the session is bound, else 0.", "smsc", "session")
	d.bindStopped = d.add("esmed_bind_stopped", "1 while somebody has the session stopped (esmed binds stop), else 0.", "smsc", "session")
	d.bindRefused = d.add("esmed_bind_refused", "1 while the SMSC's last answer to a bind refused system_id or password, else 0.", "smsc", "session")
	d.bindsTotal = d.add("esmed_binds_total", "Binds that the SMSC accepted.", "smsc", "session")
	d.windowInUse = d.add("esmed_window_in_use", "submit_sm that wait for their answer.", "smsc", "session")
	d.windowSize = d.add("esmed_window_size", "submit_sm that may wait for their answer.", "smsc", "session")
	d.certificateExpiry = d.add("esmed_certificate_expiry_timestamp_seconds", "When our certificate for the SMSC ends, in seconds since 1970; no series without tls.cert_file.", "smsc")

	d.queueSize = d.add("esmed_queue_size", "Parts of messages that wait to be sent.", "smsc")
	d.queuePaused = d.add("esmed_queue_paused", "1 while one of retry.pause_statuses answers submits, else 0.", "smsc")
	d.inboxSize = d.add("esmed_inbox_size", "Rows of the inbox: receipts that belong to no message yet, but for dismissed ones.", "smsc")
	d.inboxOldest = d.add("esmed_inbox_oldest_seconds", "Age of the oldest of them in seconds, 0 where there is none.", "smsc")
	d.exceptionsOpen = d.add("esmed_exceptions_open", "Things for a person to decide.", "kind")
	d.inDoubt = d.add("esmed_in_doubt", "Messages whose answer was lost.", "smsc")
	d.maybeDoubled = d.add("esmed_maybe_doubled_total", "Messages of which more than one attempt may have arrived.", "smsc")
	d.overdue = d.add("esmed_overdue", "Parts without an outcome whose window ended within coverage_window, and those in doubt whose window is over.", "smsc")

	d.coverage = d.add("esmed_coverage_ratio", "Of messages that asked for a final receipt and had time for it, the share with a final state by evidence, 0 to 1; no series where there are none.", "smsc")
	d.coverageMessages = d.add("esmed_coverage_messages", "How many messages these are.", "smsc")
	d.coverageMin = d.add("esmed_coverage_min_messages", "Fewer of them raise no alert (alerts.coverage_min).")
	d.delivered = d.add("esmed_delivered_ratio", "Of the same messages, the share that was reported delivered, 0 to 1.", "smsc")

	d.applyLag = d.add("esmed_apply_lag_records", "Records of the log that are not in the projection yet.")
	d.diskFree = d.add("esmed_disk_free_bytes", "Octets that may still be written where data_dir is.")
	d.diskSize = d.add("esmed_disk_size_bytes", "Octets that there are where data_dir is.")
	d.diskReserve = d.add("esmed_disk_reserve_bytes", "Octets that are kept free for receipts: with less, no message is accepted.")
	d.logBytes = d.add("esmed_log_bytes", "Octets of the log that are in use.")
	d.stateBytes = d.add("esmed_state_bytes", "Octets of state.db.")
	d.alertLimit = d.add("esmed_alert_limit", "What the alert compares with, in the unit of what it measures.", "alert")
	return d
}

// add makes a metric one of all.
func (d *gaugeDescs) add(name, help string, labels ...string) *prometheus.Desc {
	one := prometheus.NewDesc(name, help, labels, nil)
	d.all = append(d.all, one)
	return one
}
