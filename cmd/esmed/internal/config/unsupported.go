package config

// refuseUnsupported refuses keys whose function this version does not carry out, when they are set away
// from their default: what an operator writes either works or is refused.
func (c *Config) refuseUnsupported(ps *problems) {
	ps.notYet(len(c.Webhooks) > 0, "webhooks")
	ps.notYet(len(c.Callbacks) > 0, "callbacks")
	ps.notYet(len(c.API.CallbackPrefixes) > 0, "api.callback_prefixes")
}

func (p *problems) notYet(set bool, path string) {
	p.check(!set, path, "not in this version: leave it at its default")
}
