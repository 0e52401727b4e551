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
// The caller's duties: pass valid UTF-8, name the SMSC's default alphabet, and treat an error as a
// refusal. Nothing is replaced, dropped or transliterated: what an alphabet cannot hold is an
// *UnencodableError, and what is too long for one short message is a *TooLongError.
//
//	octets, dataCoding, alphabet, err := text.Encode("Your code is 4711", "", text.GSM7)
//
// The codecs of go-smpp's pdutext are not used, because they answer raw UTF-8 where an alphabet cannot
// hold a text, and because its Latin-1 is Windows-1252; the tests compare the rest with it.
package text
