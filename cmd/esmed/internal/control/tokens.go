package control

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// Tokens are the bearer tokens of a tokens_file. They are read once and not changed.
type Tokens struct{ tokens []token }

// token is a line of the file. The token itself is known by its hash only.
type token struct {
	hash   [sha256.Size]byte
	caller Caller
}

// ReadTokens reads a tokens_file: a line has a name, scopes separated by commas, and the token's SHA-256
// in hex, separated by blanks. Blank lines and those that begin with # are skipped. All that is wrong is
// reported at once.
func ReadTokens(path string) (*Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("control: tokens: %w", err)
	}
	defer f.Close()
	t := &Tokens{}
	names := map[string]bool{}
	var problems []error
	sc := bufio.NewScanner(f)
	for n := 1; sc.Scan(); n++ {
		fields := strings.Fields(sc.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		tok, err := parseToken(fields)
		if err == nil && names[tok.caller.Owner] {
			err = fmt.Errorf("a second token %q", tok.caller.Owner)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("control: %s:%d: %w", path, n, err))
			continue
		}
		names[tok.caller.Owner] = true
		t.tokens = append(t.tokens, tok)
	}
	if err := sc.Err(); err != nil {
		problems = append(problems, fmt.Errorf("control: %s: %w", path, err))
	}
	return t, errors.Join(problems...)
}

func parseToken(fields []string) (token, error) {
	if len(fields) != 3 {
		return token{}, fmt.Errorf("want name, scopes and hash, got %d fields", len(fields))
	}
	if strings.HasPrefix(fields[0], ownerUID) {
		return token{}, errors.New("names that begin with uid: are those of this machine's users")
	}
	scopes, err := ParseScopes(fields[1])
	if err != nil {
		return token{}, err
	}
	t := token{caller: Caller{Owner: fields[0], Scopes: scopes}}
	if n, err := hex.Decode(t.hash[:], []byte(fields[2])); len(fields[2]) != 2*sha256.Size || err != nil || n != sha256.Size {
		return token{}, errors.New("the hash is no SHA-256 in hex")
	}
	return t, nil
}

// caller finds whose token it is, in a time that does not depend on which one it is or how much of it is
// right.
func (t *Tokens) caller(secret string) (Caller, bool) {
	hash := sha256.Sum256([]byte(secret))
	found := -1
	for i := range t.tokens {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], t.tokens[i].hash[:]), i, found)
	}
	if found < 0 {
		return Caller{}, false
	}
	return t.tokens[found].caller, true
}

// require makes the callers of a handler known by their tokens. A wrong token is refused at once; a
// request without one is left to the handler, which serves it what everybody may see.
func (t *Tokens) require(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := r.Header.Get("Authorization")
		if header == "" {
			h.ServeHTTP(w, r)
			return
		}
		scheme, secret, _ := strings.Cut(header, " ")
		caller, ok := t.caller(strings.TrimSpace(secret))
		if !ok || !strings.EqualFold(scheme, "Bearer") {
			writeProblem(w, newProblem(http.StatusUnauthorized, "this token is not known", "send Authorization: Bearer TOKEN"))
			return
		}
		h.ServeHTTP(w, r.WithContext(withCaller(r.Context(), caller)))
	})
}
