package smpp

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestLog_tellsHeadersAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.DebugLevel)
		r := newRig(t, func(c *Config) { c.Log = zap.New(core) })
		p := r.bound()
		got := newOutcomes()
		r.submit(1, got.done)
		p.next(CommandSubmitSM)
		p.send(deliverSM(1, "hello"))
		p.next(CommandDeliverSMResp)
		p.write(append(AppendHeader(nil, Header{21, CommandDeliverSM, 0, 2}), "hello"...)) // no field ends
		p.next(CommandDeliverSMResp)
		p.write(submitResp(99, "a1"))
		r.stopBound(p)

		require.Len(t, logs.FilterMessage("pdu sent").FilterField(zap.Stringer("command_id", CommandSubmitSM)).All(), 1)
		require.NotEmpty(t, logs.FilterMessage("pdu received").All())
		require.Len(t, logs.FilterMessage("response to nothing outstanding").All(), 1)
		require.EqualValues(t, 1, logs.FilterMessage("stopping").All()[0].ContextMap()["outstanding"], "slots that are only kept ready are not")
		for _, entry := range logs.All() {
			require.Equal(t, "alpha/1", entry.ContextMap()["session"])
			line := fmt.Sprint(entry.Message, entry.ContextMap())
			for _, private := range []string{"secret", "hello", "393331234567"} {
				require.NotContains(t, line, private)
			}
		}
	})
}
