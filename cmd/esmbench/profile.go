package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"
)

const (
	profileAfter = 3 * time.Second // of load, when it is steady
	profileLeast = 5 * time.Second // of a case that is profiled
)

// profile writes what the daemon spends its time on from when the load is steady until shortly before its end, as
// `go tool pprof` reads it.
func (v *site) profile(ctx context.Context) error {
	if v.Profile == "" {
		return nil
	}
	if err := sleep(ctx, profileAfter); err != nil {
		return err
	}
	var body bytes.Buffer
	seconds := (v.Duration - profileAfter - time.Second).Seconds()
	if err := v.get(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(seconds)), &body); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return os.WriteFile(v.Profile, body.Bytes(), 0o644)
}
