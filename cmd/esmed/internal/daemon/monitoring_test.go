package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What monitoring is given with the package.
const (
	rulesFile     = "../../dist/prometheus/esmed.rules.yml"
	rulesTest     = "../../dist/prometheus/esmed.rules.test.yml"
	dashboardFile = "../../dist/grafana/esmed.json"
)

// promtool runs Debian's promtool (package prometheus). Where it is missing the test is skipped, or fails if
// CI_TOOLS=1 says that all tools are there.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("CI_TOOLS") != "1" {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestRules_sayWhatTheyShould(t *testing.T) {
	promtool(t, "check", "rules", rulesFile)
	promtool(t, "test", "rules", rulesTest)
}

func TestRules_areAllTested(t *testing.T) {
	rules, tests := fileText(t, rulesFile), fileText(t, rulesTest)
	alerts := regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(rules, -1)
	require.NotEmpty(t, alerts)
	for _, a := range alerts {
		require.Contains(t, tests, `alertname="`+a[1]+`", alertstate="firing"`, "no test has %s fire", a[1])
		require.Contains(t, docText(t, "alerts"), "`"+a[1]+"`", "%s is not documented", a[1])
	}
	for _, part := range []string{"labels: {severity: ", "summary: ", "description: "} {
		require.Equal(t, len(alerts), strings.Count(rules, part), "each rule has %q", part)
	}
}

var metricName = regexp.MustCompile(`\besmed_[a-z_]+`)

func TestMonitoring_namesMetricsThatThereAre(t *testing.T) {
	there := exported()
	for _, path := range []string{rulesFile, rulesTest, dashboardFile} {
		names := metricName.FindAllString(fileText(t, path), -1)
		require.NotEmpty(t, names)
		for _, name := range names {
			_, whole := there[name]
			_, histogram := there[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")]
			require.True(t, whole || histogram, "%s: there is no metric %s", filepath.Base(path), name)
		}
	}
}

// dashboard is what matters here of Grafana's format.
type dashboard struct {
	Title  string
	UID    string
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr string }
	}
}

func TestDashboard_isWhole(t *testing.T) {
	var d dashboard
	require.NoError(t, json.Unmarshal([]byte(fileText(t, dashboardFile)), &d))
	require.Equal(t, "esmed", d.UID)
	ids, taken := map[int]bool{}, map[[2]int]string{}
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	grafana := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*", "$smsc", ".*")
	for _, p := range d.Panels {
		require.False(t, ids[p.ID], "two panels have the id %d", p.ID)
		ids[p.ID] = true
		require.NotEmpty(t, p.Title)
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				require.Empty(t, taken[at], "%s lies over another panel", p.Title)
				taken[at] = p.Title
			}
		}
		require.Equal(t, p.Type == "row", len(p.Targets) == 0, "%s shows nothing", p.Title)
		for i, target := range p.Targets {
			fmt.Fprintf(&rules, "      - {record: 'panel:%d:%d', expr: '%s'}\n", p.ID, i, grafana.Replace(target.Expr))
		}
	}
	asRules := filepath.Join(t.TempDir(), "rules.yml")
	require.NoError(t, os.WriteFile(asRules, []byte(rules.String()), 0o600))
	promtool(t, "check", "rules", asRules)
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
