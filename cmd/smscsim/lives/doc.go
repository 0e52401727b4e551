// Package lives puts whole lives of messages on an esmed and measures them: submitted through its HTTP API,
// sent to a simulated SMSC ("smscsim serve"), answered, reported by a receipt, and final to who asks.
//
// It is written from the API's documentation alone, as an application would be, and shares no code with
// the daemon. Use:
//
//  1. Start "smscsim serve --status-file F" and an esmed bound to it, which does nothing else meanwhile.
//  2. Fill a Load: where the API and F are, how many lives or for how long, at which rate; PID and DataDir
//     for the figures that only the system knows.
//  3. Run it. The Result has the figures. Its Wrong is empty if what API, SMSC and report say fits: each
//     accepted message was submitted once, each receipt acknowledged, each life is final.
//
// The figures come from answers of the API (accept), the daemon's /metrics (commits, submit to response
// recorded, lag), the simulator's status file (deliver_sm to its answer), and /proc (CPU, memory, octets
// written). CPU, memory and octets are those of the daemon; what loader and simulator use is told beside.
package lives
