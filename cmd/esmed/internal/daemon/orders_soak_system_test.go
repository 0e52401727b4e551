package daemon_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/smpp/smpptest"
)

// Messages are cancelled, and the queue is held, released and dropped, while it is sent from, throttled, and its link
// breaks: what failed by an order was never seen by the SMSC, all else was, once.
func TestOrders_underLoad(t *testing.T) {
	const lanes, each = 4, 60
	s := newSystem(t, smpptest.Config{
		Answers: smpptest.Answers{Delay: time.Millisecond, Jitter: 5 * time.Millisecond, Refuse: []smpptest.Refusal{
			{Status: smpp.StatusThrottled, Share: 0.02}, {Status: smpp.StatusMsgQFul, Share: 0.1},
		}},
		OnCancel: func(smpptest.Cancel) smpptest.Cancelled { return smpptest.Cancelled{Status: smpp.StatusCancelFail} },
	}, func(c *config.Config) {
		c.SMSCs[0].Window, c.SMSCs[0].Throughput, c.SMSCs[0].Sessions = 20, 300, 2
	})
	var mu sync.Mutex
	ids := map[string]string{} // by destination
	load := func(from int) {
		var g sync.WaitGroup
		for lane := range lanes {
			g.Go(func() {
				random := rand.New(rand.NewPCG(uint64(from), uint64(lane)))
				for n := from + lane*each; n < from+(lane+1)*each; n++ {
					m, _, err := s.api.Submit(s.ctx, control.Submission{To: number(n), From: "ACME", Text: "x"}, "")
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					ids[number(n)] = m.ID
					mu.Unlock()
					switch random.IntN(12) {
					case 0, 1:
						_, err = s.api.Cancel(s.ctx, m.ID, "")
					case 2:
						_, err = s.api.HoldQueue(s.ctx, "alpha", "")
					case 3, 4:
						_, err = s.api.ReleaseQueue(s.ctx, "alpha", "")
					case 5:
						if n%3 == 0 {
							_, err = s.api.DropQueue(s.ctx, "alpha", "", nil)
						}
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		g.Wait()
	}
	load(0)
	s.smsc.Drop(smpptest.DropAfter)
	s.restart()
	load(lanes * each)
	s.release("alpha")
	s.settled()
	seen, count := map[string]int{}, map[string]int{}
	for _, line := range s.smsc.Truth() {
		if line.Type == smpptest.LineSubmit && (line.Status == "" || line.Status == "ESME_ROK") {
			seen["+"+line.Dest]++
		}
	}
	for to, id := range ids {
		m := s.message(id)
		count[m.State]++
		switch m.State {
		case "DELIVERED":
			require.Equal(t, 1, seen[to])
		case "FAILED":
			require.Contains(t, m.Reason, "decided in record")
			require.Zero(t, seen[to])
		case "IN_DOUBT":
			require.LessOrEqual(t, seen[to], 1)
		default:
			require.Fail(t, m.State)
		}
	}
	t.Log(count)
}
