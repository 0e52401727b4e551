#!/bin/sh
# Makes both packages and takes the deb through its whole life on a new Debian, which systemd runs: install, send a
# message, reload, crash, upgrade, remove, purge. Needs root, debootstrap, dpkg, rpm and systemd-nspawn.
#
#	test.sh
#
# $DEBIAN_ROOT names a root made before, which is copied; $MIRROR is where to get one from.
set -eu
umask 022
work=$(mktemp -d "${TMPDIR:-/tmp}/esmed-packages.XXXXXX")
root=$work/root
machine='' init='' why=''

end() {
	code=$?
	trap - EXIT INT TERM
	if [ $code -ne 0 ]; then
		tail -n 20 "$work"/*.log >&2 2>/dev/null || true
		if [ "$init" ]; then inside journalctl --no-pager -o cat -n 40 >&2 || true; fi
		echo "test-packages: ${why:-failed}" >&2
	fi
	if [ "$init" ]; then
		kill -s RTMIN+4 "$init" 2>/dev/null || true # poweroff, as systemd(1) has it
	elif [ "$machine" ]; then
		kill "$machine" 2>/dev/null || true
	fi
	if [ "$machine" ]; then wait "$machine" || true; fi
	rm -rf "$work"
	exit $code
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
	why=$*
	exit 1
}
ok() { echo "ok: $*"; }
inside() { nsenter -t "$init" -a -- "$@"; }

# has FILE... fails unless all are in the root.
has() { for f in "$@"; do [ -e "$root$f" ] || fail "$f is not there"; done; }

# mode FILE OWNER:GROUP MODE
mode() {
	got=$(inside stat -c '%U:%G %a' "$1")
	[ "$got" = "$2 $3" ] || fail "$1 is $got, not $2 $3"
}

# until_true WHAT COMMAND... waits for half a minute.
until_true() {
	what=$1 left=150
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || fail "gave up waiting for $what"
		sleep 0.2
	done
}

for version in 0.0.1 0.0.2; do
	make -s deb PACKAGE_VERSION=$version >/dev/null
	mv bin/esmed_$version*.deb "$work/$version.deb"
done
make -s rpm PACKAGE_VERSION=0.0.1 >/dev/null
mv bin/esmed-0.0.1*.rpm "$work/esmed.rpm"

rpm -qlp "$work/esmed.rpm" | sort >"$work/rpm.files"
dpkg-deb --fsys-tarfile "$work/0.0.1.deb" | tar t | sed 's,^\.,,' | grep -v '/$' | sort >"$work/deb.files"
sed 's,vendor-completions,site-functions,' "$work/deb.files" | grep -v changelog >"$work/want"
comm -23 "$work/want" "$work/rpm.files" >"$work/missing"
[ ! -s "$work/missing" ] || fail "the rpm lacks $(cat "$work/missing")"
rpm -qp --configfiles "$work/esmed.rpm" | grep -qx /etc/esmed/esmed.yaml
rpm -qp --scripts "$work/esmed.rpm" | grep -q systemd-sysusers
ok "the rpm has all that the deb has"

if [ -n "${DEBIAN_ROOT:-}" ]; then
	cp -a "$DEBIAN_ROOT" "$root"
else
	debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,bash-completion bookworm "$root" \
		"${MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log" 2>&1
fi
cp "$work"/*.deb "$root/root/"

# The network is a loopback of its own. Nothing on this machine is asked for a scope, or told of it.
systemd-nspawn --quiet --boot --directory="$root" --register=no --keep-unit --private-network --console=pipe \
	</dev/null >"$work/boot.log" 2>&1 &
machine=$!
until_true "systemd-nspawn" grep -q . "/proc/$machine/task/$machine/children"
init=$(tr -d ' ' <"/proc/$machine/task/$machine/children")
until_true "systemd" sh -c "nsenter -t $init -a -- systemctl is-system-running | grep -qx running"

inside dpkg -i /root/0.0.1.deb >"$work/install.log" 2>&1
grep -q 'systemctl enable --now esmed' "$work/install.log" || fail "installing does not say what comes next"
mode /etc/esmed root:esmed 750
mode /etc/esmed/esmed.yaml root:esmed 640
mode /etc/esmed/credentials root:root 700
mode /var/backups/esmed esmed:esmed 700
has /usr/lib/systemd/system/esmed.service /usr/share/esmed/grafana/esmed.json /usr/share/esmed/prometheus/esmed.rules.yml \
	/usr/share/doc/esmed/install.md /usr/share/fish/vendor_completions.d/esmed.fish
has /usr/share/man/man1/esmed-status.1.gz /usr/share/man/man1/smscsim-serve.1.gz /usr/share/bash-completion/completions/smscsim
for page in "$root"/usr/share/man/man1/*.1.gz; do gzip -t "$page"; done
inside bash -c 'for f in /usr/share/bash-completion/bash_completion /usr/share/bash-completion/completions/esmed; do
	[ ! -e $f ] || . $f; done; complete -p esmed' >/dev/null
inside esmed version >/dev/null
ok "installed: files, rights, pages, completion"

said=$(inside systemd-analyze verify --man=no esmed.service 2>&1) || said="failed: $said"
[ -z "$said" ] || fail "systemd-analyze verify: $said"
inside systemd-analyze security --threshold=20 --no-pager esmed.service >"$work/security.log" ||
	fail "the unit is exposed more than 2.0"
ok "the unit: verified,$(tail -n 1 "$work/security.log" | sed -E 's/.*service://' | tr -cd ' a-zA-Z0-9.')"

inside sh -c 'umask 077; printf secret >/etc/esmed/credentials/alpha.password'
inside systemd-run --quiet --unit=smscsim smscsim serve --addr 127.0.0.1:0 --addr-file /run/smscsim.addr
until_true smscsim inside test -s /run/smscsim.addr
address=$(inside cat /run/smscsim.addr)
inside sed -i "s/smsc.example.net:2775/$address/" /etc/esmed/esmed.yaml
inside esmed config check --config /etc/esmed/esmed.yaml >/dev/null
ok "the example needs an address and a password, no more"

of_unit() { inside systemctl show --property="$1" --value esmed; }
told() { inside journalctl --unit=esmed --no-pager -o cat | grep -q -- "$1"; }

# again WHAT PID waits until another process than PID is the unit's, and bound.
again() {
	until_true "$1" sh -c "nsenter -t $init -a -- systemctl is-active esmed && [ \$(nsenter -t $init -a -- systemctl show -p MainPID --value esmed) != $2 ]"
	until_true "a bind" sh -c "nsenter -t $init -a -- esmed binds list | grep -q BoundTRX"
}

inside systemctl enable --quiet --now esmed
again "the start" 0
mode /run/esmed/esmed.sock esmed:esmed 660
mode /var/lib/esmed esmed:esmed 700
inside esmed send --to +393331234567 --text 'of version 1' --ref before --wait --timeout 30s >"$work/send.log" 2>&1
inside esmed status --ref before | grep -q DELIVERED || fail "not delivered"
if inside setpriv --reuid=nobody --regid=nogroup --clear-groups esmed binds list >"$work/nobody.log" 2>&1; then
	fail "anybody may use the socket"
fi
inside setpriv --reuid=nobody --regid=esmed --clear-groups esmed binds list >/dev/null || fail "the group may not use the socket"
[ "$(inside journalctl --unit=esmed -o verbose --no-pager ESMED_SMSC=alpha ESMED_MSG=bound | grep -c 'ESMED_SESSION=')" -gt 0 ] ||
	fail "the journal lacks fields"
ok "systemd starts it: sent and delivered; the group may ask, others not; the journal has its fields"

pid=$(of_unit MainPID)
inside systemctl reload esmed
until_true "the reload" told '"msg":"reloaded"'
inside sed -i 's/^smscs:/smscz:/' /etc/esmed/esmed.yaml
if inside systemctl reload esmed >"$work/reload.log" 2>&1; then fail "a configuration that cannot be used was reloaded"; fi
told 'smscz: unknown key' || fail "the journal does not say why the reload failed"
[ "$(of_unit MainPID)" = "$pid" ] || fail "a reload ended the daemon"
ok "reloaded; a wrong configuration fails the reload, and nothing else"

if inside systemctl restart esmed >"$work/restart.log" 2>&1; then fail "a configuration that cannot be used was started"; fi
[ "$(of_unit ActiveState) $(of_unit NRestarts)" = "failed 0" ] || fail "exit status 2 was started again"
inside sed -i 's/^smscz:/smscs:/' /etc/esmed/esmed.yaml
inside systemctl start esmed
ok "a wrong configuration is not tried again and again"

inside mkdir -p /run/systemd/system/esmed.service.d
inside sh -c 'printf "[Service]\nWatchdogSec=2s\n" >/run/systemd/system/esmed.service.d/test.conf'
inside systemctl daemon-reload
inside systemctl restart esmed
# What a panic does (the runtime's crash, as of SIGQUIT), what the kernel does when there is no memory, and a standstill.
for signal in QUIT KILL STOP; do
	pid=$(of_unit MainPID)
	inside systemctl kill --kill-whom=main --signal="SIG$signal" esmed
	again "a start after SIG$signal" "$pid"
done
inside journalctl --unit=esmed --no-pager -o cat | grep -q "Failed with result 'watchdog'" || fail "the watchdog did not bite"
inside rm /run/systemd/system/esmed.service.d/test.conf
inside systemctl daemon-reload
ok "started again after a crash, a kill and a standstill"

pid=$(of_unit MainPID)
inside dpkg -i /root/0.0.2.deb </dev/null >"$work/upgrade.log" 2>&1
again "the new version" "$pid"
inside grep -q "$address" /etc/esmed/esmed.yaml || fail "the upgrade lost the configuration"
inside esmed status --ref before | grep -q DELIVERED || fail "the upgrade lost a message"
inside systemctl stop esmed
[ "$(of_unit Result)" = success ] || fail "the daemon did not stop well"
inside setpriv --reuid=esmed --regid=esmed --clear-groups esmed verify --data-dir /var/lib/esmed >/dev/null 2>&1
inside systemctl start esmed
ok "upgraded: started anew, configuration and messages are there"

inside dpkg -r esmed >"$work/remove.log" 2>&1
has /etc/esmed/esmed.yaml /var/lib/esmed/state.db /etc/esmed/credentials/alpha.password
[ ! -e "$root/usr/bin/esmed" ] || fail "removed, and still there"
! inside systemctl --quiet is-active esmed || fail "removed, and still running"
inside dpkg -P esmed >"$work/purge.log" 2>&1
has /var/lib/esmed/state.db /etc/esmed/credentials/alpha.password
[ ! -e "$root/etc/esmed/esmed.yaml" ] || fail "purged, and the configuration is still there"
for kept in /var/lib/esmed /etc/esmed/credentials; do
	grep -q "kept: $kept" "$work/purge.log" || fail "purging does not name $kept"
done
if grep -q 'not empty so not removed' "$work/remove.log"; then fail "removing leaves directories: $(cat "$work/remove.log")"; fi
ok "removed and purged: messages and passwords are kept, and named"

make -s release >/dev/null
cp bin/release/SHA256SUMS "$work/"
git clone -q . "$work/elsewhere"
(cd "$work/elsewhere" && make -s release >/dev/null)
same=0
cmp "$work/SHA256SUMS" "$work/elsewhere/bin/release/SHA256SUMS" || same=1
if [ $same -eq 0 ]; then
	ok "release: the same octets from another clone"
elif [ -n "$(git status --porcelain)" ]; then
	echo "skipped: release from another clone, since the working tree has changes"
else
	fail "release: other octets from another clone"
fi
