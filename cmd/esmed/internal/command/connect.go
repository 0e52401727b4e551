package command

import (
	"errors"
	"fmt"
	"os"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/cmd/esmed/internal/daemon"
	"esmed/store"

	"github.com/spf13/cobra"
)

// reach says where the daemon, or failing that its data, is.
type reach struct {
	socket  string
	dataDir string
	// load reads a configuration whose rules are tried without a daemon; nil = there is none.
	load func() (*config.Config, error)
}

func socketFlag(cmd *cobra.Command, r *reach) {
	def := config.Default().API.Socket
	if s := os.Getenv("ESMED_SOCKET"); s != "" {
		def = s
	}
	cmd.Flags().StringVar(&r.socket, "socket", def, "the daemon's Unix socket (also ESMED_SOCKET)")
}

// readFlags are those of a command that can do without a daemon.
func readFlags(cmd *cobra.Command, r *reach) {
	socketFlag(cmd, r)
	dataDirFlag(cmd, r, "what to read when no daemon runs (also ESMED_DATA_DIR); named here, it is read unless a daemon has it")
}

func dataDirFlag(cmd *cobra.Command, r *reach, help string) {
	def := config.Default().DataDir
	if s := os.Getenv("ESMED_DATA_DIR"); s != "" {
		def = s
	}
	cmd.Flags().StringVar(&r.dataDir, "data-dir", def, help)
}

// daemon is a client of the daemon. The caller closes it.
func (r *reach) daemon() *control.Client { return control.Dial(r.socket) }

// reader calls f with a client of the daemon or, when none runs, of the data directory opened read-only. A data
// directory that the command line names, and no socket, is read unless a daemon has it: it may be a copy.
func (r *reach) reader(cmd *cobra.Command, f func(*control.Client) error) error {
	if namesDataDir(cmd) {
		if err := r.read(cmd, "", f); !errors.Is(err, store.ErrLocked) {
			return err
		}
	}
	client := r.daemon()
	defer client.Close()
	if err := client.Ready(cmd.Context()); !errors.Is(err, control.ErrNoDaemon) {
		return f(client)
	}
	return r.read(cmd, r.noDaemon(), f)
}

// namesDataDir reports whether the command line names a data directory, and no daemon.
func namesDataDir(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("data-dir") && !cmd.Flags().Changed("socket")
}

// noDaemon begins an error where the daemon was looked for.
func (r *reach) noDaemon() string { return fmt.Sprintf("no daemon runs on %s, and ", r.socket) }

// read calls f with a client of the data directory opened read-only.
func (r *reach) read(cmd *cobra.Command, noDaemon string, f func(*control.Client) error) error {
	reader, err := daemon.OpenReaderUnder(r.dataDir, version(), r.load)
	if err != nil {
		return r.noReader(noDaemon, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "esmed: read-only, no daemon: reading %s\n", clean(r.dataDir))
	err = f(control.NewInProcess(reader))
	return errors.Join(err, reader.Close())
}

func (r *reach) noReader(noDaemon string, err error) error {
	if errors.Is(err, store.ErrNoStore) || errors.Is(err, os.ErrNotExist) {
		return &failure{
			text: fmt.Sprintf("%s%s holds no store", noDaemon, r.dataDir),
			hint: "start it with esmed run --config FILE, or name its socket with --socket or ESMED_SOCKET, or its data with --data-dir",
			err:  err,
		}
	}
	return err
}
