package daemon

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

func TestAPIError_namesWhatTheAPIHasAStatusFor(t *testing.T) {
	other := fmt.Errorf("other")
	for _, tt := range []struct {
		name      string
		err, want error
	}{
		{"a query while the disk is full finds no service", fmt.Errorf("%w: 7 records behind: %w", store.ErrObstructed, store.ErrDiskFull), control.ErrUnavailable},
		{"a submission while the disk is full finds no room", store.ErrDiskFull, control.ErrDiskFull},
		{"too many open files are not a matter of room", store.ErrNoFiles, control.ErrUnavailable},
		{"no room for now", store.ErrNoRoom, control.ErrNoRoom},
		{"a closed store", store.ErrClosed, control.ErrUnavailable},
		{"nothing there", store.ErrNotFound, control.ErrNotFound},
		{"anything else stays what it is", other, other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := apiError(tt.err)
			require.ErrorIs(t, got, tt.want)
			require.ErrorIs(t, got, tt.err)
			if tt.want == control.ErrUnavailable {
				require.NotErrorIs(t, got, control.ErrDiskFull)
			}
		})
	}
	require.NoError(t, apiError(nil))
}
