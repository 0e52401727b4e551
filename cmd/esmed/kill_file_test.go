package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/smpp/smpptest"
)

// killRows are so many that what they are answered fills the pipe to a reader that has stopped reading: whoever sends
// them is in the middle of the file then.
const killRows = 8000

// A file is sent. In the middle of it whoever sends it is killed, and, when it is sent again, the daemon. The SMSC
// gets each row once, though half of the rows have no ref.
func TestKill_sendFile(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	smsc, err := smpptest.Start(smpptest.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, smsc.Close()) }()
	d := newProcess(t, buildEsmed(t), "127.0.0.1:1", 100, "hold") // nobody is there: a kill leaves no doubt
	d.start()
	defer d.stop()

	path, want := killFile(t)
	first := d.sendFile(ctx, path)
	first.read(t, killRows/10)
	require.NoError(t, first.cmd.Process.Kill())
	require.Error(t, first.cmd.Wait())

	second := d.sendFile(ctx, path)
	second.read(t, killRows/4)
	d.kill()
	config, err := os.ReadFile(d.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(d.config, bytes.ReplaceAll(config, []byte("127.0.0.1:1"), []byte(smsc.Addr())), 0o600))
	d.start()
	second.read(t, killRows-killRows/4)
	require.False(t, second.out.Scan())
	require.NoError(t, second.cmd.Wait(), second.note.String())
	require.Contains(t, second.note.String(), "goes on, which is remembered in "+path+".run")
	require.Regexp(t, fmt.Sprintf(`%d rows: [1-9][0-9]* accepted by us, [1-9][0-9]* accepted before, 0 refused; `, killRows), second.note.String())

	require.NoError(t, smsc.Await(ctx, func(st smpptest.Stats) bool { return st.Submits >= killRows }))
	d.settled(ctx)
	var got []string
	for _, s := range smsc.Submits() {
		got = append(got, s.Dest.Addr)
	}
	slices.Sort(got)
	require.Equal(t, want, got)
	third := d.sendFile(ctx, path)
	require.False(t, third.out.Scan())
	require.Error(t, third.cmd.Wait())
	require.Contains(t, third.note.String(), "esmed: error: this file was sent on ")
	d.esmed("verify")
}

// killFile gives a file and the numbers in it, sorted. Each is there twice, once with a ref.
func killFile(t *testing.T) (path string, numbers []string) {
	var file strings.Builder
	file.WriteString("to,text,ref\n")
	for n := range killRows {
		number := fmt.Sprintf("39333%07d", n-n%2)
		ref := ""
		if n%2 == 0 {
			ref = fmt.Sprintf("r%d", n)
		}
		fmt.Fprintf(&file, "+%s,\"hello,\nagain\",%s\n", number, ref)
		numbers = append(numbers, number)
	}
	path = filepath.Join(t.TempDir(), "messages.csv")
	require.NoError(t, os.WriteFile(path, []byte(file.String()), 0o600))
	slices.Sort(numbers)
	return path, numbers
}

// sender is an esmed send --file whose answers are read one by one.
type sender struct {
	cmd  *exec.Cmd
	out  *bufio.Scanner
	note bytes.Buffer
}

func (p *process) sendFile(ctx context.Context, path string) *sender {
	p.t.Helper()
	s := &sender{cmd: exec.CommandContext(ctx, p.bin, "send", "--file", path, "-o", "ndjson", "--socket", p.socket)}
	s.cmd.Stderr = &s.note
	out, err := s.cmd.StdoutPipe()
	require.NoError(p.t, err)
	s.out = bufio.NewScanner(out)
	require.NoError(p.t, s.cmd.Start())
	return s
}

// read reads so many answers.
func (s *sender) read(t *testing.T, answers int) {
	t.Helper()
	for range answers {
		require.True(t, s.out.Scan())
		require.NotContains(t, s.out.Text(), `"error"`)
	}
}
