package control_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"esmed/cmd/esmed/docs"

	"github.com/stretchr/testify/require"
)

var (
	tableRow = regexp.MustCompile("(?m)^\\| (`[^|]*(?:\\\\\\|[^|]*)*) \\|") // its first cell; \| is no end
	inCode   = regexp.MustCompile("`([^`]+)`")
	choice   = regexp.MustCompile(`\{([a-z]+(?:\\\|[a-z]+)+)\}`)
)

// The table of requests has each that there is, and no other. /metrics, /debug/pprof/ and /openapi.json describe themselves.
func TestDocs_haveEveryRequest(t *testing.T) {
	text, ok := docs.Text("http-api")
	require.True(t, ok)
	told := map[string]bool{}
	for _, row := range tableRow.FindAllStringSubmatch(text, -1) {
		for _, code := range inCode.FindAllStringSubmatch(row[1], -1) {
			method, target, ok := strings.Cut(code[1], " ")
			switch {
			case strings.HasPrefix(code[1], "/"):
				method, target = "GET", code[1]
			case !ok || !slices.Contains([]string{"GET", "POST", "DELETE"}, method):
				continue
			}
			path, _, _ := strings.Cut(target, "?")
			all := []string{path}
			if m := choice.FindStringSubmatch(path); m != nil {
				all = nil
				for _, one := range strings.Split(m[1], `\|`) {
					all = append(all, strings.Replace(path, m[0], one, 1))
				}
			}
			for _, path := range all {
				told[method+" "+path] = true
			}
		}
	}
	delete(told, "GET /metrics")
	delete(told, "GET /debug/pprof/")

	served := map[string]bool{}
	for path, item := range document(t, newAPI(t, newFake(t).config())).Paths.Map() {
		for method := range item.Operations() {
			if strings.HasSuffix(path, "/{action}") {
				for _, action := range []string{"stop", "start", "restart"} {
					served[method+" "+strings.Replace(path, "{action}", action, 1)] = true
				}
				continue
			}
			served[method+" "+path] = true
		}
	}
	require.Equal(t, served, told)
}
