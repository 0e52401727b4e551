package lives

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"esmed/smpp/smpptest"
)

// smscStatus is the status file of "smscsim serve".
type smscStatus struct {
	PID int `json:"pid"`
	smpptest.Stats
}

func readStatus(name string) (smscStatus, error) {
	var st smscStatus
	b, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(b, &st)
	}
	if err != nil {
		return st, fmt.Errorf("the simulator's status: %w", err)
	}
	return st, nil
}

// look is all that can be seen at a time.
type look struct {
	hour     time.Time // from which on the report counts
	report   Tally
	metrics  exposition
	smsc     smscStatus
	daemon   usage
	smscUses usage
	own      time.Duration
	stored   int64
}

// look looks everywhere. The report comes first: it has the daemon bring its projection up to date.
func (l *loader) look(ctx context.Context, since time.Time) (look, error) {
	v := look{hour: since.UTC().Truncate(time.Hour), own: ownCPU()}
	var err error
	if v.report, err = l.api.report(ctx, v.hour); err != nil {
		return v, err
	}
	if v.metrics, err = l.scrape(ctx); err != nil {
		return v, err
	}
	if v.smsc, err = readStatus(l.Status); err != nil {
		return v, err
	}
	if v.daemon, err = usageOf(l.PID); err != nil {
		return v, err
	}
	if v.smscUses, err = usageOf(v.smsc.PID); err != nil {
		return v, err
	}
	v.stored, err = allocated(l.DataDir)
	return v, err
}

func (l *loader) scrape(ctx context.Context) (e exposition, err error) {
	err = l.api.get(ctx, "/metrics", func(r io.Reader) error {
		e, err = readExposition(r)
		return err
	})
	return e, err
}
