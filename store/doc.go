// Package store keeps the log of records, which is the truth, and through one applier all that follows
// from it: messages, decisions, indexes, inbox, exceptions, queue and counters. It knows statemachine's
// facts and effects and speaks no SMPP: Config lends it a PDU decoder.
//
// # A caller's duties, in order
//
//  1. Open (the daemon), or OpenReadOnly while no daemon runs. ErrLocked, ErrNewerFormat, ErrNoStore and
//     *DamagedError say why not; then nothing was touched.
//  2. Start Run, and keep it running: nothing is durable, and no query is answered, without it. When Run
//     returns an error the process ends: what it was about to answer stays unanswered.
//  3. Restore, which does nothing unless data_dir is a backup.
//  4. SetRules, before the first fact whose text they find or whose fate they decide.
//  5. Append, Post, Accept, AcceptPost from any goroutine. A fact belongs to the store once it is handed
//     over. What they answer is durable (fsynced), and whoever got the answer finds it by every query.
//     ErrDiskFull: nothing was kept, the store goes on, try again later.
//  6. End Run's context; what was taken is made durable, answered and applied. Then Close.
//
// A small example:
//
//	s, err := store.Open(store.Config{Dir: dir, Decode: decode, TextSpans: spans})
//	…
//	g.Go(func() error { return s.Run(ctx) })
//	_, err = s.Restore(ctx, false)
//	_, err = s.SetRules(ctx, rules)
//	a, err := s.Accept(ctx, &statemachine.MessageAccepted{Message: id, …})
//	m, err := s.Message(ctx, a.Message)
//
// # How a record goes
//
//	Post ─▶ intake ─▶ writer: ref unique? · seq, at · encode · seal texts · hash ─▶ segment, fsync ─▶ done
//	                                                                                   │
//	                        query ◀── layers ◀── applier: fold in batches ◀── feed ◀───┘
//	                          ▲         │
//	                          └─────────┴── state.db, fsync, every two seconds
//
// The writer commits what came while the last commit was under way. The applier folds what has come a few
// milliseconds later, at once when a query waits for it, and lays what that changes over state.db, in memory:
// that is what queries read, so what they see follows from durable records, though it may be in no file but the
// log yet. A query waits until the applier has passed the end that the log had when it came. What lies over
// state.db is written when it is two seconds old, or of 8192 records, or takes 4 MiB, while the applier goes on
// with as much again. After a crash that much is folded once more. Accepts wait while the applier is 65536 records
// behind, and while 512 others wait for the writer; receptions wait for neither, so behind two commits at most.
// While state.db cannot be written (the disk is full) the applier goes on until as much waits as there is room
// for; then queries are ErrObstructed, and the log goes on as long as it can. Lists, feed and Verify use many
// short transactions. Backup and Rehearse, which take long, read state.db alone.
// NextQueued has what was accepted last, 8 MiB of it, from memory as the writer had it, and older messages
// from the log.
//
// # data_dir
//
//	log/00000000000000000001.log   segments, named by their first seq
//	log/*.log.retired              a segment that was dropped, while its room is given back
//	log/dropped                    there when segments before the first were dropped on purpose
//	keys/20261130T120000Z.key      keys of the texts, named by when they were made: 32 octets, 8 of their SHA-256
//	state.db                       the projection; without it Run makes it anew from the log
//	base.db                        the projection as it was at some record, when some before it are dropped
//	backup.json, backup.partial    there while this is a backup that nobody has started from, or that is not finished
//	unsynced                       there while a store is made without fsync (Config.Unsynced): it is none yet
//	state.db.v1                    one of an earlier format, which was made anew; nobody reads it, it may be deleted
//	*.tmp                          what was being made when a process ended; never read
//
// The directory itself is the lock (flock): exclusive for Open, shared for OpenReadOnly.
//
// # A segment
//
// A bbolt file. Numbers are 8 octets, big-endian; record.proto draws a record.
//
//	head      format            version of this layout
//	          first             seq of its first record
//	          previous          first seq of the segment before, 0 in the first
//	          chain             hash of the last commit before it; zeros in the first
//	          skips             that commit, the one it skips to, and so on, oldest first: number, seq, hash each
//	          rules             rules in force at its beginning: seq, record; empty = none
//	          rules_now         the newest rules: seq, record; empty = none
//	          previous_sha256   of the file before, put once it is computed
//	          backup, after     where seqs leave a gap: the backup that was restored, the last seq before
//	records   seq               record, its texts sealed
//	tip       tip               of the transaction that made this version: its number (bbolt's txid), the last seq before
//	                            it, the last seq, hash of the last commit, SHA-256 of the head; SHA-256 of all these
//
// The last record of each commit ends with the commit's number, the commit that it skips to (its number
// without the lowest bit that is set) and its hash: SHA-256 of the hash of the commit before, number, seq,
// skip, and the SHA-256 of the hashes of its records. So a record is proven by the hashes beside it and
// shows nothing of them, and a few dozen commits lead from it to any later one (Evidence). In segments of
// format 1 the hash is of the hash of the commit before and those of the records alone, without number
// and skip, and those of formats 1 and 2 have no tip; nothing is appended to them. What commits skip to before
// the first segment is taken as its head says: it was dropped, and later hashes cover it.
//
// A commit costs one fdatasync, of the pages that its transaction wrote and of the meta page that leads to them.
// Nobody is answered, and no reader is shown a record, before it has ended. When the power goes before that, the meta
// page may be on the disk without all of the pages. The version before is whole then: bbolt keeps two meta pages in
// turns, that version was durable before the next transaction began, and no transaction writes to a page of the
// version that it begins with. So Open looks at the last segment, unless it was closed in good order: then both meta
// pages lead to the same version. The newer version must hold all that its tip says, page by page: the head, the
// records without a gap, and the hashes of the commits around its end. It is written and fsynced once more then, since
// after a failed fsync the system may hold it for written. If it does not hold, and the version before does, and that
// has all that state.db has seen, the newer one is set aside for good (Stat.CutShort): nobody was answered for it.
// Else it is damage. OpenReadOnly can set nothing aside and says ErrCutShort. Whatever else is written to a segment
// (its making, the hash of the file before) takes bbolt's two fsyncs, as does the first commit after Open, and one
// behind a commit for which there was no room: pages that these left could be taken for its own. After a failed fsync
// nothing is written to the segment any more.
//
// A segment is closed after 3 million records or 1 GiB, and at a restart when it is over 64 MiB, since
// bbolt reads a file whole to append to it again; so opening takes as long however much is stored. Seqs
// have no gap but where a backup was restored: there they go on 2^32 higher, in a new segment whose head
// says so. at never decreases. Texts are sealed with AES-256 in counter mode: their length
// is the same, and hashes hold without the key. Where a key was destroyed texts read as zeros:
// that is when its file is not there. One that is there and cannot be read is an error.
//
// # state.db
//
// A bbolt file; state.proto draws the values. "+" joins; str is a string behind its length; seq and times
// are 8 octets, big-endian (times in nanoseconds, so that they sort); an id or ref over 512 octets is
// cut and ends in the SHA-256 of all of it. Buckets that come in partitions hold one bucket for each,
// named by its number (4 octets).
//
//	meta            format, partition_messages, its complement (partition_check), cursor (seq), at, rules (seq of those in force),
//	                rules_seqs (those of the rules in force at log_from, and all behind),
//	                reprocess (ReprocessProgress), restored (Restored), log_from (records before are dropped)
//	partitions      "p" + first message id    number, counts by state, first and last accepted_at, how far these are behind the ids' times
//	messages/N      message id                Message                        partition of the id
//	ids/N           str account + key         list of attempts given that id                  "
//	refs/N          "r" or "k" + str ref + owner    seq + message id                          "
//	dests/N         digits + 0 + message id                                                   "
//	filters/N       "i", "r" or "d" + block (4)           1024 octets of the filter       "
//	states/N        state (1) + message id    nothing                        "
//	decisions/N     seq + count (4)           Decision                       N = seq / 2^18
//	queue           str smsc + (3 - priority) + seq + part (4)               message id
//	delayed         str smsc + (3 - priority) + time + seq + part (4)        message id; parts that wait for a retry
//	unanswered      str account + dest        list of attempts
//	inbox           row key                   InboxRow
//	inbox_by_key    str account + key         list of row keys
//	inbox_by_dest   str account + dest        list of row keys that wait for it
//	inbox_by_age    str smsc + received_at + row key    row key
//	inbox_waiting   the same, of rows that nobody dismissed
//	inbox_by_seq    seq of its first reception          row key
//	inbound         str account + fingerprint seq + time, for ten minutes
//	inbound_by_age  time + seq                key in inbound
//	exceptions      seq + count (4)           Exception, by its id
//	open            seq + count (4)           those that are open
//	open_by_group   str kind + group          key of the open one
//	tallies         hour (seconds) + smsc     Tally
//	windows         time + str smsc + message id + part (4)     nothing; parts that are cut off then
//	overdue         str smsc + "u" + minute     how many parts UNREPORTED have their window ended in it
//	                str smsc + "d" + second     how many parts IN_DOUBT
//	holds           smsc                      Hold; queues that nothing is sent from
//	freeing         table (1) + number (4)    nothing; what was dropped and is to be given back
//	sizes           "m", "i" + smsc, "w" + smsc, "x" + kind     how many messages, rows, rows waiting, open exceptions
//	                "q" + smsc                                  QueueCounts: how many parts wait
//
// A partition is a range of message ids: the last one, once it is full or spans a week, is followed by one that
// begins with the next id behind all of its own. Which partition a message, its indexes and its refs belong to
// follows from its id; look-ups by anything else probe from the newest on, and of the sealed ones (all but
// the last) only those whose filter may have the key. One whose time has come is dropped (Retention). Nothing
// is read in whole at start: the partitions' heads, one for every 50,000 messages, are the only thing whose
// number grows. Filters are read behind a start, or when they are first asked, then kept in files without a name, as page
// cache: 44 bits a message, 28 where none has a ref, those of 32 partitions across each other, so that a look-up costs
// hardly more for them. One that a partition began with, since the store was opened, has what the partition has while
// that is open too.
//
// A filter is a Bloom filter for each of ids, refs and dests, with room for as many keys as partition_messages: 20, 16 and 8
// bits for each, of which a key sets 7, 7 and 4. With one part a message, of 200 partitions 0.04 are looked into in vain
// for an id, 0.14 for a ref and 4.8 for a number. Hashes are those of bits-and-blooms/bloom (murmur3, on "i", "r" or "d" and the
// key, of refs without owner, of dests without message id): the first one, as a fraction of 2^64, gives the key's block,
// 13 bits at a time, four of the second and then of the third, its bits there, lowest first. The filter is stored when its partition
// is sealed, by the record that begins the next one, and follows from what the indexes hold: a key that is put later is
// added, and when one goes (rules changed, or a person took something back) it is made anew. Of an index that has no key no block
// is stored. What is in memory keeps what went, for who reads what was before.
//
// In states are messages that are not DELIVERED, and those QUEUED, SUBMITTING and SUBMITTED in sealed partitions alone.
// A list by state reads nothing but what it names, unless DELIVERED is among the states, and looks through the last
// partition for the other three. One by time passes over what ids tell: they are ULIDs, by how much their times and
// those of a partition's messages part is in its head. Where an id tells no time all of the partition is looked at.
//
// The format is 4. One of format 3 had no states, and filters of 12 bits for any key; of format 2 the time before the
// priority in delayed, and in sizes how many parts wait in all: Open upgrades it, reading all messages and their indexes
// once, and base.db when it is next used. A state.db of format 1 had no windows: Open sets it aside and Run makes it anew
// from the log, which is in format 1 as before (Stat.Rebuilt).
//
// All of state.db but freeing follows from the log by statemachine.Fold, in whichever batches: Verify folds
// again and compares octet for octet.
//
// # Retention
//
// Retire is called in a loop. A record says what goes before it goes, and is itself part of the log:
//
//	what is still open in the oldest partition whose time is over is closed, 256 messages a record
//	the partition is dropped: its heads at once, so that nobody finds it; its pages a table at a time
//	rows of the inbox, then exceptions, 256 a record
//	a segment, when its time is over and no message and no row rests on its records any more
//
// A segment is renamed, closed once nobody reads it, and cut by 16 MiB a step. Who reads on finds the first
// record that is left; Record is ErrNotFound. Nobody waits for any of it: commits go to another file, and what
// state.db gives back goes in transactions of a few milliseconds. Messages go by whole partitions, records by
// whole segments, and never the one that is appended to: so some stay longer than they must.
//
// A fold may begin at any segment, with the rules in its head, but then it does not know what the records before
// left behind: the report's counters, the partitions' numbers and bounds, whose the receipts are that came
// behind them. So before the first segment goes base.db is folded from the log, as far as the record that drops
// the segment: behind that one no fold asks for its records. So it goes forward before each, and before a key is
// destroyed for the sake of its texts alone, over what the key sealed. What today's fold would not decide as it
// was (another parser read then, a text is gone) is copied from state.db. It is what Verify, Rebuild and
// a start without state.db begin with, and they give the same as all records would. It takes as much room as
// state.db took at that time. Verify folds what is behind it. Without base.db too, a fold does begin at the first
// segment.
//
// # Backup
//
// Backup says how it copies. A directory that it did not finish has backup.partial, and is refused
// (ErrPartialBackup). One that it finished is a store: the first start from it calls Restore.
package store
