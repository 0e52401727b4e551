package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"esmed/cmd/esmed/internal/config"
	"esmed/cmd/esmed/internal/control"
	"esmed/smpp"
	"esmed/statemachine"
	"esmed/store"
)

func TestReading_judge(t *testing.T) {
	limits := config.Alerts{CoverageBelow: 0.95, CoverageMin: 100, InboxOlderThan: 5 * time.Minute, OverdueAbove: 3}
	settled := func(asked, final int64) counts {
		return counts{settled: map[string]statemachine.Tally{"alpha": {Asked: asked, Final: final}}}
	}
	tests := []struct {
		name string
		r    reading
		want string // the active alert; "" = none
	}{
		{"nothing is wrong", reading{disk: roomReading{Disk: store.Disk{FilesUnlimited: true, Free: 5 << 30, Size: 10 << 30}}}, ""},
		{"the clock is in doubt", reading{clock: true}, "clock"},
		{"the projection is half of what is allowed behind", reading{lag: lagAbove}, ""},
		{"the projection is further behind", reading{lag: lagAbove + 1}, "apply_lag"},
		{"the projection cannot follow at all", reading{obstructed: true}, "apply_lag"},
		{"a large disk has a gigabyte left", reading{disk: roomReading{Disk: store.Disk{FilesUnlimited: true, Free: 1 << 30, Size: 100 << 30}}}, ""},
		{"a large disk has less", reading{disk: roomReading{Disk: store.Disk{FilesUnlimited: true, Free: 1<<30 - 1, Size: 100 << 30}}}, "disk"},
		{"a small disk has its twentieth left", reading{disk: roomReading{Disk: store.Disk{FilesUnlimited: true, Free: 50 << 20, Size: 1000 << 20}}}, ""},
		{"a small disk has less", reading{disk: roomReading{Disk: store.Disk{FilesUnlimited: true, Free: 49 << 20, Size: 1000 << 20}}}, "disk"},
		{"a disk that fills quickly has more than its share left", reading{disk: roomReading{Disk: store.Disk{FilesUnlimited: true, Free: 3 << 30, Size: 100 << 30}, reserve: 2 << 30}}, "disk"},
		{"a disk has few files left", reading{disk: roomReading{Disk: store.Disk{Files: 2*leastFiles - 1, Free: 50 << 30, Size: 100 << 30}}}, "disk"},
		{"a disk has files enough", reading{disk: roomReading{Disk: store.Disk{Files: 2 * leastFiles, Free: 50 << 30, Size: 100 << 30}}}, ""},
		{"the store found no room", reading{short: true, disk: roomReading{Disk: store.Disk{FilesUnlimited: true, Free: 50 << 30, Size: 100 << 30}}}, "disk"},
		{"a disk has room again, but messages are still refused", reading{disk: roomReading{Disk: store.Disk{FilesUnlimited: true, Free: 30 << 20, Size: 100 << 20}, reserve: 10 << 20, refuses: true}}, "disk"},
		{"a session is coming back", ofAlpha(sessionReading{down: bindDownAfter}), ""},
		{"a session stays away", ofAlpha(sessionReading{down: bindDownAfter + 1}), "bind_down alpha"},
		{"one of two stays away", ofAlpha(sessionReading{}, sessionReading{down: bindDownAfter + 1}), "bind_down alpha"},
		{"somebody stopped all sessions", ofAlpha(), ""},
		{"the SMSC refuses the password", ofAlpha(sessionReading{credentials: smpp.StatusInvPaswd}), "credentials alpha"},
		{"our certificate is good for weeks", certified(certificateSoon), ""},
		{"our certificate ends soon", certified(certificateSoon - 1), "credentials alpha"},
		{"the SMSC has no credit for us", reading{smscs: []smscReading{{name: "alpha", paused: true}}}, "paused alpha"},
		{"a receipt waits", reading{waiting: map[string]time.Duration{"alpha": 5 * time.Minute}}, ""},
		{"a receipt waits for too long", reading{waiting: map[string]time.Duration{"alpha": 5*time.Minute + 1}}, "inbox_age alpha"},
		{"some parts are overdue", reading{counts: counts{overdue: map[string]int64{"alpha": 3}}}, ""},
		{"too many parts are overdue", reading{counts: counts{overdue: map[string]int64{"alpha": 4}}}, "overdue alpha"},
		{"a message is in doubt", reading{counts: counts{all: map[string]statemachine.Tally{"alpha": {InDoubt: 1}}}}, "in_doubt alpha"},
		{"its exception is not counted again", reading{open: map[statemachine.ExceptionKind]int64{statemachine.KindInDoubt: 1}}, ""},
		{"a conflict is to be decided", reading{open: map[statemachine.ExceptionKind]int64{statemachine.KindConflict: 1}}, "exceptions"},
		{"coverage is as it should be", reading{counts: settled(100, 95)}, ""},
		{"coverage is too low", reading{counts: settled(100, 94)}, "coverage alpha"},
		{"coverage of too few messages says nothing", reading{counts: settled(99, 0)}, ""},
		{"nothing was asked for", reading{counts: settled(0, 0)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			active := ""
			for _, a := range tt.r.judge(limits) {
				require.Contains(t, control.AlertNames(), a.Alert)
				if a.Active {
					require.Empty(t, active)
					active = a.Alert
					if a.SMSC != "" {
						active += " " + a.SMSC
					}
				}
			}
			require.Equal(t, tt.want, active)
		})
	}
}

func ofAlpha(sessions ...sessionReading) reading {
	return reading{smscs: []smscReading{{name: "alpha", sessions: sessions}}}
}

// certified is alpha with a certificate of ours that is still valid for so long.
func certified(left time.Duration) reading {
	return reading{smscs: []smscReading{{name: "alpha", certificate: &left}}}
}

// read is the reading of a session that is bound, or down for a time.
func read(name string, mode smpp.BindMode, down time.Duration) sessionReading {
	st := smpp.SessionStatus{Name: name, Mode: mode, State: smpp.BoundTRX}
	if down > 0 {
		st.State, st.LastError = smpp.Closed, "no connection"
	}
	return sessionReading{SessionStatus: st, down: down}
}

func TestReading_aSessionWhoseWorkOthersDoIsAWarning(t *testing.T) {
	const long = bindDownAfter + time.Second
	for _, tt := range []struct {
		name             string
		sessions         []sessionReading
		severity, detail string
	}{
		{"the only one", []sessionReading{read("alpha/1", smpp.Transceiver, long)}, control.Critical, "alpha/1 is not bound: no connection"},
		{"one of two", []sessionReading{read("alpha/1", smpp.Transceiver, 0), read("alpha/2", smpp.Transceiver, long)}, control.Warning, "alpha/2 is not bound: no connection"},
		{"the only receiver", []sessionReading{read("alpha/1", smpp.Transmitter, 0), read("alpha/1r", smpp.Receiver, long)}, control.Critical, "alpha/1r is not bound: no connection"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ofAlpha(tt.sessions...)
			a := r.smscs[0].judgeBinds()
			require.True(t, a.Active)
			require.Equal(t, tt.severity, a.Severity)
			require.Equal(t, tt.detail, a.Detail)
		})
	}
}

func TestReading_aSessionThatDoesNotStayBoundDoesNoWork(t *testing.T) {
	flapping := read("alpha/1", smpp.Transceiver, bindDownAfter+time.Second)
	flapping.State, flapping.flaps = smpp.BoundTRX, 4
	a := (&smscReading{name: "alpha", sessions: []sessionReading{flapping}}).judgeBinds()
	require.True(t, a.Active)
	require.Equal(t, control.Critical, a.Severity)
	require.Equal(t, "alpha/1 does not stay bound, the SMSC accepted 4 binds since: no connection", a.Detail)
}

func TestReading_credentialsTellOfPasswordAndCertificate(t *testing.T) {
	days := func(n int) *time.Duration {
		d := time.Duration(n)*24*time.Hour + time.Hour
		return &d
	}
	refused := []sessionReading{{SessionStatus: smpp.SessionStatus{Name: "alpha/1"}, credentials: smpp.StatusInvPaswd}}
	for _, tt := range []struct {
		name             string
		s                smscReading
		severity, detail string
		wrong            float64
	}{
		{"a certificate that ends soon is a warning", smscReading{certificate: days(13)}, control.Warning, "the certificate of tls.cert_file ends in 13 days: renew it, then SIGHUP", 1},
		{"one that has ended is critical", smscReading{certificate: days(-2)}, control.Critical, "the certificate of tls.cert_file has ended: renew it, then SIGHUP", 1},
		{"a refusal is critical beside it", smscReading{certificate: days(13), sessions: refused}, control.Critical,
			"the SMSC refuses the bind of alpha/1 with ESME_RINVPASWD: system_id or password are wrong, or the account may not bind so often; " +
				"the certificate of tls.cert_file ends in 13 days: renew it, then SIGHUP", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.s.judgeCredentials()
			require.True(t, a.Active)
			require.Equal(t, tt.severity, a.Severity)
			require.Equal(t, tt.detail, a.Detail)
			require.InDelta(t, tt.wrong, *a.Value, 0)
		})
	}
}
