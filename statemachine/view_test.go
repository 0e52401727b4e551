package statemachine_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"esmed/receipt"
	"esmed/statemachine"
)

var errRead = errors.New("the disk is gone")

// failing is a View whose nth reading fails, and whose messages a step may change in place.
type failing struct {
	lending
	left int
}

func (f *failing) fail() error {
	if f.left--; f.left < 0 {
		return errRead
	}
	return nil
}

func (f *failing) Message(id statemachine.ID) (*statemachine.Message, bool, error) {
	if err := f.fail(); err != nil {
		return nil, false, err
	}
	return f.lending.Message(id)
}

func (f *failing) Attempts(account string, key receipt.Key) ([]statemachine.AttemptRef, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Memory.Attempts(account, key)
}

func (f *failing) Held(account string, key receipt.Key) ([]*statemachine.InboxRow, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Memory.Held(account, key)
}

func (f *failing) InboxRow(key statemachine.InboxKey) (*statemachine.InboxRow, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Memory.InboxRow(key)
}

func (f *failing) Unanswered(account, dest string) ([]statemachine.AttemptRef, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Memory.Unanswered(account, dest)
}

func (f *failing) HeldFor(account, dest string) ([]*statemachine.InboxRow, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Memory.HeldFor(account, dest)
}

func (f *failing) OpenException(kind statemachine.ExceptionKind, group string) (*statemachine.Exception, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Memory.OpenException(kind, group)
}

func (f *failing) Inbound(account string, event receipt.Fingerprint) (uint64, time.Time, error) {
	if err := f.fail(); err != nil {
		return 0, time.Time{}, err
	}
	return f.Memory.Inbound(account, event)
}

func (f *failing) Record(seq uint64) (statemachine.Record, error) {
	if err := f.fail(); err != nil {
		return statemachine.Record{}, err
	}
	return f.Memory.Record(seq)
}

func (f *failing) Exception(id string) (*statemachine.Exception, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Memory.Exception(id)
}

func (f *failing) Decision(pos statemachine.DecisionPos) (*statemachine.Decision, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Memory.Decision(pos)
}

// TestStep_viewFails: whichever reading fails, the step gives its error and no effects, and can be tried
// again.
func TestStep_viewFails(t *testing.T) {
	files, err := filepath.Glob("../testdata/scenarios/*.txtar")
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		l := play(t, string(txtar.Parse(data).Files[0].Data))
		mem := statemachine.NewMemory(l.mem.Fold)
		var eff statemachine.Effects
		for i, rec := range l.records {
			for n := 0; ; n++ {
				err := mem.ApplySeenAs(&failing{lending{mem}, n}, rec, &eff)
				if err == nil {
					require.Equal(t, l.effects[i], kept(&eff))
					break
				}
				require.ErrorIs(t, err, errRead)
				require.Zero(t, kept(&eff))
			}
		}
	}
}
