package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// readTime is how long a query takes, in microseconds from the request to the end of the answer.
type readTime struct {
	What string  `json:"what"`
	P50  float64 `json:"p50_us"`
	Max  float64 `json:"max_us"`
}

const (
	readTimes   = 40 // of each query
	readSamples = 20 // messages that are asked for, old and new
)

// measureReads times queries against an idle daemon. Each is made once before, as nobody asks a store that
// has just begun.
func (v *site) measureReads(ctx context.Context) ([]readTime, error) {
	messages, err := v.sampleMessages(ctx)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	one := func(path func(sampled) string) func(int) string {
		return func(n int) string { return path(messages[n%len(messages)]) }
	}
	always := func(path string) func(int) string { return func(int) string { return path } }
	queries := []struct {
		what string
		path func(n int) string
	}{
		{"status by id", one(func(m sampled) string { return "/v1/messages/" + m.ID })},
		{"events of a message", one(func(m sampled) string { return "/v1/messages/" + m.ID + "/events" })},
		{"status by message_id", one(func(m sampled) string { return "/v1/messages?message_id=" + url.QueryEscape(m.Acceptance.MessageID) })},
		{"list by number", one(func(m sampled) string { return "/v1/messages?to=" + url.QueryEscape(m.To) })},
		{"list by state", always("/v1/messages?state=UNDELIVERABLE&limit=100")},
		{"list by a state that none has", always("/v1/messages?state=SKIPPED&limit=100")},
		{"list of the newest", always("/v1/messages?limit=100")},
		{"report of two days", always("/v1/report?window=48h&by=smsc")},
		{"report of thirty days by hour", always("/v1/report?window=720h&by=hour")},
		{"inbox", always("/v1/inbox?limit=100")},
		{"binds", always("/v1/binds")},
	}
	all := make([]readTime, 0, len(queries))
	for _, q := range queries {
		times := make([]time.Duration, 0, readTimes)
		for n := range readSamples + readTimes {
			began := time.Now()
			if err := v.get(ctx, q.path(n), nil); err != nil {
				return all, fmt.Errorf("%s: %w", q.what, err)
			}
			if n >= readSamples {
				times = append(times, time.Since(began))
			}
		}
		slices.Sort(times)
		all = append(all, readTime{q.what, micros(quantile(times, 0.5)), micros(times[len(times)-1])})
	}
	return all, nil
}

// sampled is what a query needs of a message.
type sampled struct {
	ID         string `json:"id"`
	To         string `json:"to"`
	Acceptance struct {
		MessageID string `json:"message_id"`
	} `json:"acceptance"`
}

// sampleMessages are some of the newest messages and some of each week before.
func (v *site) sampleMessages(ctx context.Context) ([]sampled, error) {
	var all []sampled
	const week = 7 * 24 * time.Hour
	for _, age := range []time.Duration{0, time.Hour, 24 * time.Hour, week, 2 * week, 4 * week} {
		q := url.Values{"limit": {"4"}, "until": {time.Now().Add(-age).UTC().Format(time.RFC3339)}}
		var body bytes.Buffer
		if err := v.get(ctx, "/v1/messages?"+q.Encode(), &body); err != nil {
			return nil, err
		}
		var list struct {
			Items []sampled `json:"items"`
		}
		if err := json.Unmarshal(body.Bytes(), &list); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
	return all, nil
}
