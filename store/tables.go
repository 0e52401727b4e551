package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"go.etcd.io/bbolt"
)

// table names a bucket of state.db; doc.go draws what is in them.
type table uint8

const (
	tableMeta table = iota
	tablePartitions
	tableQueue
	tableDelayed
	tableUnanswered
	tableInbox
	tableInboxByKey
	tableInboxByDest
	tableInboxByAge
	tableInboxBySeq
	tableInboxWaiting
	tableInbound
	tableInboundByAge
	tableExceptions
	tableOpenByGroup
	tableOpen
	tableTallies
	tableSizes
	tableWindows
	tableOverdue
	tableHolds
	tableFreeing
	plainTables // how many are a bucket of the root; the others come in partitions

	tableDecisions // by seq of the cause
	tableMessages  // by message id, like those below
	tableIDs
	tableRefs
	tableDests
	tableFilters
	tableStates
)

var tableNames = [...]string{
	tableMeta: "meta", tablePartitions: "partitions", tableQueue: "queue", tableDelayed: "delayed",
	tableUnanswered: "unanswered", tableInbox: "inbox", tableInboxByKey: "inbox_by_key",
	tableInboxByDest: "inbox_by_dest", tableInboxByAge: "inbox_by_age", tableInboxBySeq: "inbox_by_seq", tableInboxWaiting: "inbox_waiting",
	tableInbound: "inbound", tableInboundByAge: "inbound_by_age", tableExceptions: "exceptions", tableOpenByGroup: "open_by_group",
	tableOpen: "open", tableTallies: "tallies", tableSizes: "sizes", tableWindows: "windows", tableOverdue: "overdue",
	tableHolds: "holds", tableFreeing: "freeing",
	tableDecisions: "decisions", tableMessages: "messages", tableIDs: "ids", tableRefs: "refs", tableDests: "dests",
	tableFilters: "filters", tableStates: "states",
}

// tableID is a table, and for those in partitions which of them.
type tableID struct {
	table table
	part  uint32
}

func (id tableID) name() []byte { return []byte(tableNames[id.table]) }

// partsOf are the partitions that a table has.
func (t *stateTx) partsOf(of table) (ids []tableID, err error) {
	if root := t.root(of); root != nil {
		err = root.ForEachBucket(func(name []byte) error {
			if len(name) != 4 {
				return errMalformed
			}
			ids = append(ids, tableID{of, binary.BigEndian.Uint32(name)})
			return nil
		})
	}
	for _, over := range t.overs {
		for _, p := range over.tables[of] {
			if id := (tableID{of, p.part}); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, err
}

// root is the bucket that holds those of a table's partitions; nil when there is none.
func (t *stateTx) root(of table) *bbolt.Bucket {
	if t.bolt == nil {
		return nil
	}
	return t.bolt.Bucket(tableID{table: of}.name())
}

func (id tableID) partName() []byte { return binary.BigEndian.AppendUint32(nil, id.part) }

// stateTx is one reading of state.db: a bbolt transaction, and laid over it what is not written yet, or what a
// read-only store folded in memory. Slices that it hands out are good until the transaction ends.
type stateTx struct {
	bolt    *bbolt.Tx  // nil: there is no state.db, all is in overs
	overs   []*overlay // the last one lies over the others
	buckets tableMap[*bbolt.Bucket]
	cursors tableMap[*bbolt.Cursor] // of get: one for itself would be made for each key, with all of its room
	filters knownFilters            // of none: not for looking anything up by an index, nor for a batch
	found   partitions              // room for what holding gives
}

func newStateTx(tx *bbolt.Tx, overs ...*overlay) *stateTx {
	return &stateTx{bolt: tx, overs: overs}
}

// bucket is nil when the table was never written.
func (t *stateTx) bucket(id tableID) *bbolt.Bucket {
	if t.bolt == nil {
		return nil
	}
	b, ok := t.buckets.get(id)
	if !ok {
		b = t.bolt.Bucket(id.name())
		if b != nil && id.table > plainTables {
			b = b.Bucket(id.partName())
		}
		if b != nil && id.table == tableDecisions {
			b.FillPercent = sequentialFill
		}
		t.buckets.put(id, b)
	}
	return b
}

// get is nil when there is no such key.
func (t *stateTx) get(id tableID, key []byte) []byte {
	for _, over := range slices.Backward(t.overs) {
		if v, ok := over.get(id, key); ok {
			return v
		}
	}
	c, ok := t.cursors.get(id)
	if !ok {
		b := t.bucket(id)
		if b == nil {
			return nil
		}
		c = b.Cursor()
		t.cursors.put(id, c)
	}
	if found, value := c.Seek(key); bytes.Equal(found, key) {
		return value
	}
	return nil
}

// put and delete write to the transaction's own bucket, making it where needed.
func (t *stateTx) put(id tableID, key, value []byte) error {
	b, err := t.writable(id)
	if err != nil {
		return err
	}
	return b.Put(key, value)
}

func (t *stateTx) delete(id tableID, key []byte) error {
	b := t.bucket(id)
	if b == nil {
		return nil
	}
	return b.Delete(key)
}

func (t *stateTx) writable(id tableID) (*bbolt.Bucket, error) {
	if b := t.bucket(id); b != nil {
		return b, nil
	}
	b, err := t.bolt.CreateBucketIfNotExists(id.name())
	if err == nil && id.table > plainTables {
		b, err = b.CreateBucketIfNotExists(id.partName())
	}
	if err == nil {
		if id.table == tableDecisions {
			b.FillPercent = sequentialFill
		}
		t.buckets.put(id, b)
	}
	return b, err
}

// sequentialFill is for a table whose keys come in order and whose rows are never changed: what grows later would
// split pages that are full. bbolt keeps it for as long as a transaction.
const sequentialFill = 0.95

// errStop ends a scan without being its result.
var errStop = errors.New("stop")

// scan walks the keys that begin with prefix, behind after if that is not nil, in either direction.
// fn may end it with errStop.
func (t *stateTx) scan(id tableID, prefix, after []byte, reverse bool, fn func(key, value []byte) error) error {
	rows := t.rows(id, prefix, after, reverse)
	for key, value := rows.next(); key != nil; key, value = rows.next() {
		if err := fn(key, value); err != nil {
			return stopped(err)
		}
	}
	return nil
}

// stopped is what ended a scan, nil where that was errStop.
func stopped(err error) error {
	if err == errStop {
		return nil
	}
	return err
}

// rowWalk is where a walk through a table is.
type rowWalk struct {
	sources []source
	reverse bool
}

// rows begins the walk that scan makes.
func (t *stateTx) rows(id tableID, prefix, after []byte, reverse bool) *rowWalk {
	w := &rowWalk{reverse: reverse}
	if b := t.bucket(id); b != nil {
		w.sources = append(w.sources, &boltSource{c: b.Cursor()})
	}
	for _, over := range t.overs {
		if table := over.sorted(id); table != nil {
			w.sources = append(w.sources, &memSource{table: table})
		}
	}
	for _, s := range w.sources {
		s.begin(prefix, after, reverse)
	}
	return w
}

// next gives a nil key at the end.
func (w *rowWalk) next() (key, value []byte) {
	for {
		key, value, ok := nextOf(w.sources, w.reverse)
		if !ok {
			return nil, nil
		}
		if value != nil { // else deleted in what lies over
			return key, value
		}
	}
}

// nextOf takes the next key of all sources. Of equal keys the last source's counts.
func nextOf(sources []source, reverse bool) (key, value []byte, ok bool) {
	for _, s := range sources {
		k, v := s.current()
		if k == nil {
			continue
		}
		order := 1
		if ok {
			order = bytes.Compare(key, k)
			if reverse {
				order = -order
			}
		}
		if order >= 0 {
			key, value, ok = k, v, true
		}
	}
	if !ok {
		return nil, nil, false
	}
	for _, s := range sources {
		if k, _ := s.current(); k != nil && bytes.Equal(k, key) {
			s.advance()
		}
	}
	return key, value, true
}
