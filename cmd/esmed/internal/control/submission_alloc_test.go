//go:build !race

package control

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// With the race detector a sync.Pool forgets at random what it was given.
func TestReader_allocatesWhatIsKept(t *testing.T) {
	rd := testReader()
	body := []byte(`{"to":"+393331234567","from":"ACME","text":"Your code is 4711","smsc":"alpha","ref":"order-42"}`)
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() { _, _ = rd.read(body, Caller{Owner: "uid:0"}, "") }), 7.0,
		"the message, its id, number, sender, ref and octets, and the text that these are made of")
}
