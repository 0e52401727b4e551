package store

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"esmed/statemachine"
)

// effected is a store that nobody runs, in whose state effects are put without a fold.
type effected struct {
	*Store
	t   tb
	seq uint64
}

func newEffected(t testing.TB) *effected {
	e := effectedIn(t, t.TempDir(), 2)
	t.Cleanup(func() { require.NoError(t, e.state.Close()) })
	return e
}

// effectedIn is one with partitions of so many messages, whose state the caller closes.
func effectedIn(t tb, dir string, partition uint64) *effected {
	db, err := createState(filepath.Join(dir, stateFile), origin{partition: partition}, true)
	require.NoError(t, err)
	return &effected{Store: &Store{state: db, filters: new(filters)}, t: t}
}

// take puts effects in place, as one batch.
func (e *effected) take(effects ...statemachine.Effects) {
	e.t.Helper()
	require.NoError(e.t, e.state.Update(func(tx *bbolt.Tx) error {
		state := newStateTx(tx)
		state.filters = e.filters.now()
		b, err := beginBatch(state, nil)
		require.NoError(e.t, err)
		for i := range effects {
			e.seq++
			rec := statemachine.Record{Seq: e.seq}
			for _, c := range effects[i].Messages {
				rec.Fact = &statemachine.MessageAccepted{Owner: c.Message.Owner, Ref: c.Message.Ref}
			}
			require.NoError(e.t, b.take(rec, &effects[i]))
		}
		require.NoError(e.t, b.freeze())
		return b.over.flush(newStateTx(tx))
	}))
}

// rows are how many rows a table has.
func (e *effected) rows(t table) (n int) {
	e.t.Helper()
	require.NoError(e.t, e.view(func(tx *stateTx) error {
		return tx.scan(tableID{table: t}, nil, nil, false, func(_, _ []byte) error {
			n++
			return nil
		})
	}))
	return n
}

func window(at time.Time, smsc, id string, part int) statemachine.WindowChange {
	return statemachine.WindowChange{SMSC: smsc, At: at, Ref: statemachine.AttemptRef{Message: statemachine.ID(id), Part: part}}
}

func windows(remove bool, all ...statemachine.WindowChange) (eff statemachine.Effects) {
	for _, c := range all {
		c.Remove = remove
		eff.Windows = append(eff.Windows, c)
	}
	return eff
}

func TestDue(t *testing.T) {
	ctx := context.Background()
	e := newEffected(t)
	a, b := window(began, "alpha", "M1", 1), window(began, "alpha", "M1", 2)
	c, d := window(began.Add(time.Nanosecond), "beta", "M0", 1), window(began.Add(time.Hour), "a", "M9", 1)
	doubt := window(began, "alpha", "M5", 1)
	doubt.Doubt = true
	e.take(windows(false, d, c, b, a, doubt))

	due := func(now time.Time, after Due, limit int) []Due {
		got, err := e.Due(ctx, now, after, limit)
		require.NoError(t, err)
		return got
	}
	first := []Due{{began, "alpha", "M1", 1}, {began, "alpha", "M1", 2}}
	second := Due{began.Add(time.Nanosecond), "beta", "M0", 1}
	require.Empty(t, due(began.Add(-1), Due{}, 0))
	require.Equal(t, first, due(began, Due{}, 0), "at its end a window is over")
	require.Equal(t, append(first, second), due(began.Add(time.Minute), Due{}, 0))
	require.Equal(t, first[:1], due(began, Due{}, 1))
	require.Equal(t, first[1:], due(began, first[0], 10))
	require.Equal(t, []Due{second}, due(began.Add(time.Minute), first[1], 10))

	next := func(now, want time.Time) {
		at, found, err := e.NextWindow(ctx, now)
		require.NoError(t, err)
		require.Equal(t, !want.IsZero(), found)
		require.Equal(t, want, at)
	}
	next(began.Add(-time.Hour), began)
	next(began, began.Add(time.Nanosecond))
	next(began.Add(time.Nanosecond), began.Add(time.Hour))
	next(began.Add(time.Hour), time.Time{})
	e.take(windows(true, a, b, c, d))
	next(began.Add(-time.Hour), time.Time{})
	require.Zero(t, e.rows(tableWindows))
}

func TestWindowKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Due{
			At: fromNanos(rapid.Uint64().Draw(t, "at")), SMSC: octets.Draw(t, "smsc"),
			Message: statemachine.ID(octets.Draw(t, "message")), Part: rapid.IntRange(0, 255).Draw(t, "part"),
		}
		key := windowKey(nil, want)
		got, err := readWindowKey(key)
		require.NoError(t, err)
		require.Equal(t, want, got)
		other := want
		other.At = fromNanos(rapid.Uint64().Draw(t, "other"))
		require.Equal(t, want.At.Compare(other.At), bytes.Compare(key, windowKey(nil, other)), "sorted by time")
		_, err = readWindowKey(key[:rapid.IntRange(0, 12).Draw(t, "cut")])
		require.ErrorIs(t, err, errMalformed)
	})
}

func TestDue_manyInShortTransactions(t *testing.T) {
	e := newEffected(t)
	var all []statemachine.WindowChange
	for i := range 3 * visitRows {
		all = append(all, window(began, "alpha", "M", i))
	}
	e.take(windows(false, all...))
	due, err := e.Due(context.Background(), began, Due{}, len(all)-1)
	require.NoError(t, err)
	require.Len(t, due, len(all)-1)
	require.Equal(t, len(all)-2, due[len(due)-1].Part)
}

func TestWindows_withinOneBatch(t *testing.T) {
	w := window(began, "alpha", "M1", 1)
	tests := []struct {
		name   string
		before []statemachine.Effects
		batch  []statemachine.Effects
		want   int
	}{
		{"one that comes and goes is not written", nil, []statemachine.Effects{windows(false, w), windows(true, w)}, 0},
		{"one that comes, goes and comes is", nil, []statemachine.Effects{windows(false, w), windows(true, w), windows(false, w)}, 1},
		{"one that was there goes", []statemachine.Effects{windows(false, w)}, []statemachine.Effects{windows(true, w)}, 0},
		{"one that was there goes and comes again", []statemachine.Effects{windows(false, w)}, []statemachine.Effects{windows(true, w), windows(false, w)}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newEffected(t)
			e.take(tt.before...)
			e.take(tt.batch...)
			require.Equal(t, tt.want, e.rows(tableWindows))
		})
	}
}

func TestOverdue(t *testing.T) {
	ctx := context.Background()
	e := newEffected(t)
	overdue := func(smsc string, minutes int, delta int64) statemachine.Effects {
		return statemachine.Effects{Overdue: []statemachine.OverdueChange{{SMSC: smsc, Minute: began.Add(time.Duration(minutes) * time.Minute), Delta: delta}}}
	}
	doubt := func(at time.Time) statemachine.WindowChange {
		w := window(at, "alpha", "M1", 1)
		w.Doubt = true
		return w
	}
	e.take(overdue("alpha", 0, 2), overdue("alpha", 5, 1), overdue("alphabet", 0, 9), windows(false, doubt(began.Add(30*time.Second))))
	tests := []struct {
		name     string
		smsc     string
		from, to time.Duration
		want     int64
	}{
		{"before any", "alpha", -time.Hour, 0, 0},
		{"the first minute, not the doubt", "alpha", 0, 30 * time.Second, 2},
		{"the doubt's window is over", "alpha", 0, 31 * time.Second, 3},
		{"all", "alpha", 0, time.Hour, 4},
		{"a doubt has no beginning", "alpha", time.Minute, time.Hour, 2},
		{"the end is not in", "alpha", 0, 5 * time.Minute, 3},
		{"another SMSC", "alphabet", 0, time.Hour, 9},
		{"an SMSC that has none", "beta", 0, time.Hour, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := e.Overdue(ctx, tt.smsc, began.Add(tt.from), began.Add(tt.to))
			require.NoError(t, err)
			require.Equal(t, tt.want, n)
		})
	}
	e.take(overdue("alpha", 0, -2), overdue("alpha", 5, -1), overdue("alphabet", 0, -9), windows(true, doubt(began.Add(30*time.Second))))
	require.Zero(t, e.rows(tableOverdue), "counters of nothing are not kept")
}

func TestReprocessing(t *testing.T) {
	ctx := context.Background()
	e := newEffected(t)
	progress, err := e.Reprocessing(ctx)
	require.NoError(t, err)
	require.Zero(t, progress)
	want := statemachine.ReprocessProgress{Rules: 3, After: "row", Before: "M7"}
	restored := statemachine.Restored{Backup: "b1", Done: true}
	e.take(statemachine.Effects{Reprocess: &statemachine.ReprocessProgress{Rules: 1}}, statemachine.Effects{Reprocess: &want, Restored: &restored})
	e.take(statemachine.Effects{})
	progress, err = e.Reprocessing(ctx)
	require.NoError(t, err)
	require.Equal(t, want, progress)
	got, err := e.Restored(ctx)
	require.NoError(t, err)
	require.Equal(t, restored, got)
}

func TestInboxRowBySeq(t *testing.T) {
	ctx := context.Background()
	row := func(key string, receptions ...uint64) *statemachine.InboxRow {
		return &statemachine.InboxRow{Key: statemachine.InboxKey(key), SMSC: "alpha", Account: "alpha", ReceivedAt: began, Receptions: receptions}
	}
	put := func(r *statemachine.InboxRow) statemachine.InboxChange {
		return statemachine.InboxChange{Key: r.Key, Row: r}
	}
	inbox := func(all ...statemachine.InboxChange) statemachine.Effects { return statemachine.Effects{Inbox: all} }
	e := newEffected(t)
	finds := func(seq uint64, key statemachine.InboxKey) {
		t.Helper()
		got, err := e.InboxRowBySeq(ctx, seq)
		if key == "" {
			require.ErrorIs(t, err, ErrNotFound)
			return
		}
		require.NoError(t, err)
		require.Equal(t, key, got.Key)
	}
	e.take(inbox(put(row("b", 3, 5)), put(row("a", 4))))
	finds(3, "b")
	finds(5, "")
	rows, err := e.RowsAfter(ctx, "", 0)
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, statemachine.InboxKey("a"), rows[0].Key, "in the order of the keys, not of the log")
	rows, err = e.RowsAfter(ctx, "a", 0)
	require.NoError(t, err)
	require.Len(t, rows, 1)

	e.take(inbox(put(row("c", 3)), put(row("b", 5)))) // its first reception is keyed anew
	finds(3, "c")
	finds(5, "b")
	e.take(inbox(put(row("d", 5)), statemachine.InboxChange{Key: "b"}))
	finds(5, "d")
	e.take(inbox(statemachine.InboxChange{Key: "d"}, statemachine.InboxChange{Key: "c"}, statemachine.InboxChange{Key: "a"}))
	finds(5, "")
	require.Zero(t, e.rows(tableInboxBySeq))
}

func TestDrop_exceptions(t *testing.T) {
	ctx := context.Background()
	e := newEffected(t)
	open := func(id, group string) *statemachine.Exception {
		return &statemachine.Exception{ID: id, Kind: statemachine.KindConflict, Group: group, Status: statemachine.StatusOpen}
	}
	closed := open("x3", "c")
	closed.Status = statemachine.StatusResolved
	e.take(statemachine.Effects{Exceptions: []*statemachine.Exception{open("x1", "a"), open("x2", "b"), closed}})
	e.take(statemachine.Effects{Drop: &statemachine.Drop{Exceptions: []string{"x1", "x3", "x9"}}})
	left, _, err := e.Exceptions(ctx, ExceptionFilter{})
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "x2", left[0].ID)
	require.Equal(t, 1, e.rows(tableOpen))
	require.Equal(t, 1, e.rows(tableOpenByGroup))
	require.NoError(t, e.view(func(tx *stateTx) error {
		key := sizeKey(sizeOpen, string(statemachine.KindConflict))
		require.EqualValues(t, 1, readSize(tx.get(tableID{table: tableSizes}, key)))
		return nil
	}))
}

func TestIndex_remove(t *testing.T) {
	e := newEffected(t)
	ref := statemachine.AttemptRef{Message: "M1", Part: 1, Attempt: 1}
	entry := statemachine.IndexEntry{Account: "alpha", Key: "k1", Ref: ref}
	e.take(statemachine.Effects{Messages: []statemachine.MessageChange{{Message: &statemachine.Message{ID: "M1"}}}, Index: []statemachine.IndexEntry{entry}})
	found := func() (refs []statemachine.AttemptRef) {
		require.NoError(t, e.view(func(tx *stateTx) error {
			parts, err := readPartitions(tx)
			require.NoError(t, err)
			refs, err = attemptsIn(tx, parts, idKey("alpha", "k1"))
			return err
		}))
		return refs
	}
	require.Equal(t, []statemachine.AttemptRef{ref}, found())
	entry.Remove = true
	e.take(statemachine.Effects{Index: []statemachine.IndexEntry{entry}})
	require.Empty(t, found())
}
