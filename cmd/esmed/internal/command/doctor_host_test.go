package command

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/store"
)

// What doctor makes of a machine, at the borders of what it finds well.
func TestDoctor_judgesTheMachine(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	ahead, wellAhead := now.Add(clockAhead), now.Add(clockAhead+time.Second)
	const large = 100 << 30
	disk := func(free, size uint64) func(*doctor) {
		return func(d *doctor) { d.room(store.Disk{Free: free, Size: size, FilesUnlimited: true}) }
	}
	files := func(left uint64) func(*doctor) {
		return func(d *doctor) { d.room(store.Disk{Free: large, Size: large, Files: left}) }
	}
	clock := func(now time.Time, newest *time.Time, unkept bool) func(*doctor) {
		return func(d *doctor) { d.time(now, newest, unkept) }
	}
	for _, tt := range []struct {
		name   string
		judge  func(*doctor)
		status []string // of each finding
		detail string   // of the last one
	}{
		{"much room", disk(doctorLittleRoom, large), []string{doctorOK}, "1.0 GiB free of 100.0 GiB"},
		{"little room", disk(doctorLittleRoom-1, large), []string{doctorWarn}, "1024.0 MiB free of 100.0 GiB"},
		{"hardly any room", disk(doctorLeastRoom-1, large), []string{doctorFail}, "64.0 MiB free of 100.0 GiB: messages are refused"},
		{"half of a small disk", disk(32<<20, 64<<20), []string{doctorOK}, "32.0 MiB free of 64.0 MiB"},
		{"a small disk that is nearly full", disk(3<<20, 64<<20), []string{doctorFail}, "3.0 MiB free of 64.0 MiB: messages are refused"},
		{"files enough", files(doctorFewFiles), []string{doctorOK}, "100.0 GiB free of 100.0 GiB"},
		{"few files", files(doctorFewFiles - 1), []string{doctorOK, doctorWarn}, "999 more files can be made"},
		{"ext4", func(d *doctor) { d.fileSystem("/data", 0xEF53) }, nil, ""},
		{"NFS", func(d *doctor) { d.fileSystem("/data", 0x6969) }, []string{doctorWarn}, "/data is on NFS"},
		{"CIFS, whose number is negative in 32 bits", func(d *doctor) { d.fileSystem("/data", -0xACB2BE) }, []string{doctorWarn}, "/data is on CIFS"},
		{"a fast disk", func(d *doctor) { d.fsync(slowFsync, nil) }, []string{doctorOK}, "the slowest of 5 took 50.0 ms"},
		{"a slow disk", func(d *doctor) { d.fsync(slowFsync+time.Millisecond, nil) }, []string{doctorWarn}, "the slowest of 5 took 51.0 ms"},
		{"a disk that takes nothing", func(d *doctor) { d.fsync(0, errors.New("input/output error")) }, []string{doctorFail}, "input/output error"},
		{"files enough may be open", func(d *doctor) { d.openFiles(doctorNoFile) }, []string{doctorOK}, "1024 files may be open, here"},
		{"few files may be open", func(d *doctor) { d.openFiles(doctorNoFile - 1) }, []string{doctorWarn}, "1023 files may be open, here"},
		{"a clock that is right", clock(now, &ahead, false), []string{doctorOK}, "2026-12-01 12:00:00.000Z"},
		{"a clock, and no log", clock(now, nil, false), []string{doctorOK}, "2026-12-01 12:00:00.000Z"},
		{"a clock behind the log", clock(now, &wellAhead, false), []string{doctorFail}, "the log's last record is of 2026-12-01 12:01:01.000Z, which is still to come"},
		{"a clock that nobody keeps", clock(now, nil, true), []string{doctorWarn}, "2026-12-01 12:00:00.000Z, which nothing keeps right, says the kernel"},
		{"a clock that was never set", clock(time.Unix(0, 0), nil, true), []string{doctorFail}, "it is 1970-01-01 00:00:00.000Z, says the system"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &doctor{diagnosis: diagnosis{OK: true}}
			tt.judge(d)
			var status []string
			ok := true
			for _, c := range d.Checks {
				status = append(status, c.Status)
				ok = ok && c.Status != doctorFail
				require.Equal(t, c.Status == doctorOK, c.Hint == "", "a hint where something is to be done: %+v", c)
			}
			require.Equal(t, tt.status, status)
			require.Equal(t, ok, d.OK)
			if len(d.Checks) > 0 {
				require.Equal(t, tt.detail, d.Checks[len(d.Checks)-1].Detail)
			}
		})
	}
}
