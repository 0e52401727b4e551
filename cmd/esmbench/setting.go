package main

import (
	"errors"
	"fmt"
	"time"
)

// setting is what one case is run with.
type setting struct {
	Name     string        `json:"case"`     // of the matrix; "run" for one by itself
	Stored   int           `json:"stored"`   // messages before
	IDs      string        `json:"ids"`      // form of the SMSC's ids
	Window   int           `json:"window"`   // of each session
	Sessions int           `json:"sessions"` //
	Rate     int           `json:"rate"`     // submissions a second; 0: as many as are taken
	Clients  int           `json:"clients"`  // that send single requests; 0: one batch
	Probes   int           `json:"probes"`   // lives a second that are asked for until they are final
	Ahead    int           `json:"ahead"`    // lives under way at which the loader holds back; 0: it does not
	Lives    int           `json:"wanted"`   // how many; 0: as Duration allows
	Duration time.Duration `json:"-"`

	Idle  time.Duration `json:"-"` // over which the idle daemon is watched; 0: it is not
	Reads bool          `json:"-"` // whether queries and starts are timed

	Profile string `json:"-"` // file for what the daemon spends its time on; "": none
}

func (s *setting) check() error {
	var errs []error
	if s.IDs != idsUUID && s.IDs != idsHex {
		errs = append(errs, fmt.Errorf("--ids: %s or %s, not %q", idsUUID, idsHex, s.IDs))
	}
	if s.Stored < 0 || s.Window < 1 || s.Sessions < 1 {
		errs = append(errs, errors.New("--stored must not be below 0, --window and --sessions must be 1 or more"))
	}
	if s.Lives <= 0 && s.Duration <= 0 {
		errs = append(errs, errors.New("--lives or --duration is needed"))
	}
	if s.Profile != "" && s.Duration < profileLeast {
		errs = append(errs, fmt.Errorf("--profile needs a --duration of %v or more", profileLeast))
	}
	return errors.Join(errs...)
}

// simulatorArgs have it write ids that none of those stored has.
func (s *setting) simulatorArgs() []string {
	if s.IDs == idsUUID {
		return []string{"--id", "uuid"}
	}
	return []string{"--id", "hex-upper", "--first-id", fmt.Sprint(s.Stored + 1)}
}

func (s *setting) loadArgs() []string {
	args := []string{"--lives", fmt.Sprint(s.Lives), "--duration", s.Duration.String()}
	for flag, n := range map[string]int{"--rate": s.Rate, "--clients": s.Clients, "--probes": s.Probes, "--ahead": s.Ahead} {
		args = append(args, flag, fmt.Sprint(n))
	}
	return args
}

// String names the case as Go names benchmarks.
func (s *setting) String() string {
	name := fmt.Sprintf("%s/stored=%d/ids=%s/window=%d/sessions=%d", s.Name, s.Stored, s.IDs, s.Window, s.Sessions)
	if s.Rate > 0 {
		name += fmt.Sprintf("/rate=%d", s.Rate)
	}
	if s.Clients > 0 {
		name += fmt.Sprintf("/clients=%d", s.Clients)
	}
	return name
}
