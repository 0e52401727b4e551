package control

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAppendResult_agreesWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := BatchResult{
			Line: rapid.Int().Draw(t, "line"), Existing: rapid.Bool().Draw(t, "existing"),
			ID:    rapid.SampledFrom([]string{"", "01JDXW5Q0C8Z4Y3K7M2N9P6R5T"}).Draw(t, "id"),
			State: rapid.SampledFrom([]string{"", "QUEUED"}).Draw(t, "state"),
		}
		if rapid.Bool().Draw(t, "refused") {
			r.Error = newProblem(422, rapid.String().Draw(t, "detail"), "")
		}
		got := appendResult([]byte("before\n"), &r)
		var again BatchResult
		require.NoError(t, json.Unmarshal(got[len("before\n"):], &again))
		want, err := json.Marshal(r)
		require.NoError(t, err)
		rendered, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(want), string(rendered))
		require.Equal(t, byte('\n'), got[len(got)-1])
	})
}
