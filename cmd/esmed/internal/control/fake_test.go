package control_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/receipt"
	"esmed/statemachine"
)

// began is when the fake's clock stands.
var began = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fake is a backend over a fold in memory. Posts are committed by committer, as a store's writer does.
type fake struct {
	mu      sync.Mutex
	mem     *statemachine.Memory
	at      time.Time
	seq     uint64
	entries []control.LogEntry
	refs    map[string]*statemachine.MessageAccepted // by owner and ref or key
	changed chan struct{}
	posts   chan func() // nil = commit in the caller
	fail    error       // of Accept and orders
	stopped *control.BindStop
}

func newFake(t testing.TB) *fake {
	f := &fake{
		mem: statemachine.NewMemory(statemachine.Fold{Decode: decode}), at: began,
		refs: map[string]*statemachine.MessageAccepted{}, changed: make(chan struct{}),
	}
	rules := receipt.DefaultRules()
	f.append(t, &statemachine.Rules{Parser: receipt.ParserVersion, SMSCs: []statemachine.SMSCRules{{
		SMSC: "alpha", Account: "alpha", Receipt: rules, DeliveryWindow: 72 * time.Hour,
	}}})
	return f
}

// commit starts a committer that ends with the test.
func (f *fake) commit(t testing.TB) {
	f.posts = make(chan func(), 256)
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case post := <-f.posts:
				post()
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
}

// decode reads the fake's PDUs: a header, then a receipt's text; "!" is garbage.
func decode(pdu []byte) receipt.Delivery {
	body := pdu[16:]
	return receipt.Delivery{
		CommandID: 5, ESMClass: pdu[15] & 0x3C, Source: receipt.Address{Addr: "393331234567", TON: 1, NPI: 1},
		ShortMessage: body, Raw: body, Broken: bytes.HasPrefix(body, []byte("!")),
	}
}

// pdu makes one. Its sequence number is also its esm_class.
func pdu(class byte, text string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(text)))
	b = binary.BigEndian.AppendUint32(b, 5)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(class))
	return append(b, text...)
}

func (f *fake) append(t testing.TB, fact statemachine.Fact) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	seq, err := f.record(fact)
	require.NoError(t, err)
	return seq
}

func (f *fake) record(fact statemachine.Fact) (uint64, error) {
	f.seq++
	f.at = f.at.Add(time.Second)
	rec := statemachine.Record{Seq: f.seq, At: f.at, Fact: fact}
	var eff statemachine.Effects
	if err := f.mem.Apply(rec, &eff); err != nil {
		return 0, err
	}
	f.entries = append(f.entries, control.LogEntry{Record: rec, Decisions: eff.Decisions})
	close(f.changed)
	f.changed = make(chan struct{})
	return f.seq, nil
}

// send submits the first part of a message on alpha/1 and has the SMSC accept it.
func (f *fake) send(t testing.TB, id, messageID string) {
	m := statemachine.ID(id)
	f.append(t, &statemachine.Sent{Message: m, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", SequenceNumber: 812, PDU: pdu(0, "x")})
	f.append(t, &statemachine.SubmitResp{Message: m, Part: 1, Attempt: 1, SMSC: "alpha", Session: "alpha/1", SequenceNumber: 812, MessageID: messageID, PDU: pdu(0, messageID)})
}

func (f *fake) receive(t testing.TB, text string) uint64 {
	p := pdu(4, text)
	return f.append(t, &statemachine.Reception{SMSC: "alpha", Account: "alpha", Session: "alpha/1", PDU: p, Length: uint32(len(p))})
}

func delivered(id string) string {
	return fmt.Sprintf("id:%s sub:001 dlvrd:001 submit date:2611301200 done date:2611301204 stat:DELIVRD err:000 text:", id)
}

func (f *fake) Accept(_ context.Context, m *statemachine.MessageAccepted) (control.Accepted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return control.Accepted{}, f.fail
	}
	for _, name := range []string{m.Ref, m.IdempotencyKey} {
		first, ok := f.refs[m.Owner+"\n"+name]
		if name == "" || !ok {
			continue
		}
		if !bytes.Equal(first.RequestHash, m.RequestHash) {
			return control.Accepted{}, fmt.Errorf("fake: %w", control.ErrRefConflict)
		}
		w := f.mem.Messages[first.Message]
		return control.Accepted{Message: w.ID, Seq: w.AcceptedSeq, At: w.AcceptedAt, Existing: true}, nil
	}
	for _, name := range []string{m.Ref, m.IdempotencyKey} {
		f.refs[m.Owner+"\n"+name] = m
	}
	seq, err := f.record(m)
	return control.Accepted{Message: m.Message, Seq: seq, At: f.at}, err
}

func (f *fake) AcceptNow(ctx context.Context, m *statemachine.MessageAccepted) (control.Accepted, error) {
	return f.Accept(ctx, m)
}

func (f *fake) AcceptPost(ctx context.Context, m *statemachine.MessageAccepted, done func(control.Accepted, error)) error {
	post := func() { done(f.Accept(context.WithoutCancel(ctx), m)) }
	if f.posts == nil {
		post()
		return nil
	}
	select {
	case f.posts <- post:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fake) Message(_ context.Context, id statemachine.ID) (*statemachine.Message, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.mem.Messages[id]; m != nil {
		return m, nil
	}
	return nil, control.ErrNotFound
}

func (f *fake) find(fit func(*statemachine.Message) bool) []*statemachine.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []*statemachine.Message
	for _, m := range f.mem.Messages {
		if fit(m) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(m, n *statemachine.Message) int { return cmp.Compare(n.AcceptedSeq, m.AcceptedSeq) })
	return found
}

func (f *fake) Messages(_ context.Context, q control.MessageFilter) ([]*statemachine.Message, statemachine.ID, error) {
	found := f.find(func(m *statemachine.Message) bool {
		return (len(q.States) == 0 || slices.Contains(q.States, m.State)) && (q.SMSC == "" || m.SMSC == q.SMSC) &&
			(q.To == "" || m.To == q.To) && !m.AcceptedAt.Before(q.Since) && (q.Until.IsZero() || m.AcceptedAt.Before(q.Until))
	})
	if i := slices.IndexFunc(found, func(m *statemachine.Message) bool { return m.ID == q.After }); i >= 0 {
		found = found[i+1:]
	}
	if len(found) > q.Limit {
		return found[:q.Limit], found[q.Limit-1].ID, nil
	}
	return found, "", nil
}

func (f *fake) MessagesByRef(_ context.Context, ref string) ([]*statemachine.Message, error) {
	return f.find(func(m *statemachine.Message) bool { return m.Ref == ref }), nil
}

func (f *fake) MessagesByMessageID(_ context.Context, smsc, id string) ([]*statemachine.Message, error) {
	return f.find(func(m *statemachine.Message) bool {
		a := m.Parts[0].Accepted()
		return a != nil && a.MessageID == id && (smsc == "" || m.SMSC == smsc)
	}), nil
}

func (f *fake) History(_ context.Context, id statemachine.ID) ([]control.LogEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var history []control.LogEntry
	for _, e := range f.entries {
		if slices.ContainsFunc(e.Decisions, func(d statemachine.Decision) bool { return d.Message == id }) {
			history = append(history, e)
		}
	}
	if history == nil {
		return nil, control.ErrNotFound
	}
	return history, nil
}

func (f *fake) Events(_ context.Context, after uint64, limit int) ([]control.LogEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := f.entries[min(int(after), len(f.entries)):]
	return slices.Clone(rest[:min(limit, len(rest))]), nil
}

func (f *fake) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

func (f *fake) Inbox(_ context.Context, smsc string, after statemachine.InboxKey, limit int) ([]control.InboxEntry, statemachine.InboxKey, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var page []control.InboxEntry
	for _, key := range slices.Sorted(maps.Keys(f.mem.Inbox)) {
		row := f.mem.Inbox[key]
		if key <= after || smsc != "" && row.SMSC != smsc {
			continue
		}
		if len(page) == limit {
			return page, page[limit-1].Row.Key, nil
		}
		page = append(page, control.InboxEntry{Row: row, Attempts: 1, NextTryAt: began.Add(time.Hour)})
	}
	return page, "", nil
}

func (f *fake) InboxRow(_ context.Context, seq uint64) (control.InboxEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, row := range f.mem.Inbox {
		if row.Receptions[0] == seq {
			return control.InboxEntry{Row: row, Attempts: 1, NextTryAt: began.Add(time.Hour)}, nil
		}
	}
	return control.InboxEntry{}, control.ErrNotFound
}

// Operate records decisions as a store does: those that would have no effect are not.
func (f *fake) Operate(_ context.Context, facts ...*statemachine.Operator) ([]control.Judged, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	judged := make([]control.Judged, len(facts))
	for i, fact := range facts {
		var tried statemachine.Effects
		err := f.mem.Fold.Step(f.mem, statemachine.Record{Seq: f.seq + 1, At: f.at, Fact: fact}, &tried)
		if err != nil {
			return nil, err
		}
		if judged[i].NoEffect = tried.NoEffect; tried.NoEffect != "" {
			continue
		}
		if judged[i].Record, err = f.record(fact); err != nil {
			return nil, err
		}
		judged[i].Decisions = f.entries[len(f.entries)-1].Decisions
	}
	return judged, nil
}

func (f *fake) Retry(_ context.Context, rows ...statemachine.InboxKey) (matched int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range rows {
		if _, err := f.record(&statemachine.Retry{Row: key}); err != nil {
			return matched, err
		}
		decisions := f.entries[len(f.entries)-1].Decisions
		if slices.ContainsFunc(decisions, func(d statemachine.Decision) bool { return d.Correlation == statemachine.Matched }) {
			matched++
		}
	}
	return matched, f.fail
}

func (f *fake) Reprocess(_ context.Context, by string, see func(control.ReprocessPage) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return f.fail
	}
	page := &statemachine.Reprocess{Progress: statemachine.ReprocessProgress{Rules: 1, Rows: true, Finished: true}}
	page.Rows = slices.Sorted(maps.Keys(f.mem.Inbox))
	page.Messages = slices.Sorted(maps.Keys(f.mem.Messages))
	seq, err := f.record(&statemachine.Operator{Action: statemachine.ActionReprocess, By: by, Reprocess: page})
	if err != nil {
		return err
	}
	decisions := f.entries[len(f.entries)-1].Decisions
	return see(control.ReprocessPage{Record: seq, Rows: len(page.Rows), Messages: len(page.Messages), Decisions: decisions})
}

func (f *fake) Exceptions(_ context.Context, q control.ExceptionFilter) ([]*statemachine.Exception, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var page []*statemachine.Exception
	for _, id := range slices.Sorted(maps.Keys(f.mem.Exceptions)) {
		x := f.mem.Exceptions[id]
		if id <= q.After || q.Kind != "" && x.Kind != q.Kind || q.Status != "" && x.Status != q.Status || q.SMSC != "" && x.SMSC != q.SMSC || x.FirstAt.Before(q.Since) {
			continue
		}
		if len(page) == q.Limit {
			return page, page[q.Limit-1].ID, nil
		}
		page = append(page, x)
	}
	return page, "", nil
}

func (f *fake) Exception(_ context.Context, id string) (*statemachine.Exception, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x := f.mem.Exceptions[id]; x != nil {
		return x, nil
	}
	return nil, control.ErrNotFound
}

func (f *fake) Report(_ context.Context, since, until time.Time) ([]control.HourTally, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var rows []control.HourTally
	for key, tally := range f.mem.Tallies {
		if !key.Hour.Before(since) && key.Hour.Before(until) {
			rows = append(rows, control.HourTally{Hour: key.Hour, SMSC: key.SMSC, Tally: tally})
		}
	}
	return rows, nil
}

func (f *fake) InboxSizes(context.Context) (map[string]int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sizes := map[string]int64{}
	for _, row := range f.mem.Inbox {
		sizes[row.SMSC]++
	}
	return sizes, nil
}

// Evidence proves nothing: it shows a message's records.
func (f *fake) Evidence(ctx context.Context, id statemachine.ID, head uint64) (control.Proof, error) {
	if head > f.seq {
		return control.Proof{}, control.ErrNoHead
	}
	m, err := f.Message(ctx, id)
	if err != nil {
		return control.Proof{}, err
	}
	entries, err := f.History(ctx, id)
	p := control.Proof{State: m.State, Head: control.ChainHead{Seq: f.seq, Hash: make([]byte, 32)}, Entries: entries}
	for _, e := range entries {
		p.Records = append(p.Records, control.EvidenceRecord{Seq: e.Record.Seq, Octets: []byte{0xAB}, Texts: []control.Octets{{0xCD}}})
	}
	p.Links = []control.EvidenceLink{{Number: 1, Seq: f.seq, Previous: make([]byte, 32), RecordsHash: make([]byte, 32)}}
	return p, err
}

func (f *fake) Verify(_ context.Context, progress func(control.VerifyProgress)) (control.VerifyResult, error) {
	progress(control.VerifyProgress{Step: "chain", Done: 1, Total: 2})
	progress(control.VerifyProgress{Step: "fold", Done: 2, Total: 2})
	return control.VerifyResult{OK: true, Records: f.seq}, f.fail
}

// Binds are a session with alpha, which may be stopped, and what is left of beta.
func (f *fake) Binds(context.Context) []control.Bind {
	f.mu.Lock()
	defer f.mu.Unlock()
	alpha := control.Bind{SMSC: "alpha", Session: "alpha/1", Bind: "transceiver", State: "BoundTRX", Window: 10, Configured: true}
	if alpha.Stopped = f.stopped; f.stopped != nil {
		alpha.State = "Closed"
	}
	return []control.Bind{alpha, {SMSC: "beta", State: "Closed"}}
}

// OrderBind stops and starts alpha.
func (f *fake) OrderBind(_ context.Context, o control.BindOrder) (done bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil || o.SMSC != "alpha" {
		return false, cmp.Or(f.fail, control.ErrNotFound)
	}
	stop := o.Action == control.StopBinds
	if stop == (f.stopped != nil) && o.Action != control.RestartBinds {
		return false, nil
	}
	if f.stopped = nil; stop {
		f.stopped = &control.BindStop{By: o.By, At: f.at, Reason: o.Reason}
	}
	return true, nil
}

// backend is all of the fake.
func (f *fake) backend() control.Backend {
	return control.Backend{
		Submit: f, Messages: f, Log: f, Inbox: f, Exceptions: f, Evidence: f, Report: f, Verify: f, Operate: f,
		Binds: f,
	}
}

// config is that of an API over the fake.
func (f *fake) config() control.Config {
	return control.Config{
		Backend: f.backend(), SMSCs: []control.SMSC{alpha()}, InboxOlderThan: 5 * time.Minute,
		Reception: func(_ uint64, r *statemachine.Reception) *receipt.Receipt {
			rules := receipt.DefaultRules()
			read := receipt.Decode(decode(r.PDU), &rules)
			return &read
		},
		StatusName: func(status uint32) string {
			switch status {
			case 0:
				return "ESME_ROK"
			case 0x58:
				return "ESME_RTHROTTLED"
			case 0x0B:
				return "ESME_RINVDSTADR"
			}
			return fmt.Sprintf("0x%08X", status)
		},
		Version: "test", Now: func() time.Time { return began.Add(10 * time.Minute) },
	}
}

// alpha is an SMSC in Italy.
func alpha() control.SMSC {
	return control.SMSC{
		Name: "alpha", Account: "alpha", InterfaceVersion: 0x34, DestTON: 1, DestNPI: 1, Country: "IT",
		RegisteredDelivery: 1, DefaultAlphabet: "gsm7", DeliveryWindow: 72 * time.Hour,
	}
}

func newAPI(t testing.TB, cfg control.Config) *control.API {
	if cfg.Fault == nil {
		cfg.Fault = func(operation string, err error) { t.Errorf("fault: %s: %v", operation, err) }
	}
	api, err := control.New(cfg)
	require.NoError(t, err)
	return api
}
