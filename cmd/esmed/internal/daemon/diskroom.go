package daemon

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"esmed/cmd/esmed/internal/control"
	"esmed/store"
)

const (
	// leastReserve is what the store may need at any time for what it holds in memory: two layers over state.db, each
	// row of which may change a page of its own, and the pages of some commits.
	leastReserve = 64 << 20
	// leastFiles is how many files must be left to be made for messages to be accepted: a segment, a key and what is
	// beside state.db now and then, for a day or two.
	leastFiles = 64
	// reserveShare is which part of the disk the reserve is at most.
	reserveShare = 10
	// reserveSpan is how long receipts can be stored in the reserve when they come as they did in the last of it.
	reserveSpan = 10 * time.Minute
	// roomEvery is how often free space is asked for, growthEvery how often the store for its size, and free space too
	// while there is plenty, of which an idle daemon is not woken up every second.
	roomEvery   = time.Second
	growthEvery = 10 * time.Second
	// plenty is how many reserves are free then.
	plenty = 4
)

// diskRoom keeps a reserve of the disk for what must be stored: receipts, and the answers to what was sent. Below
// the reserve no message is accepted, below half of it none is sent. Both end when there is room again: a quarter of
// the reserve more than that, so that they do not begin and end all the time. Its methods may be called from any
// goroutine.
type diskRoom struct {
	disk  func() (store.Disk, error)
	bytes func() (int64, error) // the store's size
	log   *zap.Logger

	last    atomic.Pointer[roomReading]
	refuses atomic.Bool // messages
	stands  atomic.Bool // sending
	short   atomic.Bool // the store's last write found no room, whatever the system says of the disk

	mu     sync.Mutex // one measurement at a time; guards what follows
	growth growth
}

// roomReading is what was measured last, in octets. Size 0: the system does not say, and nothing is refused.
type roomReading struct {
	store.Disk
	reserve uint64
	refuses bool
}

// pause is how long to wait with the next measurement.
func (r *diskRoom) pause() time.Duration {
	if m := r.reading(); m.Free >= plenty*m.reserve {
		return growthEvery
	}
	return roomEvery
}

func newDiskRoom(s *store.Store, dataDir string, log *zap.Logger) *diskRoom {
	return &diskRoom{
		disk: func() (store.Disk, error) { return store.DiskOf(dataDir) },
		bytes: func() (int64, error) {
			st, err := s.Stat(context.Background())
			return st.LogBytes + st.StateBytes, err
		},
		log: log,
	}
}

// run measures until ctx is done.
func (r *diskRoom) run(ctx context.Context) error {
	for r.measure(time.Now()); rest(ctx, r.pause()); {
		r.measure(time.Now())
	}
	return nil
}

// measure asks how much room there is, and says what follows from it when that changes.
func (r *diskRoom) measure(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.growth.due(now) {
		if size, err := r.bytes(); err == nil {
			r.growth.add(now, size)
		}
	}
	disk, err := r.disk()
	if err != nil {
		disk = store.Disk{}
	}
	m := &roomReading{Disk: disk, reserve: reserveOf(disk.Size, r.growth.grown())}
	m.refuses = below(r.refuses.Load(), m.Disk, m.reserve, leastFiles)
	stands := below(r.stands.Load(), m.Disk, m.reserve/2, leastFiles/2)
	r.last.Store(m)
	room := []zap.Field{zap.Uint64("free", m.Free), zap.Uint64("reserve", m.reserve)}
	if !m.FilesUnlimited {
		room = append(room, zap.Uint64("free_files", m.Files))
	}
	if was := r.refuses.Swap(m.refuses); was != m.refuses {
		if m.refuses {
			r.log.Error("the disk is nearly full: messages are refused, receipts are stored", room...)
		} else {
			r.log.Info("the disk has room again: messages are accepted", room...)
		}
	}
	if was := r.stands.Swap(stands); was != stands {
		if stands {
			r.log.Error("the disk is nearly full: what is queued waits, receipts are stored", room...)
		} else {
			r.log.Info("the disk has room again: what is queued is sent", room...)
		}
	}
}

// reserveOf is what is kept free: what the store grew by in reserveSpan, within bounds.
func reserveOf(size, grown uint64) uint64 {
	return min(max(leastReserve, grown), size/reserveShare)
}

// below reports whether fewer octets or files than the limits are free, or, where that was so, not yet well over them.
func below(was bool, d store.Disk, limit, files uint64) bool {
	if was {
		limit, files = limit+limit/4, files+files/4
	}
	return d.Size > 0 && (d.Free < limit || !d.FilesUnlimited && d.Files < files)
}

// admit is control.ErrDiskFull while no message is accepted.
func (r *diskRoom) admit() error {
	if r != nil && r.refuses.Load() {
		return control.ErrDiskFull
	}
	return nil
}

// wrote takes note of what came of a write to the store: one that found no room has it look at the disk at once.
func (r *diskRoom) wrote(err error) {
	switch {
	case r == nil:
	case err == nil:
		if r.short.Load() {
			r.short.Store(false)
		}
	case passing(err):
		r.short.Store(true)
		r.measure(time.Now())
	}
}

// sends reports whether there is room for what sending a message brings.
func (r *diskRoom) sends() bool { return r == nil || !r.stands.Load() }

// reading is what was measured last; the zero one before the first time.
func (r *diskRoom) reading() roomReading {
	if m := r.last.Load(); m != nil {
		return *m
	}
	return roomReading{}
}

// growth is by how much the store has grown within reserveSpan. What retention gives back is not taken off.
type growth struct {
	size  int64 // when it was last asked for
	at    time.Time
	steps []growthStep // the oldest first
}

type growthStep struct {
	at    time.Time
	bytes uint64
}

func (g *growth) due(now time.Time) bool { return g.at.IsZero() || now.Sub(g.at) >= growthEvery }

func (g *growth) add(now time.Time, size int64) {
	if !g.at.IsZero() && size > g.size {
		g.steps = append(g.steps, growthStep{now, uint64(size - g.size)})
	}
	g.size, g.at = size, now
	old := 0
	for old < len(g.steps) && now.Sub(g.steps[old].at) > reserveSpan {
		old++
	}
	g.steps = append(g.steps[:0], g.steps[old:]...)
}

func (g *growth) grown() (sum uint64) {
	for _, s := range g.steps {
		sum += s.bytes
	}
	return sum
}
