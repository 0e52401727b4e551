package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allowed says what each package may import: of ours, and of third parties (path prefixes). Standard
// library and errgroup are free to all. Changing it is a decision of its own.
var allowed = map[string]struct{ ours, third []string }{
	"esmed/receipt":       {},
	"esmed/statemachine":  {ours: []string{"esmed/receipt"}},
	"esmed/smpp":          {third: []string{"github.com/fiorix/go-smpp/v2/smpp/pdu", "go.uber.org/zap", "golang.org/x/time/rate"}},
	"esmed/smpp/text":     {third: []string{"github.com/fiorix/go-smpp/v2/smpp/pdu/pdutext", "github.com/rivo/uniseg"}},
	"esmed/smpp/smpptest": {ours: []string{"esmed/smpp"}, third: []string{"github.com/fiorix/go-smpp/v2/smpp/pdu"}},
	"esmed/store": {
		ours:  []string{"esmed/statemachine", "esmed/receipt"},
		third: []string{"go.etcd.io/bbolt", "google.golang.org/protobuf/encoding/protowire", "github.com/bits-and-blooms/bloom/v3"},
	},
	"esmed/cmd/esmed/internal/config": {
		ours:  []string{"esmed/receipt", "esmed/smpp"},
		third: []string{"github.com/knadh/koanf/", "github.com/go-viper/mapstructure/v2"},
	},
	"esmed/cmd/esmed/internal/control": {
		ours: []string{"esmed/statemachine", "esmed/receipt", "esmed/smpp/text"},
		third: []string{
			"github.com/danielgtaylor/huma/v2", "github.com/nyaruka/phonenumbers",
			"github.com/oklog/ulid/v2", "github.com/prometheus/client_golang",
		},
	},
	"esmed/cmd/esmed/internal/daemon": {
		ours: []string{
			"esmed/receipt", "esmed/statemachine", "esmed/smpp", "esmed/smpp/text", "esmed/store",
			"esmed/cmd/esmed/internal/config", "esmed/cmd/esmed/internal/control",
		},
		third: []string{"go.uber.org/zap", "github.com/coreos/go-systemd/v22", "github.com/prometheus/client_golang"},
	},
	// A capture's receipts are judged by the state machine itself, so that decode and the daemon cannot differ.
	"esmed/cmd/esmed/internal/capture": {
		ours:  []string{"esmed/smpp", "esmed/smpp/text", "esmed/receipt", "esmed/statemachine"},
		third: []string{"github.com/gopacket/gopacket"},
	},
	"esmed/cmd/esmed/internal/command": {
		ours: []string{
			"esmed/cmd/esmed/internal/config", "esmed/cmd/esmed/internal/control", "esmed/cmd/esmed/internal/daemon",
			"esmed/cmd/esmed/internal/capture", "esmed/store", "esmed/receipt", "esmed/smpp", "esmed/cmd/esmed/docs",
		},
		third: []string{"github.com/spf13/cobra", "github.com/jedib0t/go-pretty/v6", "github.com/schollz/progressbar/v3"},
	},
	"esmed/cmd/esmed/docs": {}, // the embedded operator's documentation
	"esmed/cmd/esmed":      {ours: []string{"esmed/cmd/esmed/internal/command"}},
	"esmed/cmd/esmbench": {
		ours:  []string{"esmed/receipt", "esmed/smpp", "esmed/statemachine", "esmed/store", "esmed/cmd/smscsim/lives"},
		third: []string{"github.com/spf13/cobra", "github.com/oklog/ulid/v2", "go.etcd.io/bbolt", "golang.org/x/sys/unix", "gonum.org/v1/plot"},
	},
	// The load is a package of its own so that it can be tested, and so that esmbench reads its results. It knows
	// esmed by its HTTP API alone.
	"esmed/cmd/smscsim/lives": {ours: []string{"esmed/smpp/smpptest"}},
	"esmed/cmd/smscsim":       {ours: []string{"esmed/smpp", "esmed/smpp/smpptest", "esmed/cmd/smscsim/lives"}, third: []string{"github.com/spf13/cobra"}},
}

func TestImports_keepToTheTable(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Standard", "-deps", "esmed/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)

	type pkg struct {
		ImportPath string
		Imports    []string
		Standard   bool
	}
	var ours []pkg
	standard := map[string]bool{"C": true}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		standard[p.ImportPath] = standard[p.ImportPath] || p.Standard
		if strings.HasPrefix(p.ImportPath, "esmed/") {
			ours = append(ours, p)
		}
	}
	require.Len(t, ours, len(allowed), "packages and table differ: %v", ours)
	for _, p := range ours {
		row, ok := allowed[p.ImportPath]
		require.True(t, ok, "%s is not in the table of packages", p.ImportPath)
		for _, imp := range p.Imports {
			switch {
			case standard[imp], imp == "golang.org/x/sync/errgroup":
			case strings.HasPrefix(imp, "esmed/"):
				require.Contains(t, row.ours, imp, "%s may not import %s", p.ImportPath, imp)
			default:
				fits := slices.ContainsFunc(row.third, func(prefix string) bool { return strings.HasPrefix(imp, prefix) })
				require.True(t, fits, "%s may not import %s", p.ImportPath, imp)
			}
		}
	}
}

func TestTopLevel_holdsWhatIsAgreed(t *testing.T) {
	agreed := []string{"cmd", "smpp", "receipt", "store", "statemachine", "testdata", "go.mod", "go.sum", "Makefile", "README.md"}
	entries, err := os.ReadDir("../..")
	require.NoError(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" { // bin is built, never committed
			continue
		}
		require.Contains(t, agreed, e.Name())
	}
}
