package control_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
)

func TestClient_withoutADaemon(t *testing.T) {
	c := control.Dial(filepath.Join(socketDir(t), "esmed.sock"))
	defer c.Close()
	_, _, err := c.Submit(t.Context(), code, "")
	require.ErrorIs(t, err, control.ErrNoDaemon)
	_, err = c.Batch(t.Context())
	require.ErrorIs(t, err, control.ErrNoDaemon)
	_, err = c.Verify(t.Context(), nil)
	require.ErrorIs(t, err, control.ErrNoDaemon)
	n := 0
	for _, err := range c.Events(t.Context(), control.EventsQuery{Follow: true}) {
		require.ErrorIs(t, err, control.ErrNoDaemon)
		n++
	}
	require.Equal(t, 1, n, "who follows is told at once when there is nothing to follow")
}

func TestClient_answersThatAreNoneOfOurs(t *testing.T) {
	proxy := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		http.Error(w, "<html>Bad Gateway</html>", http.StatusBadGateway)
	})
	c := control.NewInProcess(proxy)
	_, err := c.Message(t.Context(), firstID)
	var p *control.ProblemError
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusBadGateway, p.Status)
	require.Equal(t, "Bad Gateway", p.Title)
	require.Equal(t, 3*time.Second, p.RetryAfter)

	garbage := control.NewInProcess(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	_, err = garbage.Message(t.Context(), firstID)
	require.Error(t, err)
	require.False(t, errors.As(err, &p) && p.Status == http.StatusOK)
	for _, err := range garbage.Events(t.Context(), control.EventsQuery{}) {
		require.Error(t, err)
	}
	_, err = garbage.Verify(t.Context(), nil)
	require.Error(t, err)
}

func TestProblem_listsAllThatIsWrong(t *testing.T) {
	c := newClient(t, newAPI(t, newFake(t).config()))
	_, _, err := c.Submit(t.Context(), control.Submission{To: "12"}, "")
	require.EqualError(t, err, "the submission is not valid; to: is no possible number in IT: write +…, or give dest as an object to send it as it is; text: must be given, or data_hex")
}
