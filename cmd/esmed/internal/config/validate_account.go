package config

import (
	"slices"
	"strconv"
)

// validateAccounts refuses SMSCs that share an account and do not agree on whose a receipt is: it may come
// on any of their binds, and its id is compared with those that all of them gave.
func (c *Config) validateAccounts(ps *problems) {
	first := make(map[string]int)
	for i := range c.SMSCs {
		s := &c.SMSCs[i]
		j, shared := first[s.Account]
		if !shared {
			first[s.Account] = i
			continue
		}
		s.agreesWith(&c.SMSCs[j], ps, "smscs["+strconv.Itoa(i)+"]", "smscs["+strconv.Itoa(j)+"]")
	}
}

// agreesWith checks s, at path, against an SMSC before it with the same account.
func (s *SMSC) agreesWith(other *SMSC, ps *problems, path, otherPath string) {
	const why = "must be that of %s, with which it shares the account %q: a receipt may come on any bind of an account"
	ids, otherIDs := s.Rules.MessageID, other.Rules.MessageID
	sameIDs := slices.Equal(ids.TLV, otherIDs.TLV) && slices.Equal(ids.Text, otherIDs.Text)
	ps.check(sameIDs, path+".rules.message_id", why, otherPath, s.Account)
	ps.check(s.Rules.Detect == other.Rules.Detect, path+".rules.detect", why, otherPath, s.Account)
	ps.check(s.ClientRefTLV == other.ClientRefTLV, path+".client_ref_tlv", why, otherPath, s.Account)
}
