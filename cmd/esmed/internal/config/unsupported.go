package config

import "fmt"

// refuseUnsupported refuses keys whose function this version does not carry out, when they are set away
// from their default: what an operator writes either works or is refused.
func (c *Config) refuseUnsupported(ps *problems) {
	ps.notYet(len(c.Webhooks) > 0, "webhooks")
	ps.notYet(len(c.Callbacks) > 0, "callbacks")
	ps.notYet(len(c.API.CallbackPrefixes) > 0, "api.callback_prefixes")
	for i := range c.SMSCs {
		s, path := &c.SMSCs[i], fmt.Sprintf("smscs[%d]", i)
		ps.notYet(s.Bind == "transmitter+receiver", path+".bind")
		ps.notYet(s.Sessions > 1, path+".sessions")
	}
}

func (p *problems) notYet(set bool, path string) {
	p.check(!set, path, "not in this version: leave it at its default")
}
