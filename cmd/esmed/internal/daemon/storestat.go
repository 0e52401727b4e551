package daemon

import (
	"context"
	"fmt"
	"sort"
	"time"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

const (
	day = 24 * time.Hour
	// growthSpan is over how much of the past growth is measured, leastGrowthSpan with how little nothing is said:
	// traffic has its hours.
	growthSpan      = 7 * day
	leastGrowthSpan = day
	// forecastSpan is how far a forecast looks ahead.
	forecastSpan = 10 * 365 * day
)

// storeStat says what the store takes of the disk (control.Backend.Store).
func (b *backend) storeStat(ctx context.Context) (control.Store, error) {
	u, err := b.store.Usage(ctx)
	if err != nil {
		return control.Store{}, apiError(err)
	}
	st, err := b.store.Stat(ctx)
	if err != nil {
		return control.Store{}, apiError(err)
	}
	disk, err := store.DiskOf(b.dataDir)
	if err != nil {
		return control.Store{}, err
	}
	now := time.Now()
	s := describeUsage(&u)
	s.DataDir, s.ApplyLag = b.dataDir, st.Records-st.Applied
	s.Disk = control.StoreDisk{SizeBytes: disk.Size, FreeBytes: disk.Free}
	if b.room != nil {
		m := b.room.reading()
		s.Disk.ReserveBytes, s.Disk.Refuses = &m.reserve, m.refuses
	}
	if s.Growth, err = b.growth(&u, now); err != nil {
		return control.Store{}, apiError(err)
	}
	if b.keep != nil {
		s.Retention = describeRetention(&u, b.keep, now)
	}
	s.Forecast = forecast(&s, now)
	return s, nil
}

func describeUsage(u *store.Usage) control.Store {
	s := control.Store{
		Bytes: u.Log + u.State.Bytes + u.Base.Bytes + u.Keys,
		Log: control.StoreLog{
			Bytes: u.Log, Segments: len(u.Segments), Records: u.Records(), FirstSeq: u.First, LastSeq: u.Last,
			OldestAt: instant(u.Oldest), NewestAt: instant(u.Newest),
		},
		State:     control.StoreFile{Bytes: u.State.Bytes, FreeBytes: u.State.Free},
		Base:      control.StoreFile{Bytes: u.Base.Bytes, FreeBytes: u.Base.Free},
		KeysBytes: u.Keys,
		Messages: control.StoreMessages{
			Count: u.Messages, States: map[string]int64{}, OldestAt: instant(u.OldestMessage), NewestAt: instant(u.NewestMessage),
		},
	}
	for state, n := range u.States {
		s.Messages.States[state.String()] = n
	}
	return s
}

// growth measures a day's growth over growthSpan, up to now where the store is in use, else to its last record. It
// is nil where the log has too little of the past, or is of the future.
func (b *backend) growth(u *store.Usage, now time.Time) (*control.StoreGrowth, error) {
	until := u.Newest
	if b.room != nil {
		until = now
	}
	since := until.Add(-growthSpan)
	if since.Before(u.Oldest) {
		since = u.Oldest
	}
	span := until.Sub(since)
	if u.Oldest.IsZero() || u.Newest.After(now) || span < leastGrowthSpan {
		return nil, nil
	}
	records, bytes, err := b.store.Since(u, since)
	if err != nil {
		return nil, err
	}
	days := float64(span) / float64(day)
	perRecord := float64(u.State.Bytes-u.State.Free) / float64(max(u.Records(), 1))
	return &control.StoreGrowth{
		OverSeconds: int64(span / time.Second), Records: float64(records) / days,
		LogBytes: float64(bytes) / days, StateBytes: float64(records) * perRecord / days,
	}, nil
}

// describeRetention says which segments retention drops next. A segment goes later where something is kept that
// rests on it.
func describeRetention(u *store.Usage, keep *config.Retention, now time.Time) *control.StoreRetention {
	r := &control.StoreRetention{LogSeconds: int64(keep.Log / time.Second), MessagesSeconds: int64(keep.Messages / time.Second)}
	for i := range max(len(u.Segments)-1, 0) { // the last one is appended to
		one := &u.Segments[i]
		over := one.Newest.Add(keep.Log)
		if !over.After(now) {
			r.DueBytes += one.Bytes
			continue
		}
		r.NextAt, r.NextBytes = instant(over), one.Bytes
		break
	}
	return r
}

// forecast says when the store, if it goes on as it did, will leave no room for messages.
func forecast(s *control.Store, now time.Time) control.StoreForecast {
	if s.Growth == nil {
		return control.StoreForecast{Verdict: control.ForecastUnknown, Why: "the log has less than a day of the past, or ends in the future"}
	}
	room := float64(s.Disk.FreeBytes)
	if s.Disk.ReserveBytes != nil {
		room -= float64(*s.Disk.ReserveBytes)
	}
	g := growing(s, now)
	hours := sort.Search(int(forecastSpan/time.Hour), func(h int) bool { return g.after(time.Duration(h)*time.Hour) > room })
	if ahead := time.Duration(hours) * time.Hour; ahead < forecastSpan {
		return control.StoreForecast{
			Verdict: control.ForecastFull, FullAt: instant(now.Add(ahead).Truncate(time.Hour)),
			Why: "when it goes on growing as it did; messages are refused from then",
		}
	}
	most := s.Bytes + int64(g.after(forecastSpan))
	f := control.StoreForecast{Verdict: control.ForecastNever, Bytes: &most, Why: "within ten years, when it goes on growing as it did"}
	if s.Retention != nil {
		f.Why = fmt.Sprintf("when it goes on growing as it did: after %d days as much is dropped as comes", s.Retention.LogSeconds/int64(day/time.Second))
	}
	return f
}

// trend is how a store goes on that goes on as it did, in octets a day.
type trend struct {
	log, state         float64
	logFor, stateFor   time.Duration // until as much is dropped as comes
	stateUsed, reusing float64       // what is in state.db, and what it has free
	makesBase          bool          // there is no base.db yet: the first segment that goes leaves one as large as state.db
}

func growing(s *control.Store, now time.Time) trend {
	t := trend{
		log: s.Growth.LogBytes, state: s.Growth.StateBytes, logFor: forecastSpan, stateFor: forecastSpan,
		stateUsed: float64(s.State.Bytes - s.State.FreeBytes), reusing: float64(s.State.FreeBytes), makesBase: s.Base.Bytes == 0,
	}
	if r := s.Retention; r != nil {
		t.logFor = untilOld(s.Log.OldestAt, r.LogSeconds, now)
		t.stateFor = untilOld(s.Messages.OldestAt, r.MessagesSeconds, now)
	}
	return t
}

// untilOld is how long it takes until what was made then is as old as it may be.
func untilOld(at *time.Time, seconds int64, now time.Time) time.Duration {
	keep := time.Duration(seconds) * time.Second
	if at == nil {
		return keep
	}
	return max(keep-now.Sub(*at), 0)
}

// after is how many octets more it takes in so much time.
func (t trend) after(d time.Duration) float64 {
	days := func(d time.Duration) float64 { return float64(d) / float64(day) }
	state := t.state * days(min(d, t.stateFor))
	sum := t.log*days(min(d, t.logFor)) + max(state-t.reusing, 0)
	if t.makesBase && d >= t.logFor {
		sum += t.stateUsed + state
	}
	return sum
}
