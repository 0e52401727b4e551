package lives_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// fake stands for esmed: its API as it is documented, and one bind to the simulator.
type fake struct {
	t      *testing.T
	socket string
	refuse func(n int) int // a status in place of accepting submission n; 0 accepts
	copies func(n int) int // how often submission n is sent; nil: once

	mu       sync.Mutex
	nc       net.Conn
	taken    int // submissions seen
	accepted int
	final    int
	sequence uint32
}

// newFake binds to the simulator and serves the API until the test ends.
func newFake(t *testing.T, smsc *smpptest.Server) *fake {
	dir, err := os.MkdirTemp("", "lives") // t.TempDir's names are too long for a socket's path
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	f := &fake{t: t, socket: filepath.Join(dir, "sock"), sequence: 1}
	f.nc, err = net.Dial("tcp", smsc.Addr())
	require.NoError(t, err)
	f.write(&smpp.Bind{Header: smpp.Header{CommandID: smpp.CommandBindTransceiver, SequenceNumber: 1}, SystemID: "fake", InterfaceVersion: 0x34})
	ln, err := net.Listen("unix", f.socket)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages/batch", f.batch)
	mux.HandleFunc("POST /v1/messages", f.post)
	mux.HandleFunc("GET /v1/messages/{id}", f.message)
	mux.HandleFunc("GET /v1/report", f.report)
	mux.HandleFunc("GET /metrics", f.metrics)
	server := &http.Server{Handler: mux}
	var g errgroup.Group
	g.Go(func() error { _ = server.Serve(ln); return nil })
	g.Go(f.receive)
	t.Cleanup(func() {
		server.Close()
		f.nc.Close()
		require.NoError(t, g.Wait())
	})
	return f
}

func (f *fake) write(pdu smpp.PDU) {
	b, err := smpp.Append(nil, pdu)
	if err == nil {
		_, _ = f.nc.Write(b) // a test that is over has closed it
	}
}

// receive answers receipts until the connection ends.
func (f *fake) receive() error {
	for r := smpp.NewFrameReader(f.nc, 1<<16); ; {
		frame, err := r.Next()
		if err != nil {
			return nil
		}
		if frame.CommandID == smpp.CommandDeliverSM {
			f.mu.Lock()
			f.final++
			_, _ = f.nc.Write(smpp.AppendResponse(nil, smpp.CommandDeliverSM, smpp.StatusOK, frame.SequenceNumber))
			f.mu.Unlock()
		}
	}
}

// take accepts a submission and sends it, or says by which status it is refused.
func (f *fake) take(line []byte) (id string, status int) {
	var s struct{ To, Text, Ref string }
	if json.Unmarshal(line, &s) != nil || s.Ref == "" {
		return "", http.StatusUnprocessableEntity
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.taken
	f.taken++
	if f.refuse != nil {
		if status := f.refuse(n); status != 0 {
			return "", status
		}
	}
	f.accepted++
	copies := 1
	if f.copies != nil {
		copies = f.copies(n)
	}
	for range copies {
		f.sequence++
		f.write(&smpp.SubmitSM{Header: smpp.Header{SequenceNumber: f.sequence}, Source: smpp.Address{TON: 5, Addr: "ACME"},
			Dest: smpp.Address{TON: 1, NPI: 1, Addr: s.To[1:]}, RegisteredDelivery: 1, ShortMessage: []byte(s.Text)})
	}
	return fmt.Sprintf("01FAKE%020d", n), 0
}

func (f *fake) batch(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).EnableFullDuplex()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	lines := bufio.NewScanner(r.Body)
	for n := 1; lines.Scan(); n++ {
		if id, status := f.take(lines.Bytes()); status == 0 {
			fmt.Fprintf(w, `{"line":%d,"id":%q,"state":"QUEUED","existing":false}`+"\n", n, id)
		} else {
			fmt.Fprintf(w, `{"line":%d,"existing":false,"error":{"title":"refused","status":%d,"detail":"no"}}`+"\n", n, status)
		}
		w.(http.Flusher).Flush()
	}
}

func (f *fake) post(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, r.ContentLength)
	_, _ = bufio.NewReader(r.Body).Read(body)
	id, status := f.take(body)
	if status != 0 {
		w.Header().Set("Retry-After", "0")
		w.Header().Set("Content-Length", "2")
		w.WriteHeader(status)
		fmt.Fprint(w, "{}")
		return
	}
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"id":%q,"state":"QUEUED"}`, id)
}

func (f *fake) message(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, `{"id":%q,"final":true,"finalised_at":%q}`, r.PathValue("id"), time.Now().Format(time.RFC3339Nano))
}

func (f *fake) report(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now().UTC().Truncate(time.Hour)
	fmt.Fprintf(w, `{"items":[{"hour":%q,"smsc":"old","accepted":7,"final":7},{"hour":%q,"smsc":"alpha","accepted":%d,"final":%d}],"next":""}`,
		now.Add(-time.Hour).Format(time.RFC3339), now.Format(time.RFC3339), f.accepted, f.final)
}

func (f *fake) metrics(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(w, "# HELP esmed_commit_records Records.\nesmed_commit_records_sum %d\nesmed_commit_records_count %d\n"+
		"esmed_queue_size{smsc=\"alpha\"} 3\nesmed_apply_lag_records 5\n", 4*f.accepted, f.accepted)
}
