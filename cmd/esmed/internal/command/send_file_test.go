package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"esmed/cmd/esmed/internal/control"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// endpoint is a batch endpoint that takes what has a key or a ref once, refuses the text "wrong", and has trouble.
type endpoint struct {
	troubles []trouble         // of its connections, one after the other; then none
	taken    map[string]string // lines, by key or ref
	took     func(n int)       // told how many there are; may be nil

	mu          sync.Mutex
	connections int
}

// trouble is what becomes of a connection after some lines.
type trouble struct {
	refuse     int  // status of the whole batch; 0 = it begins
	after      int  // lines that are answered
	status     int  // what the next one is answered; 0 = nothing: the connection ends
	takesFirst bool // the line is taken all the same
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var ill *trouble
	if e.connections < len(e.troubles) {
		ill = &e.troubles[e.connections]
	}
	e.connections++
	if ill != nil && ill.refuse != 0 {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(ill.refuse)
		_ = json.NewEncoder(w).Encode(control.Problem{Status: ill.refuse, Detail: "the daemon is stopping"})
		return
	}
	w.WriteHeader(http.StatusOK)
	n := 1
	if first := r.URL.Query().Get("first_line"); first != "" {
		_, _ = fmt.Sscan(first, &n)
	}
	answered := 0
	enc := json.NewEncoder(w)
	for lines := bufio.NewScanner(r.Body); lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		last := ill != nil && answered == ill.after
		var result control.BatchResult
		if !last || ill.takesFirst {
			result = e.take(r, n, line)
		}
		if last && ill.status == 0 {
			return
		}
		if last {
			result = control.BatchResult{Line: n, Error: &control.Problem{Status: ill.status, Detail: "the daemon is stopping"}}
		}
		if enc.Encode(result) != nil || last {
			return
		}
		answered++
	}
}

func (e *endpoint) take(r *http.Request, n int, line string) control.BatchResult {
	result := control.BatchResult{Line: n}
	var s control.Submission
	if err := json.Unmarshal([]byte(line), &s); err != nil || s.Text == "wrong" {
		result.Error = &control.Problem{Status: http.StatusUnprocessableEntity, Errors: []control.FieldProblem{{Path: "text", Message: "is wrong"}}}
		return result
	}
	if r.URL.Query().Get("dry_run") == "true" {
		return result
	}
	name := s.Ref
	if name == "" {
		name = fmt.Sprintf("%s/%d", r.Header.Get("Idempotency-Key"), n)
	}
	was, known := e.taken[name]
	switch {
	case known && was != line:
		result.Error = &control.Problem{Status: http.StatusConflict, Detail: "was used before"}
	default:
		result.ID, result.Existing = "ID-"+name, known
		if !known {
			e.taken[name] = line
			if e.took != nil {
				e.took(len(e.taken))
			}
		}
	}
	return result
}

// texts are those of the lines that were taken, sorted.
func (e *endpoint) texts() []string {
	var all []string
	for _, line := range e.taken {
		var s control.Submission
		_ = json.Unmarshal([]byte(line), &s)
		all = append(all, s.Text)
	}
	slices.Sort(all)
	return all
}

// sent is what one esmed send --file printed.
type sent struct {
	out, note string
	err       error
}

// sendTo runs esmed send --file.
func sendTo(ctx context.Context, h http.Handler, f fileFlags, format format) sent {
	s := sendFlags{file: f, format: format}
	s.reach.socket = "/run/esmed.sock"
	cmd := &cobra.Command{}
	var out, note bytes.Buffer
	cmd.SetContext(ctx)
	cmd.SetOut(&out)
	cmd.SetErr(&note)
	err := s.sendFile(cmd, control.NewInProcess(h))
	return sent{out.String(), note.String(), err}
}

func newEndpoint(troubles ...trouble) *endpoint {
	return &endpoint{taken: map[string]string{}, troubles: troubles}
}

// ndjson has rows with these texts.
func ndjson(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&b, "{\"to\":\"+393331230007\",\"text\":%q}\n", text)
	}
	return b.String()
}

// Whatever the interruptions, each row is taken exactly once, and each wrong one is in the file of rejected rows.
func TestSendFile_eachRowIsTakenOnce(t *testing.T) {
	dir, files := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		files++
		path := filepath.Join(dir, fmt.Sprintf("m%d.ndjson", files))
		content, good, wrong := drawFile(rt)
		require.NoError(rt, os.WriteFile(path, []byte(content), 0o600))
		troubles := rapid.SliceOfN(rapid.Custom(drawTrouble), 0, 12).Draw(rt, "troubles")
		killsAt := rapid.SliceOfN(rapid.IntRange(0, len(good)), 0, 10).Draw(rt, "kills at")
		synctest.Test(t, func(t *testing.T) {
			e := newEndpoint(troubles...)
			err := sendUntilDone(e, path, killsAt)
			require.Equal(rt, good, e.texts())
			if wrong == 0 {
				require.NoError(rt, err)
				return
			}
			rejected, err := os.ReadFile(strings.TrimSuffix(path, ".ndjson") + ".rejected.ndjson")
			require.NoError(rt, err)
			require.Equal(rt, wrong, bytes.Count(rejected, []byte("\n")))
		})
	})
}

// drawFile gives a file with the texts of its good rows, sorted, and the number of the others.
func drawFile(t *rapid.T) (content string, good []string, wrong int) {
	for i := range rapid.IntRange(1, 40).Draw(t, "rows") {
		text := fmt.Sprintf("text %d", i/2) // some rows read the same
		switch rapid.SampledFrom([]string{"plain", "ref", "wrong", "blank before"}).Draw(t, "row") {
		case "plain":
			content += ndjson(text)
		case "blank before":
			content += "\n" + ndjson(text)
		case "ref":
			content += fmt.Sprintf("{\"to\":\"1\",\"text\":%q,\"ref\":\"r%d\"}\n", text, i)
		case "wrong":
			content += ndjson("wrong")
			wrong++
			continue
		}
		good = append(good, text)
	}
	slices.Sort(good)
	return content, good, wrong
}

func drawTrouble(t *rapid.T) trouble {
	return trouble{
		refuse: rapid.SampledFrom([]int{0, 0, 0, 429, 503}).Draw(t, "refuse"), after: rapid.IntRange(0, 30).Draw(t, "after"),
		status: rapid.SampledFrom([]int{0, 0, 429, 500, 503, 507}).Draw(t, "status"), takesFirst: rapid.Bool().Draw(t, "takes"),
	}
}

// sendUntilDone runs the same command until it says that all rows are answered. It is killed when so many have been
// taken as killsAt says, each time once.
func sendUntilDone(e *endpoint, path string, killsAt []int) error {
	for {
		ctx, cancel := context.WithCancel(context.Background())
		e.took = func(n int) {
			if len(killsAt) > 0 && n >= killsAt[0] {
				killsAt = killsAt[1:]
				cancel()
			}
		}
		s := sendTo(ctx, e, fileFlags{path: path, skipInvalid: true}, formatText)
		cancel()
		if s.err == nil || strings.HasSuffix(asFailure(s.err).text, " refused") {
			return s.err
		}
	}
}

func TestSendFile_troubles(t *testing.T) {
	tests := []struct {
		name      string
		troubles  []trouble // of the connections; the first is that of the first pass
		out       string
		note      []string
		text      string // of the failure; "" = none
		more      string
		connected int
	}{
		{"none", nil, "5 rows: 5 accepted by us, 0 accepted before, 0 refused; ", nil, "", "", 2},
		{
			"an answer is lost: the row was taken once", []trouble{{after: 9}, {after: 2, takesFirst: true}},
			"5 rows: 5 accepted by us, 0 accepted before, 0 refused; ",
			[]string{"submitting: 2 of 5 rows; waiting: the connection to the daemon was lost"}, "", "", 3,
		},
		{
			"the first pass is cut", []trouble{{after: 2}}, "5 rows: 5 accepted by us, 0 accepted before, 0 refused; ",
			[]string{"waiting: the connection to the daemon was lost"}, "", "", 3,
		},
		{
			"the daemon stops, and takes none for a while", []trouble{{after: 9}, {after: 1, status: 503}, {refuse: 503}, {refuse: 429}},
			"5 rows: 5 accepted by us, 0 accepted before, 0 refused; ",
			[]string{"submitting: 1 of 5 rows; waiting: the daemon is stopping"}, "", "", 5,
		},
		{
			"its disk is full", []trouble{{after: 9}, {after: 4, status: 507}}, "5 rows: 5 accepted by us, 0 accepted before, 0 refused; ",
			[]string{"submitting: 4 of 5 rows; waiting: the daemon is stopping"}, "", "", 3,
		},
		{
			"a fault of the daemon's is not the row's", []trouble{{after: 9}, {after: 3, status: 500}},
			"5 rows: 3 accepted by us, 0 accepted before, 0 refused, 2 not answered; ", nil, "the daemon is stopping", "the last row answered is line 3", 2,
		},
		{
			"it does not come back", append([]trouble{{after: 9}}, slices.Repeat([]trouble{{refuse: 503}}, 1000)...),
			"5 rows: 0 accepted by us, 0 accepted before, 0 refused, 5 not answered; ",
			[]string{"submitting: 0 of 5 rows; waiting: the daemon is stopping"}, "the daemon is stopping", "no row was answered", 64,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := writeFile(t, "m.ndjson", ndjson("a", "b", "c", "d", "e"))
			synctest.Test(t, func(t *testing.T) {
				e := newEndpoint(tt.troubles...)
				s := sendTo(t.Context(), e, fileFlags{path: path}, formatText)
				require.True(t, strings.HasPrefix(s.out, tt.out), s.out)
				for _, note := range tt.note {
					require.Contains(t, s.note, note)
				}
				require.Equal(t, tt.connected, e.connections)
				if tt.text == "" {
					require.NoError(t, s.err)
					require.Equal(t, []string{"a", "b", "c", "d", "e"}, e.texts())
					return
				}
				f := asFailure(s.err)
				require.Equal(t, tt.text, f.text)
				require.Equal(t, tt.more, f.more[0])
				require.Equal(t, "run the same command again: it goes on where it was, and no row is taken twice", f.hint)
			})
		})
	}
}

func TestSendFile_waitsOnlySoLong(t *testing.T) {
	path := writeFile(t, "m.ndjson", ndjson("a"))
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_ = sendTo(t.Context(), newEndpoint(slices.Repeat([]trouble{{refuse: 503}}, 1000)...), fileFlags{path: path}, formatText)
		require.Equal(t, defaultPatience, time.Since(began))
	})
}

// More rows than may be on their way, to an endpoint that takes one at a time.
func TestSendFile_moreRowsThanAreAhead(t *testing.T) {
	const rows = 3 * rowsAhead
	path := writeFile(t, "m.ndjson", strings.Repeat(ndjson("a"), rows))
	s := sendTo(t.Context(), newEndpoint(), fileFlags{path: path}, formatJSON)
	require.NoError(t, s.err)
	var got sendTally
	require.NoError(t, json.Unmarshal([]byte(s.out), &got))
	require.Equal(t, rows, got.Accepted)
	require.NotEmpty(t, got.Journal)
	require.Equal(t, "", got.RejectedFile)
}

// However large a file is, no more of it is held than the rows that are on their way.
func TestCourier_isBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read atomic.Int64
		answered := 0
		e := newEndpoint()
		client := control.NewInProcess(e)
		c := &courier{
			next: func() (row, error) {
				return row{line: int(read.Add(1)), json: []byte(`{"to":"1","text":"x"}`)}, nil
			},
			answered: func(row, control.BatchResult) error {
				if answered++; answered == 10*rowsAhead {
					return context.Canceled
				}
				require.LessOrEqual(t, int(read.Load())-answered, 2*rowsAhead)
				return nil
			},
			open: func(ctx context.Context, first int) (*control.Batch, error) {
				return client.BatchWith(ctx, control.BatchOptions{FirstLine: first, Key: "k"})
			},
			waiting: func(string) {}, patience: time.Minute,
		}
		require.ErrorIs(t, c.run(t.Context()), context.Canceled)
		require.LessOrEqual(t, len(c.pending), rowsAhead+2)
	})
}

func TestSendFile_changedWhileItIsSent(t *testing.T) {
	rows := strings.Repeat(ndjson("a"), 5000) // more than is read ahead of the first row
	path := writeFile(t, "m.ndjson", rows)
	e := newEndpoint()
	s := sendTo(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("dry_run") == "" {
			_ = os.WriteFile(path, []byte(strings.TrimSuffix(rows, ndjson("a"))+ndjson("b")), 0o600)
		}
		e.ServeHTTP(w, r)
	}), fileFlags{path: path}, formatText)
	require.EqualError(t, s.err, path+" was changed while it was sent")
	require.Contains(t, s.out, "5000 rows: 5000 accepted by us")
	j, err := openJournal(path)
	require.NoError(t, err)
	require.False(t, j.last.finished())

	s = sendTo(t.Context(), e, fileFlags{path: path, wish: runWish{again: true}}, formatText)
	require.NoError(t, s.err)
	require.Contains(t, s.note, "was interrupted and is given up")
}

func TestRunWish(t *testing.T) {
	file := func(sum string) run { return newRun("/m.csv", sum, "/esmed.sock") }
	last := func(finished bool, refused int) *run {
		r := file("one")
		r.Key, r.Refused = "last", refused
		if finished {
			r.FinishedAt = r.BegunAt
		}
		return &r
	}
	elsewhere := last(false, 0)
	elsewhere.Socket = "/other.sock"
	another := last(true, 0)
	another.Owner++
	tests := []struct {
		name   string
		last   *run
		sum    string
		wish   runWish
		taken  bool   // the last run goes on
		refuse string // "" = not refused
	}{
		{"never sent", nil, "one", runWish{}, false, ""},
		{"never sent, again: as a job says on its first day", nil, "one", runWish{again: true}, false, ""},
		{"never sent, resume", nil, "one", runWish{resume: true}, false, "was not sent before"},
		{"interrupted", last(false, 0), "one", runWish{}, true, ""},
		{"interrupted, resume", last(false, 0), "one", runWish{resume: true}, true, ""},
		{"interrupted, again: as a job says that is tried again", last(false, 0), "one", runWish{again: true}, true, ""},
		{"interrupted and changed", last(false, 0), "two", runWish{}, false, "was interrupted"},
		{"interrupted and changed, resume", last(false, 0), "two", runWish{resume: true}, true, ""},
		{"interrupted and changed, again", last(false, 0), "two", runWish{again: true}, false, ""},
		{"finished", last(true, 0), "one", runWish{}, false, "this file was sent on"},
		{"finished with refused rows", last(true, 3), "one", runWish{}, false, "3 rows refused"},
		{"finished, resume", last(true, 3), "one", runWish{resume: true}, true, ""},
		{"finished, again", last(true, 0), "one", runWish{again: true}, false, ""},
		{"finished and changed", last(true, 0), "two", runWish{}, false, "has changed since"},
		{"finished and changed, again: as a job says every day", last(true, 0), "two", runWish{again: true}, false, ""},
		{"finished and changed, resume", last(true, 0), "two", runWish{resume: true}, true, ""},
		{"to another daemon", elsewhere, "one", runWish{}, false, "went to the daemon on /other.sock"},
		{"to another daemon, resume", elsewhere, "one", runWish{resume: true}, false, "went to the daemon on /other.sock"},
		{"to another daemon, again", elsewhere, "one", runWish{again: true}, false, ""},
		{"by another user", another, "one", runWish{resume: true}, false, "whose rows are not known by yours"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			next := file(tt.sum)
			got, err := tt.wish.choose(tt.last, next)
			if tt.refuse != "" {
				require.ErrorContains(t, err, tt.refuse)
				require.NotEmpty(t, asFailure(err).hint)
				return
			}
			require.NoError(t, err)
			require.False(t, got.finished())
			require.Zero(t, got.Refused)
			require.Equal(t, tt.sum, got.SHA256)
			require.Equal(t, tt.taken, got.Key == "last")
		})
	}
}

func TestJournal(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	file := filepath.Join(t.TempDir(), "m.csv")
	t.Run("beside the file", func(t *testing.T) {
		j, err := openJournal(file)
		require.NoError(t, err)
		require.Nil(t, j.last)
		want := newRun(file, "sum", "/sock")
		require.NoError(t, j.keep(want))
		require.Equal(t, file+".run", j.path)
		j, err = openJournal(file)
		require.NoError(t, err)
		require.Equal(t, &want, j.last)
		want.FinishedAt = want.BegunAt.Add(time.Hour)
		require.NoError(t, j.keep(want))
		j, err = openJournal(file)
		require.NoError(t, err)
		require.Equal(t, &want, j.last)
		require.True(t, j.last.finished())
	})
	t.Run("where the file's directory cannot be written", func(t *testing.T) {
		gone := filepath.Join(t.TempDir(), "file", "m.csv")
		require.NoError(t, os.WriteFile(filepath.Dir(gone), nil, 0o600)) // no directory: not even root can write there
		j := &journal{dirs: []string{filepath.Dir(gone), filepath.Join(state, "esmed")}, name: map[string]string{filepath.Dir(gone): "m.csv.run", filepath.Join(state, "esmed"): "m.run"}}
		require.NoError(t, j.keep(newRun(gone, "sum", "/sock")))
		require.Equal(t, filepath.Join(state, "esmed", "m.run"), j.path)
		j.dirs, j.path = j.dirs[:1], ""
		require.ErrorContains(t, j.keep(newRun(gone, "sum", "/sock")), "can be remembered nowhere")
	})
	t.Run("damaged: nobody knows what was sent", func(t *testing.T) {
		require.NoError(t, os.WriteFile(file+".run", []byte("{"), 0o600))
		_, err := openJournal(file)
		require.ErrorContains(t, err, "cannot be read")
	})
	require.NotEqual(t, newRun(file, "", "").Key, newRun(file, "", "").Key)
}

func TestRejected(t *testing.T) {
	tests := []struct {
		name, file, content string
		want                string
	}{
		{
			"CSV that is none stays as it is", "m.csv", "\uFEFFto,text\r\n1,a\r\n\r\n2,\"b\nc\"\r\n3\r\n4,d,e\r\n5,f\"g\n",
			"error,line,to,text\n\"why, 2\",2,1,a\n\"why, 4\",4,2,\"b\nc\"\n\"why, 6\",6,3\n\"why, 7\",7,4,d,e\n\"why, 8\",8,5,f\"g\n",
		},
		{
			"rejected again: line is that of the first file", "m.csv", "error,line,to\nold,17,1\nold,18\n",
			"error,line,to\n\"why, 2\",17,1\nold,18\n",
		},
		{"with one of the columns", "m.csv", "to,error\n1,old\n", "line,to,error\n2,1,\"why, 2\"\n"},
		{
			"NDJSON", "m.ndjson", "{\"to\":\"1\",\"to\":\"\\ud800\"}\n{}\nhello\n{\"error\":\"old\",\"line\":17,\"to\":\"1\"}\n",
			`{"error":"why, 1","line":1,"to":"1","to":"\ud800"}` + "\n" + `{"error":"why, 2","line":2}` + "\n" +
				`{"error":"why, 3","line":3,"raw":"hello"}` + "\n" + `{"error":"why, 4","line":17,"to":"1"}` + "\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := openRowFile(writeFile(t, tt.file, tt.content), "", "")
			require.NoError(t, err)
			defer f.close()
			next, _, err := f.rows()
			require.NoError(t, err)
			for range 2 { // never over one that is there
				r, err := newRejected(f, "")
				require.NoError(t, err)
				path, err := r.keep()
				require.NoError(t, err)
				require.Empty(t, path, "there is nothing to keep")
				for row, err := next(); err == nil; row, err = next() {
					require.NoError(t, r.add(row, fmt.Sprintf("why, %d", row.line)))
				}
				path, err = r.keep()
				require.NoError(t, err)
				got, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, tt.want, string(got))
				next, _, err = f.rows()
				require.NoError(t, err)
			}
			left, err := os.ReadDir(filepath.Dir(f.path))
			require.NoError(t, err)
			names := map[string]bool{}
			for _, e := range left {
				names[e.Name()] = true
			}
			ext := filepath.Ext(tt.file)
			require.ElementsMatch(t, []string{tt.file, "m.rejected" + ext, "m.rejected-2" + ext}, slices.Collect(maps.Keys(names)))
		})
	}
}
