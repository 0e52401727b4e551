package control

import (
	"fmt"
	"strings"

	"github.com/nyaruka/phonenumbers"

	"esmed/receipt"
)

// Types of number and numbering plans that are recognised (SMPP v3.4 §5.2.5, §5.2.6).
const (
	tonUnknown       = 0
	tonInternational = 1
	tonAlphanumeric  = 5
	npiUnknown       = 0
	npiISDN          = 1
)

// Lengths of addresses: in a PDU (SMPP v3.4 §5.2.8), of a name on the air (3GPP TS 23.040 §9.1.2.5), of
// an international number (E.164), and from which on digits are one.
const (
	maxAddr       = 20
	maxName       = 11
	minE164       = 5
	maxE164       = 15
	minSenderE164 = 7
)

var addressNames = []string{"addr", "ton", "npi"}

// readDestination reads to and dest. An object is sent as given. Its addr is to without + when it has
// none, and else must name the same number: a message says that it went where it was sent.
func (s *submission) readDestination() {
	s.m.To = s.text(fieldTo)
	if s.has(fieldDest) {
		s.m.Dest = s.address(fieldDest, strings.TrimPrefix(s.m.To, "+"))
		switch {
		case s.m.To == "":
			s.m.To = s.m.Dest.Addr
		case s.m.Dest.Addr != "" && !s.sameNumber(s.m.To, s.m.Dest.Addr):
			s.wrong(fieldTo, "is another number than dest.addr: leave one of them out")
		}
		s.m.E164 = e164Of(s.m.Dest)
		return
	}
	if s.m.To == "" {
		s.wrong(fieldTo, "must be given")
		return
	}
	digits, ok := s.international(s.m.To)
	if !ok {
		return
	}
	if s.m.E164 = s.m.To; s.m.To[0] != '+' || s.m.To[1:] != digits {
		s.m.E164 = "+" + digits
	}
	s.m.Dest = receipt.Address{Addr: digits, TON: s.smsc.DestTON, NPI: s.smsc.DestNPI}
}

// international gives the digits of a destination's international form.
func (s *submission) international(to string) (digits string, ok bool) {
	digits, message := s.smsc.international(to)
	if message != "" {
		s.wrong(fieldTo, "%s", message)
	}
	return digits, message == ""
}

// sameNumber reports whether an address is a destination as it was given, but for + or 00, or in
// international form.
func (s *submission) sameNumber(to, addr string) bool {
	bare, _ := internationalForm(addr)
	given, _ := internationalForm(to)
	if given == bare {
		return true
	}
	digits, message := s.smsc.international(to)
	return message == "" && digits == bare
}

// international gives the digits of a destination's international form, or says what is wrong with it.
func (s *SMSC) international(to string) (digits, wrong string) {
	digits, ok := internationalForm(to)
	if ok {
		if n := len(digits); n < minE164 || n > maxE164 || !isDigits(digits) || digits[0] == '0' {
			return "", fmt.Sprintf("must be %d to %d digits with their country code after + or 00", minE164, maxE164)
		}
		return digits, ""
	}
	if s.Country == "" {
		return "", fmt.Sprintf("is not in international form: write +39…, or configure dest.country of %s, or give dest as an object to send it as it is", s.Name)
	}
	number, err := phonenumbers.Parse(to, s.Country)
	if err != nil || !phonenumbers.IsPossibleNumber(number) {
		return "", fmt.Sprintf("is no possible number in %s: write +…, or give dest as an object to send it as it is", s.Country)
	}
	return strings.TrimPrefix(phonenumbers.Format(number, phonenumbers.E164), "+"), ""
}

// internationalForm takes + or 00 off, and the blanks, dots and the like that people write in between.
func internationalForm(number string) (digits string, ok bool) {
	digits, ok = strings.CutPrefix(number, "+")
	if !ok {
		digits, ok = strings.CutPrefix(number, "00")
	}
	if ok && !isDigits(digits) {
		digits = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "", "/", "").Replace(digits)
	}
	return digits, ok
}

// readSource reads from and source.
func (s *submission) readSource() {
	from := s.text(fieldFrom)
	switch {
	case s.has(fieldSource):
		s.m.Source = s.address(fieldSource, from)
	case from != "":
		s.m.Source = s.sender(from)
	case s.smsc.Source.Addr != "":
		s.m.Source = s.smsc.Source
	}
}

// sender recognises what a sender is (CONTRACT §1).
func (s *submission) sender(from string) receipt.Address {
	if strings.ContainsFunc(from, isLetter) {
		if len(from) > maxName || !printable(from) {
			s.wrong(fieldFrom, "must be %d printable characters at most; give source as an object to send others", maxName)
		}
		return receipt.Address{Addr: from, TON: tonAlphanumeric, NPI: npiUnknown}
	}
	digits, international := internationalForm(from)
	if !international {
		digits = from
	}
	if !isDigits(digits) || digits == "" || len(digits) > maxAddr {
		s.wrong(fieldFrom, "must have letters, or be digits; give source as an object to send others")
	}
	if international || len(digits) >= minSenderE164 && len(digits) <= maxE164 && digits[0] != '0' {
		return receipt.Address{Addr: digits, TON: tonInternational, NPI: npiISDN}
	}
	return receipt.Address{Addr: digits, TON: tonUnknown, NPI: npiISDN}
}

// address reads an object with addr, ton and npi.
func (s *submission) address(i int, addr string) receipt.Address {
	raw := s.values[i].raw
	if raw[0] != '{' {
		s.wrong(i, "must be an object with addr, ton and npi")
		return receipt.Address{}
	}
	f := readFields(raw, s.names[i]+".", addressNames, s.problems)
	if f.has(0) {
		addr = f.text(0)
	}
	if len(addr) > maxAddr || !printable(addr) || addr == "" && i == fieldDest {
		f.wrong(0, "must be 1 to %d printable characters", maxAddr)
	}
	return receipt.Address{Addr: addr, TON: byte(f.number(1, 0xFF)), NPI: byte(f.number(2, 0xFF))}
}

// e164Of is "" for an address that is no international number.
func e164Of(a receipt.Address) string {
	digits := strings.TrimPrefix(a.Addr, "+")
	if a.TON != tonInternational || len(digits) < minE164 || len(digits) > maxE164 || !isDigits(digits) {
		return ""
	}
	return "+" + digits
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7F }

// printable reports whether a text is printable ASCII, which is all that an address can hold everywhere.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
