package control

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// batchTo opens a batch on a connection whose other end does as peer says, once it has read what
// begins the request. foreign is a transport that Dial did not make. In a bubble a client that hangs is
// found out at once.
func batchTo(ctx context.Context, t *testing.T, foreign bool, peer func(net.Conn)) (*Batch, error) {
	client, server := net.Pipe()
	var g errgroup.Group
	g.Go(func() error {
		req, err := http.ReadRequest(bufio.NewReader(server))
		if err != nil {
			return err
		}
		_, err = req.Body.Read(make([]byte, 1)) // from here on the transport waits for more of the body
		synctest.Wait()
		peer(server)
		return err
	})
	rt := dialed(func(context.Context) (net.Conn, error) { return client, nil })
	if foreign {
		rt = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
	}
	t.Cleanup(func() {
		rt.CloseIdleConnections()
		_ = server.Close()
		require.NoError(t, g.Wait())
	})
	return NewClient(rt, &url.URL{Scheme: "http", Host: "esmed"}).Batch(ctx)
}

func TestBatch_theDaemonDiesBeforeItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := batchTo(t.Context(), t, false, func(c net.Conn) { _ = c.Close() })
		require.ErrorIs(t, err, ErrLost)
	})
}

func TestBatch_theDaemonDiesWhileNobodySends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := make(chan struct{})
		b, err := batchTo(t.Context(), t, false, func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
			<-opened
			_ = c.Close()
		})
		require.NoError(t, err)
		close(opened)
		_, err = b.Recv()
		require.ErrorIs(t, err, ErrLost)
		synctest.Wait()
		require.NoError(t, b.SendLine([]byte("{}")))
		require.ErrorIs(t, b.Flush(), ErrBatchClosed)
		require.NoError(t, b.Close())
	})
}

func TestBatch_theCallerGivesUpBeforeItIsAnswered(t *testing.T) {
	for name, foreign := range map[string]bool{"over Dial's transport": false, "over another's": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				_, err := batchTo(ctx, t, foreign, func(net.Conn) { cancel() })
				require.ErrorIs(t, err, context.Canceled)
			})
		})
	}
}
