// Package smpptest is a simulated SMSC that misbehaves on demand and writes down what it did.
//
// It speaks SMPP v3.4 as an SMSC with one account: any number of connections may be bound, as
// transmitter, receiver or transceiver, and a receipt goes to any that may receive. Receipts are made
// from templates of this package and PDUs are read and written by code of this package, so that an
// error in an ESME's codec is not hidden by the same error here.
//
// Use:
//
//  1. Fill a Config; its zero value behaves well. Every fault is a field: shares are of 1, and equal
//     seeds do the same to equal submits.
//  2. Start it, and point the ESME at Addr (or hand it a Pipe); an Authority makes certificates for TLS.
//     Config.OnSubmit may say for each submit exactly what is done about it, and Config.OnQuery and OnCancel
//     for each query_sm and cancel_sm; Deliver, Outbind, AlertNotification and WriteRaw send what a test
//     wants sent, Drop, Unbind, Silence and StopReading spoil a link, Change alters the Config, Answer
//     releases an answer that an Action held.
//  3. Await a state of the Stats, or Drained: all that was due is sent and acknowledged.
//  4. Close it. Compare its Truth with what the ESME believes: Audit does so for esmed's own output. Join
//     puts the Submits together as a handset does, CompareTexts compares that with what was to be sent, and
//     RateOf says how fast they came.
//
// A small scenario, a receipt before the response and once more later:
//
//	smsc, err := smpptest.Start(smpptest.Config{OnSubmit: func(sub smpptest.Submit, a smpptest.Action) smpptest.Action {
//		a.Receipts = []smpptest.Planned{
//			{Kind: smpptest.Final, Word: "DELIVRD", BeforeResponse: true},
//			{Kind: smpptest.Duplicate, Word: "DELIVRD", Delay: time.Second},
//		}
//		return a
//	}})
//
// # Acknowledgement
//
// A deliver_sm or data_sm belongs to the account until a deliver_sm_resp or data_sm_resp ESME_ROK
// answers it. What is outstanding when its connection ends is sent again on another, or after the next
// bind; what is answered ESME_RX_T_APPN again after Receipts.Retry; what gets any other status, or a
// generic_nack, after the next bind. A request with an unknown command is done when it is answered at
// all.
//
// # Truth
//
// The truth is a list of Lines, or NDJSON of the same (one JSON object a line, fields as tagged in
// Line; see LineType for the fields of each type). A line stands where the fact happened, so that
// "before" is the order of lines. From it follows which receipts were acknowledged and for which
// submit, which final states a message may show, and how often a text was submitted to a destination.
package smpptest
