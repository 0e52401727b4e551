package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/store"

	"github.com/spf13/cobra"
)

// runFlags are the flags of run that set a key of the configuration, by the key's path.
var runFlags = []struct{ name, path, help string }{
	{"data-dir", "data_dir", "in place of the configuration's data_dir"},
	{"socket", "api.socket", "in place of api.socket"},
	{"listen", "api.listen", "in place of api.listen"},
	{"log-level", "log.level", "in place of log.level: debug, info, warn or error"},
	{"log-format", "log.format", "in place of log.format: json or console"},
}

func runCommand() *cobra.Command {
	var (
		path     string
		restored restoredFlag
	)
	cmd := &cobra.Command{
		Use:   "run --config FILE",
		Short: "Run the daemon in the foreground",
		Long: `Runs the daemon in the foreground. SIGTERM stops it: submits are refused, the window drains, sessions
unbind. A second SIGTERM stops it at once; what is unanswered then is in doubt. SIGHUP reads the
configuration again and takes up its rules, binds and log.level. systemd is notified, and its watchdog is served.

Exit status 2 says that starting it again changes nothing before the configuration is corrected.`,
		Example: "  esmed run --config /etc/esmed/esmed.yaml",
		GroupID: groupDaemon,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path == "" {
				return &failure{text: "--config is needed", hint: "esmed config example > esmed.yaml makes one to begin with", code: exitUsage}
			}
			flags := changedFlags(cmd)
			load := func() (*config.Config, error) { return config.Load(path, os.Environ(), flags) }
			cfg, err := load()
			if err != nil {
				return badConfig(path, err)
			}
			return runDaemon(cmd, path, cfg, restored, load)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "the configuration file")
	cmd.Flags().Var(&restored, "restored", "at the first start from a backup: put what it holds as queued in doubt (the default), or send it")
	for _, f := range runFlags {
		cmd.Flags().String(f.name, "", f.help)
	}
	return cmd
}

// restoredFlag is a word of daemon.Options.Restored.
type restoredFlag string

func (f *restoredFlag) String() string { return string(*f) }

func (f *restoredFlag) Set(s string) error {
	if s != daemon.RestoredDoubt && s != daemon.RestoredSend {
		return fmt.Errorf("want %s or %s", daemon.RestoredDoubt, daemon.RestoredSend)
	}
	*f = restoredFlag(s)
	return nil
}

func (*restoredFlag) Type() string { return "doubt|send" }

func changedFlags(cmd *cobra.Command) map[string]string {
	set := map[string]string{}
	for _, f := range runFlags {
		if flag := cmd.Flags().Lookup(f.name); flag.Changed {
			set[f.path] = flag.Value.String()
		}
	}
	return set
}

// runDaemon runs it without the program's own context: the daemon counts signals itself.
func runDaemon(cmd *cobra.Command, path string, cfg *config.Config, restored restoredFlag, load func() (*config.Config, error)) error {
	// A panic, and the watchdog's SIGABRT, would end in exit status 2 otherwise, which says that starting again is in vain.
	debug.SetTraceback("crash")
	err := daemon.Run(context.WithoutCancel(cmd.Context()), cfg, daemon.Options{
		Version: version(), File: path, Log: cmd.ErrOrStderr(), Reload: load, Restored: string(restored),
	})
	return daemonFailure(cfg, err)
}

// daemonFailure finds words for what ended the daemon.
func daemonFailure(cfg *config.Config, err error) error {
	var bad *daemon.ConfigError
	switch {
	case errors.As(err, &bad):
		return &failure{text: bad.Error(), hint: "correct the configuration; esmed help configuration explains its keys", code: exitUsage, err: err}
	case errors.Is(err, daemon.ErrImmediate):
		return &failure{text: "stopped at once by a second signal", hint: "what was outstanding is in doubt: esmed exceptions list --kind in_doubt", err: err}
	case errors.Is(err, store.ErrLocked):
		return &failure{text: cfg.DataDir + " is in use by another daemon, or by a command that has been reading it for a while", hint: "stop that one first, or give this one a data_dir of its own", err: err}
	case errors.Is(err, fs.ErrPermission):
		return &failure{text: err.Error(), hint: "data_dir has to belong to the user that the daemon runs as, who also has to be allowed to write where api.socket is", err: err}
	}
	return err
}
