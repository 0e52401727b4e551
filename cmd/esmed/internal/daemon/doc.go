// Package daemon wires everything and owns start and stop.
//
// # Running
//
// Run takes a valid configuration. It starts, in this order: log, the store with its lock (rules record,
// doubts that a crash left), the API, and for each SMSC its sessions, a dispatcher that feeds them and those
// who record what they bring; then it tells systemd. It stops in the reverse order: submits are refused,
// the dispatchers send nothing new, the windows drain within shutdown_timeout, the sessions unbind, what
// is unanswered then is recorded in doubt; then API, store, log.
//
//	err := daemon.Run(ctx, cfg, daemon.Options{Version: "1.0", Reload: load})
//	var bad *daemon.ConfigError
//	switch {
//	case errors.As(err, &bad): // exit 2: starting again changes nothing
//	case err != nil:           // exit 1
//	}
//
// Run catches the process's signals: SIGTERM and SIGINT stop it, a second one cuts the sessions at once;
// SIGHUP takes up rules, binds and log.level of the configuration that Options.Reload reads, reopens the access log,
// and logs what needs a restart. What a changed SMSC's sessions work with has them bound anew, once they have
// drained; its throughput and retry are changed as they run; no other SMSC is touched. A store that cannot be
// trusted any more (a failed fsync) ends Run with an error, and nothing that waits is answered as stored.
//
// # A submit's way
//
//	store.NextQueued ─▶ dispatcher: slots, submit_sm ─▶ log(sent) ─fsync─▶ outlet: pace ─▶ smpp.Client.Send
//	                        ▲ throttled, paused                                     │
//	                        └────────────── answers ◀── answer, timeout, cut ───────┤
//	                                           └─▶ log(submit_resp, in_doubt)       │
//	                        receptions ◀────────────── deliver_sm, data_sm … ───────┘
//	                            └─▶ log(reception) ─fsync─▶ deliver_sm_resp
//
// A dispatcher's state belongs to one goroutine. Answers and receptions of a session are recorded in the
// order in which they came.
//
// # Without a daemon
//
// OpenReader serves the same API from the files, for reading only. DecodePDU and TextSpans are what
// store.Config takes, for whoever opens a store.
package daemon
