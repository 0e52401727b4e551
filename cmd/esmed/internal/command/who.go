package command

import (
	"os/user"
	"strings"
)

// uidPrefix and tokenPrefix begin the names of persons that decisions are recorded with: "uid:0", "token:ops".
const (
	uidPrefix   = "uid:"
	tokenPrefix = "token:"
)

// isPerson reports whether something was decided by a person, not by what esmed saw.
func isPerson(by string) bool {
	return strings.HasPrefix(by, uidPrefix) || strings.HasPrefix(by, tokenPrefix)
}

// who is who decided something, with the name that a user has on this machine.
func who(by string) string {
	uid, ok := strings.CutPrefix(by, uidPrefix)
	if !ok {
		return or(by, "esmed")
	}
	u, err := user.LookupId(uid)
	if err != nil {
		return clean(by)
	}
	return clean(by) + " (" + clean(u.Username) + ")"
}
