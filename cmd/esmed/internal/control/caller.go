package control

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// Caller is who sent a request.
type Caller struct {
	Owner  string // "uid:N" for a user of this machine, else the token's name: the scope of a ref
	Scopes Scopes
}

// Scopes are what a caller may do.
type Scopes uint8

// Scopes of tokens. Callers on the Unix socket have all: its mode says who may connect.
const (
	ScopeSend Scopes = 1 << iota
	ScopeRead
	ScopeOperate

	AllScopes = ScopeSend | ScopeRead | ScopeOperate
)

var scopeNames = []struct {
	name  string
	scope Scopes
}{{"send", ScopeSend}, {"read", ScopeRead}, {"operate", ScopeOperate}}

// ParseScopes reads a comma-separated list of send, read and operate.
func ParseScopes(list string) (Scopes, error) {
	var s Scopes
next:
	for word := range strings.SplitSeq(list, ",") {
		for _, n := range scopeNames {
			if n.name == word {
				s |= n.scope
				continue next
			}
		}
		return 0, fmt.Errorf("unknown scope %q: want send, read or operate", word)
	}
	return s, nil
}

// String lists the scopes, comma-separated.
func (s Scopes) String() string {
	var names []string
	for _, n := range scopeNames {
		if s&n.scope != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ",")
}

// ownerUID begins the names of this machine's users, which no token's name does.
const ownerUID = "uid:"

// owner names a user of this machine.
func owner(uid uint32) string { return fmt.Sprintf("%s%d", ownerUID, uid) }

// name is who a decision is recorded as: "uid:N" or "token:NAME".
func (c Caller) name() string {
	if strings.HasPrefix(c.Owner, ownerUID) {
		return c.Owner
	}
	return "token:" + c.Owner
}

type callerKey struct{}

// withCaller says who sends the requests of a context.
func withCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf is the zero Caller, which may do nothing, when nobody said who it is.
func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// permit refuses callers without a scope. Scope 0 is everybody.
func permit(r *http.Request, need Scopes) *Problem {
	c := callerOf(r.Context())
	switch {
	case need == 0 || c.Scopes&need != 0:
		return nil
	case c.Owner == "":
		return newProblem(http.StatusUnauthorized, "a bearer token is needed here", "send Authorization: Bearer TOKEN")
	default:
		return newProblem(http.StatusForbidden, "the token's scopes do not allow this",
			fmt.Sprintf("needed: %s; the token has: %s", need, c.Scopes))
	}
}
