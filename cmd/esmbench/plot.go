package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

func plotCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "plot RESULTS -o DIR",
		Short: "Draw what a results file holds",
		Long: `Writes stored.svg, lives a second and CPU a life against the messages stored, and offered.svg, the same and the time
from deliver_sm to its answer against the offered load. Of several runs of a case the median is drawn.`,
		Example: "  esmbench plot results.json -o /tmp",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("one results file is needed")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readOutcomes(args[0])
			if err != nil {
				return err
			}
			return errors.Join(
				writeTiles(filepath.Join(dir, "stored.svg"), storedTiles(all)),
				writeTiles(filepath.Join(dir, "offered.svg"), offeredTiles(all)))
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", ".", "directory for the drawings")
	return c
}

// series are the points of one line, which may stand at one x several times.
type series map[float64][]float64

func (s series) add(x, y float64) { s[x] = append(s[x], y) }

// medians are the points in the order of x.
func (s series) medians() plotter.XYs {
	points := make(plotter.XYs, 0, len(s))
	for _, x := range slices.Sorted(maps.Keys(s)) {
		ys := slices.Sorted(slices.Values(s[x]))
		points = append(points, plotter.XY{X: x, Y: ys[len(ys)/2]})
	}
	return points
}

// tile is one of the diagrams that stand beside each other.
type tile struct {
	title, x, y string
	ticks       []plot.Tick // of x; nil: as they come
	lines       map[string]series
}

func newTile(title, x, y string) *tile {
	return &tile{title: title, x: x, y: y, lines: map[string]series{}}
}

func (t *tile) add(line string, x, y float64) {
	if t.lines[line] == nil {
		t.lines[line] = series{}
	}
	t.lines[line].add(x, y)
}

// storedTiles show the cases of full speed. The numbers stored stand at equal distances, since none of them may
// be 0 on a logarithmic axis.
func storedTiles(all []outcome) []*tile {
	stored := map[int]bool{}
	for i := range all {
		if all[i].Name == "full" {
			stored[all[i].Stored] = true
		}
	}
	at := slices.Sorted(maps.Keys(stored))
	const x = "messages stored before"
	speed, cpu := newTile("Lives a second", x, "lives/s"), newTile("Daemon's CPU a life", x, "us")
	for i := range all {
		if o := &all[i]; o.Name == "full" {
			n := float64(slices.Index(at, o.Stored))
			speed.add("ids "+o.IDs, n, o.Load.Rate)
			cpu.add("ids "+o.IDs, n, o.Load.CPU)
		}
	}
	for i, n := range at {
		tick := plot.Tick{Value: float64(i), Label: fmt.Sprintf("%d", n)}
		speed.ticks, cpu.ticks = append(speed.ticks, tick), append(cpu.ticks, tick)
	}
	return []*tile{speed, cpu}
}

func offeredTiles(all []outcome) []*tile {
	const x = "offered, lives/s"
	speed, cpu := newTile("Lives a second", x, "lives/s"), newTile("Daemon's CPU a life", x, "us")
	answer := newTile("deliver_sm to its answer", x, "ms")
	for i := range all {
		o := &all[i]
		if o.Rate == 0 || o.Name != "paced" && o.Name != "overload" {
			continue
		}
		rate := float64(o.Rate)
		speed.add("done", rate, o.Load.Rate)
		cpu.add("CPU", rate, o.Load.CPU)
		answer.add("p50", rate, o.Load.Deliver.P50/1000)
		answer.add("p99", rate, o.Load.Deliver.P99/1000)
	}
	return []*tile{speed, cpu, answer}
}

func (t *tile) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = t.title, t.x, t.y
	p.Y.Min, p.X.Min = 0, 0
	p.Legend.Top, p.Legend.Left = false, true
	if t.ticks != nil {
		p.X.Tick.Marker = plot.ConstantTicks(t.ticks)
	}
	var lines []any
	for _, name := range slices.Sorted(maps.Keys(t.lines)) {
		lines = append(lines, name, t.lines[name].medians())
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return nil, fmt.Errorf("plot: %s: %w", t.title, err)
	}
	p.Y.Min, p.X.Min = 0, 0
	p.Y.Max, p.X.Max = cmp.Or(p.Y.Max, 1)*1.1, max(p.X.Max, 1)
	p.Add(plotter.NewGrid())
	return p, nil
}

const tileWidth, tileHeight = 12 * vg.Centimeter, 9 * vg.Centimeter

// writeTiles draws diagrams beside each other. Those without any point are left out, and the file if none has.
func writeTiles(file string, tiles []*tile) error {
	tiles = slices.DeleteFunc(tiles, func(t *tile) bool { return len(t.lines) == 0 })
	if len(tiles) == 0 {
		return nil
	}
	row := make([]*plot.Plot, len(tiles))
	for i, t := range tiles {
		p, err := t.plot()
		if err != nil {
			return err
		}
		row[i] = p
	}
	canvas := vgsvg.New(tileWidth*vg.Length(len(tiles)), tileHeight)
	layout := draw.Tiles{Rows: 1, Cols: len(row), PadX: vg.Centimeter, PadLeft: 2 * vg.Millimeter, PadRight: 5 * vg.Millimeter, PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter}
	for i, c := range plot.Align([][]*plot.Plot{row}, layout, draw.New(canvas))[0] {
		row[i].Draw(c)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
