package daemon_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp/smpptest"
)

// overloadPosters post on each of both listeners: more than may wait for room, while a batch takes what room there is.
const overloadPosters = 150

// batchAhead is how many lines of it wait for their answer: more than a commit is let have.
const batchAhead = 700

// overload is what all clients submit together.
type overload struct {
	s        *system
	next     atomic.Int64 // number of the next submission
	refused  atomic.Int64 // submissions answered 429
	accepted atomic.Int64
	over     atomic.Bool

	mu    sync.Mutex
	sum   smpptest.Sum // of what was accepted
	first uint64       // receipts that were answered when the first submission was refused; 0 = none was
}

// enough is how many submissions are refused, and receipts answered meanwhile.
const enough = 32

func (o *overload) submission() (control.Submission, smpptest.Sum) {
	n := int(o.next.Add(1))
	text := fmt.Sprintf("no. %d", n)
	return control.Submission{To: number(n), From: "ACME", Text: text}, smpptest.Fingerprint(number(n)[1:], text)
}

func (o *overload) take(sum smpptest.Sum) {
	o.accepted.Add(1)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sum += sum
}

// refuse counts a refusal. It is over with one that comes when enough receipts were answered since the first.
func (o *overload) refuse(p *control.ProblemError) error {
	if p.Status != http.StatusTooManyRequests || p.RetryAfter <= 0 {
		return fmt.Errorf("refused with %d, to be tried again after %s: %w", p.Status, p.RetryAfter, p)
	}
	if n := o.refused.Add(1); n%8 != 0 {
		return nil
	}
	acked := o.s.smsc.Stats().Acked
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.first == 0 {
		o.first = max(1, acked)
	}
	if o.refused.Load() >= enough && acked >= o.first+enough {
		o.over.Store(true)
	}
	return nil
}

// post submits one after the other, as fast as they are answered.
func (o *overload) post(c *control.Client) error {
	for !o.over.Load() {
		m, sum := o.submission()
		_, _, err := c.Submit(o.s.ctx, m, "")
		var p *control.ProblemError
		switch {
		case err == nil:
			o.take(sum)
		case !errors.As(err, &p):
			return err
		default:
			if err := o.refuse(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// batch sends lines as fast as they are read. Lines wait rather than be refused.
func (o *overload) batch() error {
	b, err := o.s.api.Batch(o.s.ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	sums := make(chan smpptest.Sum, batchAhead) // of the lines that are not answered
	var g errgroup.Group
	g.Go(func() error {
		for !o.over.Load() {
			if len(sums) == cap(sums) {
				if err := b.Flush(); err != nil {
					return err
				}
			}
			m, sum := o.submission()
			sums <- sum
			if err := b.Send(m); err != nil {
				return err
			}
		}
		return b.CloseSend()
	})
	g.Go(func() error {
		for {
			r, err := b.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if r.Error != nil {
				return r.Error
			}
			o.take(<-sums)
		}
	})
	return g.Wait()
}

// bearer is a transport of many connections that brings a token.
type bearer struct {
	http.Transport
	token string
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.Transport.RoundTrip(r)
}

// clients are one of the socket and one of the TCP address, each for all posters there.
func (s *system) clients(token string) []*control.Client {
	listen := regexp.MustCompile(`"listen":"([^"]+)"`).FindStringSubmatch(s.log.String())
	require.NotNil(s.t, listen, "the daemon's log says where it listens")
	tcp := &bearer{Transport: http.Transport{MaxIdleConnsPerHost: overloadPosters}, token: token}
	unix := &http.Transport{
		MaxIdleConnsPerHost: overloadPosters,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", s.cfg.API.Socket)
		},
	}
	return []*control.Client{
		control.NewClient(unix, &url.URL{Scheme: "http", Host: "esmed"}),
		control.NewClient(tcp, &url.URL{Scheme: "http", Host: listen[1]}),
	}
}

// Far more is submitted than can be taken: the rest is answered 429 and says when to try again, receipts are answered
// meanwhile, what was accepted is sent and reported once, and what was refused is not sent.
func TestOverload_isPushedBack(t *testing.T) {
	const token = "secret"
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, fmt.Appendf(nil, "app send,read %x\n", sha256.Sum256([]byte(token))), 0o600))
	s := newSystem(t, smpptest.Config{}, func(c *config.Config) {
		c.API.Listen, c.API.TokensFile = "127.0.0.1:0", tokens
		c.Log.Level = "info"
		c.SMSCs[0].Window = 1000
	})
	o := &overload{s: s}
	var g errgroup.Group
	g.Go(o.batch)
	for _, c := range s.clients(token) {
		defer c.Close()
		for range overloadPosters {
			g.Go(func() error {
				err := o.post(c)
				o.over.Store(o.over.Load() || err != nil) // nobody waits for what cannot come any more
				return err
			})
		}
	}
	require.NoError(t, g.Wait())

	accepted := uint64(o.accepted.Load())
	s.awaitSMSC(func(st smpptest.Stats) bool { return st.Finals >= accepted && st.Pending == 0 })
	st := s.smsc.Stats()
	require.Equal(t, accepted, st.Accepted)
	require.Equal(t, o.sum, st.TextSum, "each that was accepted came once, and none that was refused")
	require.Equal(t, accepted, st.Finals)
	require.Zero(t, st.RefusedDeliveries)
	report := s.total()
	require.EqualValues(t, accepted, report.Accepted)
	require.EqualValues(t, accepted, report.Delivered)
	require.Zero(t, report.Open)
	t.Logf("%d accepted, %d refused", accepted, o.refused.Load())
}
