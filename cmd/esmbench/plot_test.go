package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// texts are those of a drawing, which is well-formed.
func texts(t *testing.T, file string) []string {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var all []string
	root := ""
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			require.Equal(t, "svg", root)
			return all
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if root == "" {
				root = token.Name.Local
			}
		case xml.CharData:
			if s := strings.TrimSpace(string(token)); s != "" {
				all = append(all, s)
			}
		}
	}
}

func TestPlot_draws_what_a_results_file_holds(t *testing.T) {
	dir := t.TempDir()
	results := filepath.Join(dir, "results.json")
	for _, stored := range []int{1000000, 0, 100000} {
		for _, ids := range []string{idsHex, idsUUID} {
			o := someOutcome()
			o.Stored, o.IDs = stored, ids
			require.NoError(t, appendOutcome(results, o))
		}
	}
	var out, stderr strings.Builder
	require.Zero(t, run([]string{"plot", results, "-o", dir}, &out, &stderr), stderr.String())
	require.NoFileExists(t, filepath.Join(dir, "offered.svg"), "nothing was offered")
	require.Subset(t, texts(t, filepath.Join(dir, "stored.svg")), []string{"Lives a second", "0", "100000", "1000000", "ids uuid", "ids hex"})

	for _, rate := range []int{1000, 20000, 1000} {
		o := someOutcome()
		o.Name, o.Rate = "paced", rate
		require.NoError(t, appendOutcome(results, o))
	}
	require.Zero(t, run([]string{"plot", results, "-o", dir}, &out, &stderr), stderr.String())
	require.Subset(t, texts(t, filepath.Join(dir, "offered.svg")), []string{"deliver_sm to its answer", "p50", "p99", "offered, lives/s"})

	require.Equal(t, 2, run([]string{"plot"}, &out, &stderr))
	require.Equal(t, 1, run([]string{"plot", filepath.Join(dir, "nothing")}, &out, &stderr))
}

func TestSeries_medians_stand_in_order(t *testing.T) {
	s := series{}
	for _, y := range []float64{5, 1, 3} {
		s.add(2, y)
	}
	s.add(1, 7)
	got := s.medians()
	require.Len(t, got, 2)
	require.InDelta(t, 7, got[0].Y, 0)
	require.InDelta(t, 3, got[1].Y, 0)
}
