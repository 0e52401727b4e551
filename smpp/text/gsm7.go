package text

// escape announces that the next septet is one of the extension table (3GPP TS 23.038 §6.2.1.1).
const escape = 0x1B

// gsm7Basic is the default alphabet (3GPP TS 23.038 §6.2.1), by septet. The escape's place holds
// U+FFFD, which is no character of the alphabet.
var gsm7Basic = [128]rune([]rune("" +
	"@£$¥èéùìòÇ\nØø\rÅå" +
	"Δ_ΦΓΛΩΠΨΣΘΞ\uFFFDÆæßÉ" +
	" !\"#¤%&'()*+,-./" +
	"0123456789:;<=>?" +
	"¡ABCDEFGHIJKLMNO" +
	"PQRSTUVWXYZÄÖÑÜ§" +
	"¿abcdefghijklmno" +
	"pqrstuvwxyzäöñüà"))

// gsm7Extension is the default alphabet's extension table, by the septet after the escape.
var gsm7Extension = map[byte]rune{
	0x0A: '\f', 0x14: '^', 0x28: '{', 0x29: '}', 0x2F: '\\',
	0x3C: '[', 0x3D: '~', 0x3E: ']', 0x40: '|', 0x65: '€',
}

// gsm7Code is how a character is written: in n septets, an octet each; in none if the alphabet does not have it.
type gsm7Code struct {
	septets [2]byte
	n       int8
}

// gsm7Codes are those of all characters. Nearly all texts are of those below 0x100, which gsm7Low has too.
var (
	gsm7Codes = func() map[rune]gsm7Code {
		m := make(map[rune]gsm7Code, len(gsm7Basic)+len(gsm7Extension))
		for septet, r := range gsm7Basic {
			if septet != escape {
				m[r] = gsm7Code{[2]byte{byte(septet)}, 1}
			}
		}
		for septet, r := range gsm7Extension {
			m[r] = gsm7Code{[2]byte{escape, septet}, 2}
		}
		return m
	}()
	gsm7Low = func() (low [0x100]gsm7Code) {
		for r := range low {
			low[r] = gsm7Codes[rune(r)]
		}
		return low
	}()
)

func gsm7CodeOf(r rune) gsm7Code {
	if r < rune(len(gsm7Low)) {
		return gsm7Low[r]
	}
	return gsm7Codes[r]
}

// decodeGSM7 reads septets that stand in an octet each. As the specification asks of receivers, an
// unknown extension shows as the default alphabet's character, and an escape with nothing after it, or
// with another escape, as a space.
func decodeGSM7(octets []byte) (runes []rune, exact bool) {
	runes, exact = make([]rune, 0, len(octets)), true
	for i := 0; i < len(octets); i++ {
		o := octets[i]
		switch {
		case o > 0x7F:
			runes, exact = append(runes, '\uFFFD'), false
		case o != escape:
			runes = append(runes, gsm7Basic[o])
		case i+1 == len(octets) || octets[i+1] > 0x7F:
			runes, exact = append(runes, ' '), false
		default:
			i++
			r, ok := gsm7Extension[octets[i]]
			if !ok {
				r, exact = gsm7Basic[octets[i]], false
			}
			if octets[i] == escape {
				r = ' '
			}
			runes = append(runes, r)
		}
	}
	return runes, exact
}
