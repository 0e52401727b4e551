// Package capture finds SMPP in what people have at hand: hex in whatever form it was copied, logs of other
// gateways, and captures of network traffic. It explains what it finds, and says what an SMSC's rules conclude.
//
// A caller makes Rules, and then either
//
//   - gives a text to ReadText and what is found to Rules.ExplainFound,
//   - gives the text of a receipt to Rules.ExplainText, or
//   - gives a pcap or pcapng file to Tell, with a Listener that takes what there is to tell.
//
// From a capture to what became of a message:
//
//	packets ─▶ TCP streams ─▶ framer: PDUs ─▶ conn: who asks, who answers ─▶ Book: records ─▶ statemachine
//	       (gopacket, reassembly)
//
// Read does the first three, and knows a PDU by its content alone, in streams that may begin or break off anywhere.
// Book turns PDUs into the records that the daemon would have written. All judgement is the state machine's.
//
// Everything is bounded: what waits in TCP's reassembly, what is kept of a PDU, the requests of a connection that wait
// for an answer, and what a Book holds. What was given up for that is counted and told.
//
// Files: reader.go and conn.go (a capture's connections), framer.go (PDUs in a stream), book.go, submit.go, row.go and
// letgo.go (messages), tell.go (all of it together), text.go (PDUs in a text) with hex.go, dump.go (the forms of
// hex), block.go, kannel.go, python.go and value.go (fields by name), explanation.go and conclude.go (one PDU).
package capture
