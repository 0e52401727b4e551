package store

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"esmed/statemachine"
)

// Stat describes the store.
type Stat struct {
	Records    uint64 // seq of the last record
	Applied    uint64 // seq of the last record in the projection
	Segments   int
	LogBytes   int64 // in use
	StateBytes int64 // size of the file
	Messages   int64
	Open       map[statemachine.ExceptionKind]int64
	Rebuilt    bool // state.db was missing at Open, or of an earlier format, and was, or is being, made anew from the log
	CutShort   bool // a commit that the power cut short, and nobody was answered for, was set aside at Open
}

// Stat reads counters; it does not wait for the applier.
func (s *Store) Stat(context.Context) (Stat, error) {
	st := Stat{
		Records: s.end.Load(), Applied: s.applied.Load(), Rebuilt: s.rebuilt, CutShort: s.log.cutShort,
		Open: make(map[statemachine.ExceptionKind]int64),
	}
	for _, segment := range s.log.from(0) {
		st.Segments++
		st.LogBytes += segment.bytes.Load()
	}
	if info, err := os.Stat(filepath.Join(s.cfg.Dir, stateFile)); err == nil {
		st.StateBytes = info.Size()
	}
	err := s.view(func(tx *stateTx) error {
		return tx.scan(tableID{table: tableSizes}, nil, nil, false, func(key, value []byte) error {
			of := string(key[1:])
			switch key[0] {
			case sizeMessages:
				st.Messages = readSize(value)
			case sizeOpen:
				st.Open[statemachine.ExceptionKind(of)] = readSize(value)
			}
			return nil
		})
	})
	return st, err
}

// InboxStat describes an SMSC's inbox.
type InboxStat struct {
	SMSC    string
	Rows    int64
	Waiting int64     // rows that nobody dismissed
	Oldest  time.Time // ReceivedAt of the oldest of these; zero when there is none
}

// InboxStats describes every inbox that ever had a row, by SMSC.
func (s *Store) InboxStats(ctx context.Context) (all []InboxStat, err error) {
	err = s.reading(ctx, "inbox stats", func(tx *stateTx) error {
		err := tx.scan(tableID{table: tableSizes}, []byte{sizeInbox}, nil, false, func(key, value []byte) error {
			all = append(all, InboxStat{SMSC: string(key[1:]), Rows: readSize(value)})
			return nil
		})
		for i := range all {
			prefix := appendKeyPart(nil, all[i].SMSC)
			all[i].Waiting = readSize(tx.get(tableID{table: tableSizes}, sizeKey(sizeWaiting, all[i].SMSC)))
			if err == nil {
				err = tx.scan(tableID{table: tableInboxWaiting}, prefix, nil, false, func(key, _ []byte) error {
					if rest := key[len(prefix):]; len(rest) >= 8 {
						all[i].Oldest = fromKeyNanos(rest)
					}
					return errStop
				})
			}
		}
		return err
	})
	return all, err
}
