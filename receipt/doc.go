// Package receipt turns the fields of a delivered PDU into one Receipt under an SMSC's rules, puts
// message ids into canonical form and makes the fingerprint by which a repeat is recognised. It is
// pure: no clock, no I/O but the time zone database, no state; everything is safe for concurrent use
// as long as nobody changes the Rules meanwhile. A peer's octets never make it panic or fail.
//
// # Duties of the caller, in order
//
//  1. Take the PDU apart and keep it: Delivery holds its fields as received. What could not be taken
//     apart is given with Broken set, and reads as Undecodable.
//  2. Start from DefaultRules, change what is known of the SMSC, Validate. Rules that did not come out
//     of JSON and have a time zone want Prepare, for speed alone. Store ParserVersion and the rules
//     beside whatever is concluded from a Receipt.
//  3. Decode. Look at Kind first: only a DeliveryReceipt or an Intermediate is evidence (IsEvidence),
//     and an Intermediate never finalises. State follows message_state where TLV and text differ; both
//     stay readable in TLVState and TextState, and Rules.Believe is for the caller to apply.
//  4. Index the id of a submit_sm_resp, read by MessageID, under all ResponseKeys. Look a receipt up
//     under the ReceiptKeys of its TLVID first and of its TextID second, in their order. Never compare
//     ids in another way, and conclude nothing from two ids that have a Partial Key in common.
//  5. Recognise repeats by Fingerprint, whose documentation says what it may merge.
//  6. Before the PDU is kept at rest, seal the octets that TextSpans names.
//
// # Kinds
//
// The kind follows bits 2 to 5 of esm_class (SMPP v3.4 §5.2.12):
//
//	0x00  Message; DeliveryReceipt with receipted_message_id and message_state (Detect tlv or text),
//	      or with an id and a known stat (Detect text)
//	0x04  DeliveryReceipt
//	0x08  SMEAck
//	0x0C  DeliveryReceipt if the text has an id or a stat; else as the other reserved ones
//	0x10  UserAck
//	0x18  ConversationAbort
//	0x20  Intermediate
//	else  Intermediate
//
// A DeliveryReceipt or Intermediate with neither an id nor a state, in TLVs and text, is Undecodable.
//
// testdata/receipts shows the dialects that are read, one file for each kind of thing.
package receipt
