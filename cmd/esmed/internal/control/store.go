package control

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Store says what the store takes of the disk, how fast it grows, and when there will be no room.
type Store struct {
	DataDir   string          `json:"data_dir"`
	Bytes     int64           `json:"bytes" doc:"All of it, on the disk"`
	Log       StoreLog        `json:"log"`
	State     StoreFile       `json:"state" doc:"state.db"`
	Base      StoreFile       `json:"base" doc:"base.db, where a fold begins once records were dropped"`
	KeysBytes int64           `json:"keys_bytes"`
	ApplyLag  uint64          `json:"apply_lag" doc:"Records that are not in the projection yet"`
	Messages  StoreMessages   `json:"messages"`
	Growth    *StoreGrowth    `json:"growth" doc:"Null while the log has too little of the past to tell"`
	Retention *StoreRetention `json:"retention" doc:"Null without a daemon, whose configuration says it"`
	Disk      StoreDisk       `json:"disk"`
	Forecast  StoreForecast   `json:"forecast"`
}

// StoreLog is the log.
type StoreLog struct {
	Bytes    int64      `json:"bytes" doc:"With what was dropped and is not given back yet"`
	Segments int        `json:"segments"`
	Records  uint64     `json:"records"`
	FirstSeq uint64     `json:"first_seq"`
	LastSeq  uint64     `json:"last_seq"`
	OldestAt *time.Time `json:"oldest_at" doc:"When its first record was made"`
	NewestAt *time.Time `json:"newest_at"`
}

// StoreFile is a file of the projection.
type StoreFile struct {
	Bytes     int64 `json:"bytes"`
	FreeBytes int64 `json:"free_bytes" doc:"Of these, what is used before the file grows, and what compact gives back"`
}

// StoreMessages are the messages that are kept.
type StoreMessages struct {
	Count    int64            `json:"count"`
	States   map[string]int64 `json:"states" nullable:"false" doc:"How many are in each state that has any"`
	OldestAt *time.Time       `json:"oldest_at" doc:"When the oldest was accepted"`
	NewestAt *time.Time       `json:"newest_at"`
}

// StoreGrowth is a day's growth, measured by the times of the log's own records.
type StoreGrowth struct {
	OverSeconds int64   `json:"over_seconds" doc:"Over how much of the past it was measured"`
	Records     float64 `json:"records_per_day"`
	LogBytes    float64 `json:"log_bytes_per_day"`
	StateBytes  float64 `json:"state_bytes_per_day" doc:"As much for a record as state.db has needed so far"`
}

// StoreRetention is how long what is kept, and what will be dropped next.
type StoreRetention struct {
	LogSeconds      int64      `json:"log_seconds"`
	MessagesSeconds int64      `json:"messages_seconds"`
	DueBytes        int64      `json:"due_bytes" doc:"Segments of the log whose time is over"`
	NextAt          *time.Time `json:"next_at" doc:"When the time of the next one is over; null: none is closed"`
	NextBytes       int64      `json:"next_bytes" doc:"What it gives back then"`
}

// StoreDisk is the file system that data_dir is on.
type StoreDisk struct {
	SizeBytes    uint64  `json:"size_bytes"`
	FreeBytes    uint64  `json:"free_bytes"`
	ReserveBytes *uint64 `json:"reserve_bytes" doc:"Below this messages are refused; null without a daemon"`
	Refuses      bool    `json:"refuses" doc:"Messages are refused now"`
}

// Words of StoreForecast.Verdict.
const (
	ForecastFull    = "full"    // at FullAt
	ForecastNever   = "never"   // retention sets in before, or it would take more than ten years
	ForecastUnknown = "unknown" // there is too little history
)

// StoreForecast says when there will be no room for messages if the store goes on growing as it did.
type StoreForecast struct {
	Verdict string     `json:"verdict" enum:"full,never,unknown"`
	FullAt  *time.Time `json:"full_at" doc:"To the hour; null unless verdict is full"`
	Bytes   *int64     `json:"bytes" doc:"What the store will take at most; null unless verdict is never"`
	Why     string     `json:"why"`
}

// TransformSchema says what may be null.
func (Store) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "growth", "retention")
}

func (a *API) routeStore(api huma.API) {
	register(a, api, get("/v1/store", "store", "Sizes, ages and growth of the store, and when the disk will be full"),
		func(ctx context.Context, _ *struct{}) (Store, error) {
			if a.cfg.Store == nil {
				return Store{}, ErrUnavailable
			}
			return a.cfg.Store(ctx)
		})
}

// Store asks what the store takes of the disk.
func (c *Client) Store(ctx context.Context) (s Store, err error) {
	err = c.get(ctx, "/v1/store", nil, &s)
	return s, err
}
