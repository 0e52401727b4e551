package smpptest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// IDForm is how a message's number is written as message_id.
type IDForm string

// Id forms. The zero IDForm is the form of the response (in IDs.Response itself: Hex).
const (
	Same          IDForm = ""
	Hex           IDForm = "hex"            // 1a
	HexUpper      IDForm = "hex-upper"      // 1A
	HexPadded     IDForm = "hex-padded"     // 000000001a
	Decimal       IDForm = "decimal"        // 26
	DecimalPadded IDForm = "decimal-padded" // 0000000026
	UUID          IDForm = "uuid"           // made from the seed and the number
	NoID          IDForm = "none"           // left out
)

// IDForms are all forms, in the order in which a help text should list them.
func IDForms() []IDForm {
	return []IDForm{Hex, HexUpper, HexPadded, Decimal, DecimalPadded, UUID, NoID}
}

const paddedWidth = 10 // digits of HexPadded and DecimalPadded

// unknownBase is where the numbers of receipts for unknown ids begin: far from any id given.
const unknownBase uint64 = 0x7E0000000000

// IDs says how the SMSC writes message ids. The same number may be written in three ways.
type IDs struct {
	First    uint64 // number of the first message; 0 = 1
	Response IDForm // in submit_sm_resp
	TLV      IDForm // in receipted_message_id
	Text     IDForm // in the text of a receipt
}

func (i IDs) withDefaults() IDs {
	if i.First == 0 {
		i.First = 1
	}
	if i.Response == Same {
		i.Response = Hex
	}
	if i.TLV == Same {
		i.TLV = i.Response
	}
	if i.Text == Same {
		i.Text = i.Response
	}
	return i
}

func (f IDForm) validate(field string) error {
	if f == Same || slices.Contains(IDForms(), f) {
		return nil
	}
	return fmt.Errorf("%s: no id form %q", field, f)
}

// write is number n in this form. Equal seeds give equal UUIDs.
func (f IDForm) write(seed, n uint64) string {
	switch f {
	case HexUpper:
		return strings.ToUpper(strconv.FormatUint(n, 16))
	case HexPadded:
		return pad(strconv.FormatUint(n, 16))
	case Decimal:
		return strconv.FormatUint(n, 10)
	case DecimalPadded:
		return pad(strconv.FormatUint(n, 10))
	case UUID:
		d := newDice(seed, ^n)
		a, b := d.next(), d.next()
		return uuid(a&^0xF000|0x4000, b&^(3<<62)|1<<63)
	case NoID:
		return ""
	default:
		return strconv.FormatUint(n, 16)
	}
}

// uuid writes 128 bits as RFC 9562 does: 8-4-4-4-12 hex digits.
func uuid(high, low uint64) string {
	b := make([]byte, 0, 36)
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			b = append(b, '-')
		}
		half := high
		if i >= 16 {
			half = low
		}
		b = append(b, "0123456789abcdef"[half>>(60-4*(i&15))&15])
	}
	return string(b)
}

func pad(digits string) string {
	if len(digits) >= paddedWidth {
		return digits
	}
	return strings.Repeat("0", paddedWidth-len(digits)) + digits
}
