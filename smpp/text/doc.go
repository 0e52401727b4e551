// Package text turns message texts into the octets of a short message and back.
//
// It knows four alphabets: the GSM 7-bit default alphabet with its extension table, one septet an octet
// (3GPP TS 23.038 §6.2.1), ASCII, Latin-1 (ISO 8859-1), and UCS-2, which carries characters beyond the
// basic plane as surrogate pairs, as handsets do. data_coding (SMPP v3.4 §5.2.19) announces them:
//
//	0x00  the SMSC's default alphabet, which its configuration names
//	0x01  ASCII (IA5)
//	0x03  Latin-1
//	0x08  UCS-2, big endian
//
// Where no alphabet is asked for, the smallest that holds the text is taken: the first of the SMSC's
// default alphabet, Latin-1 and UCS-2. Latin-1 is not preferred for a text that the GSM alphabet holds,
// however many extensions are in it: a GSM network carries no Latin-1, and what it makes of such a text
// is the GSM alphabet.
//
// One short message has 160 septets or 140 octets (3GPP TS 23.040 §9.2.3.16). A longer text is split into
// parts that leave room for the header which puts them together again, so that nobody on the way has to
// split them once more: 152 septets, 133 octets, or 66 characters of UCS-2.
//
// The caller's duties: pass valid UTF-8, name the SMSC's default alphabet, and treat an error as a
// refusal. Nothing is replaced, dropped or transliterated: what an alphabet cannot hold is an
// *UnencodableError.
//
//	octets, dataCoding, alphabet, err := text.Encode("Your code is 4711", "", text.GSM7)
//	if len(octets) > alphabet.Room(0) {
//		parts := alphabet.Split(s, alphabet.Room(text.HeaderLen))
//		first := alphabet.Append(text.AppendHeader(nil, reference, len(parts), 1), parts[0])
//		…
//	}
//
// The codecs of go-smpp's pdutext are not used, because they answer raw UTF-8 where an alphabet cannot
// hold a text, and because its Latin-1 is Windows-1252; the tests compare the rest with it.
package text
