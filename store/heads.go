package store

// heads are all partitions, their numbers and starts alone: what is to be known to look something up. They are
// read again only when there is a new partition, or one less, so that a look-up costs the same however many
// there are.
func (t *stateTx) heads() (partitions, error) {
	first, err := t.edge(false)
	if first == nil || err != nil {
		return nil, err
	}
	last, err := t.edge(true)
	if err != nil {
		return nil, err
	}
	known := t.filters.heads.Load()
	if known != nil && (*known)[0].same(first) && (*known)[len(*known)-1].same(last) {
		return *known, nil
	}
	all, err := readPartitions(t)
	if err != nil {
		return nil, err
	}
	for i, p := range all {
		all[i] = &partition{number: p.number, start: p.start}
	}
	t.filters.heads.Store(&all)
	return all, nil
}

// edge is the first partition, or the last one; nil when there is none.
func (t *stateTx) edge(last bool) (p *partition, err error) {
	err = t.scan(tableID{table: tablePartitions}, nil, nil, last, func(key, value []byte) error {
		if p, err = decodePartition(key, value); err != nil {
			return err
		}
		return errStop
	})
	return p, err
}

// same reports whether both are the same partition, however full: new ones come behind all others, and
// numbers are never given again.
func (p *partition) same(q *partition) bool { return p.number == q.number && p.start == q.start }
