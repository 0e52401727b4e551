package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// comparing is what compare was told.
type comparing struct {
	places
	base, output string
	count        int
	stored       []int
	lives        int
	stdout       io.Writer
}

func compareCommand() *cobra.Command {
	var p comparing
	c := &cobra.Command{
		Use:   "compare --base REVISION",
		Short: "Compare the daemon of a revision with that of the working tree",
		Long: `Builds the daemon of a revision, in a worktree of its own, and that of the working tree; runs the same cases against
each, in turn, with this tree's simulator and loader; and has benchstat say what differs. Run it in the repository.`,
		Example: "  esmbench compare --base HEAD~1 --count 6 --lives 50000",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p.stdout = c.OutOrStdout()
			return p.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&p.base, "base", "", "the revision to compare with")
	f.IntVar(&p.count, "count", 6, "runs of each case and daemon; benchstat wants 6 or more to be sure of anything")
	f.IntVar(&p.lives, "lives", 50_000, "of each run")
	f.IntSliceVar(&p.stored, "stored", []int{0}, "numbers of stored messages")
	f.StringVarP(&p.output, "output", "o", "", "directory in which base.txt and head.txt are kept; default: they are not")
	f.StringVar(&p.dir, "dir", "", "where cases work; default the system's temporary directory")
	f.StringVar(&p.filled, "filled", "", "keep filled data_dirs here, and copy them")
	return c
}

func (p *comparing) run(ctx context.Context) (err error) {
	if p.base == "" || p.count < 1 || p.lives < 1 {
		return usageError{errors.New("--base is needed, and --count and --lives of 1 or more")}
	}
	work, err := os.MkdirTemp(cmp.Or(p.dir, os.TempDir()), "esmbench-compare")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := p.buildBoth(ctx, work); err != nil {
		return err
	}
	into := cmp.Or(p.output, work)
	if err := p.runBoth(ctx, work, into); err != nil {
		return err
	}
	out, err := command(ctx, "", "go", "tool", "benchstat", "base="+filepath.Join(into, "base.txt"), "head="+filepath.Join(into, "head.txt"))
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(out)
	return err
}

// buildBoth makes the programs in work/base and work/head.
func (p *comparing) buildBoth(ctx context.Context, work string) error {
	tree := filepath.Join(work, "tree")
	if _, err := command(ctx, "", "git", "worktree", "add", "--detach", tree, p.base); err != nil {
		return err
	}
	_, err := command(ctx, tree, "go", "build", "-o", filepath.Join(work, "base")+"/", "./cmd/esmed")
	_, removed := command(context.WithoutCancel(ctx), "", "git", "worktree", "remove", "--force", tree)
	if err = errors.Join(err, removed); err != nil {
		return err
	}
	root, err := command(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	here := string(bytes.TrimSpace(root))
	if _, err := command(ctx, here, "go", "build", "-o", filepath.Join(work, "head")+"/", "./cmd/esmed", "./cmd/smscsim"); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(work, "head", "smscsim"), filepath.Join(work, "base", "smscsim"))
}

// runBoth runs the cases against one daemon and the other, the other first every second time, and writes what
// benchstat reads.
func (p *comparing) runBoth(ctx context.Context, work, into string) error {
	files := map[string]*os.File{}
	order := []string{"base", "head"}
	for _, name := range order {
		f, err := os.Create(filepath.Join(into, name+".txt"))
		if err != nil {
			return err
		}
		defer f.Close()
		if err := printUnits(f); err != nil {
			return err
		}
		files[name] = f
	}
	for range p.count {
		for _, s := range p.cases() {
			for _, name := range order {
				began := time.Now()
				o, err := (&bench{bin: filepath.Join(work, name), dir: work, filled: p.filled, out: p.stdout}).run(ctx, s)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				if err := o.printBenchmark(files[name]); err != nil {
					return err
				}
				fmt.Fprintf(p.stdout, "%s %s: %.0f lives/s, %.1f us CPU a life (%.0f s)\n", name, &s, o.Load.Rate, o.Load.CPU, time.Since(began).Seconds())
			}
		}
		order[0], order[1] = order[1], order[0]
	}
	return nil
}

// cases are as fast as it goes, and one at a rate that any daemon keeps up with, for the waiting times.
func (p *comparing) cases() []setting {
	var all []setting
	for _, n := range p.stored {
		all = append(all, setting{Name: "full", Stored: n, IDs: idsUUID, Window: 1000, Sessions: 1, Lives: p.lives, Ahead: fullAhead})
	}
	const rate = 2000
	return append(all, setting{Name: "paced", IDs: idsUUID, Window: 1000, Sessions: 1, Lives: min(p.lives, 5*rate), Rate: rate})
}

// command runs a program, in dir or here, and returns its stdout.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
