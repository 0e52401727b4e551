#!/bin/sh
# Makes both packages and takes the deb through its whole life on a new Debian: install, send a message, upgrade, remove,
# purge. Needs root, debootstrap, dpkg, rpm and systemd-analyze.
#
#	test.sh
#
# $DEBIAN_ROOT names a root made before, which is copied; $MIRROR is where to get one from.
set -eu
umask 022
work=$(mktemp -d "${TMPDIR:-/tmp}/esmed-packages.XXXXXX")
root=$work/root
sim='' daemon='' why=''

end() {
	code=$?
	trap - EXIT INT TERM
	for pid in $daemon $sim; do kill "$pid" 2>/dev/null || true; done
	for pid in $daemon $sim; do wait "$pid" 2>/dev/null || true; done
	if [ $code -ne 0 ]; then
		tail -n 20 "$work"/*.log >&2 2>/dev/null || true
		echo "test-packages: ${why:-failed}" >&2
	fi
	if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
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
inside() { chroot "$root" "$@"; }

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
	debootstrap --variant=minbase --include=systemd-standalone-sysusers,bash-completion bookworm "$root" \
		"${MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log" 2>&1
fi
mount -t proc proc "$root/proc"
cp "$work"/*.deb "$root/tmp/"

inside dpkg -i /tmp/0.0.1.deb >"$work/install.log" 2>&1
grep -q 'systemctl enable --now esmed' "$work/install.log" || fail "installing does not say what comes next"
mode /etc/esmed root:esmed 750
mode /etc/esmed/esmed.yaml root:esmed 640
mode /etc/esmed/credentials root:root 700
mode /var/backups/esmed esmed:esmed 700
has /usr/lib/systemd/system/esmed.service /usr/share/esmed/grafana/esmed.json /usr/share/esmed/prometheus/esmed.rules.yml \
	/usr/share/doc/esmed/install.md /usr/share/fish/vendor_completions.d/esmed.fish
for page in "$root"/usr/share/man/man1/esmed*.1.gz; do gzip -t "$page"; done
inside bash -c 'for f in /usr/share/bash-completion/bash_completion /usr/share/bash-completion/completions/esmed; do
	[ ! -e $f ] || . $f; done; complete -p esmed' >/dev/null
inside esmed version >/dev/null
ok "installed: files, rights, pages, completion"

sed "s,/usr/bin/esmed,$root/usr/bin/esmed,g" "$root/usr/lib/systemd/system/esmed.service" >"$work/esmed.service"
said=$(systemd-analyze verify --man=no "$work/esmed.service" 2>&1) || said="failed: $said"
[ -z "$said" ] || fail "systemd-analyze verify: $said"
systemd-analyze security --offline=true --threshold=20 --no-pager "$work/esmed.service" >"$work/security.log" ||
	fail "the unit is exposed more than 2.0"
ok "the unit: verified,$(tail -n 1 "$work/security.log" | sed -E 's/.*service://' | tr -cd ' a-zA-Z0-9.')"

inside sh -c 'printf secret >/etc/esmed/credentials/alpha.password && chmod 600 /etc/esmed/credentials/alpha.password'
# What systemd would do before it starts the daemon.
inside install -d -o esmed -g esmed -m 0700 /var/lib/esmed
inside install -d -o esmed -g esmed -m 0750 /run/esmed
inside install -d -o esmed -g esmed -m 0500 /run/credentials/esmed.service
inside install -o esmed -g esmed -m 0400 /etc/esmed/credentials/alpha.password /run/credentials/esmed.service/credentials_alpha.password

chroot "$root" smscsim serve --addr 127.0.0.1:0 --addr-file /tmp/addr >"$work/smscsim.log" 2>&1 &
sim=$!
until_true smscsim test -s "$root/tmp/addr"
sed -i "s/smsc.example.net:2775/$(cat "$root/tmp/addr")/" "$root/etc/esmed/esmed.yaml"
inside esmed config check --config /etc/esmed/esmed.yaml >/dev/null
ok "the example needs an address and a password, no more"

start_daemon() {
	CREDENTIALS_DIRECTORY=/run/credentials/esmed.service chroot --userspec=esmed:esmed "$root" \
		esmed run --config /etc/esmed/esmed.yaml >"$work/esmed.log" 2>&1 &
	daemon=$!
	until_true "a bind" sh -c "chroot $root esmed binds list | grep -i -q bound"
}
stop_daemon() {
	kill $daemon
	wait $daemon || fail "the daemon did not stop well"
	daemon=''
}

start_daemon
mode /run/esmed/esmed.sock esmed:esmed 660
inside esmed send --to +393331234567 --text 'of version 1' --ref before --wait --timeout 30s >"$work/send.log" 2>&1
inside esmed status --ref before | grep -q DELIVERED || fail "not delivered"
if chroot --userspec=nobody:nogroup "$root" esmed binds list >"$work/nobody.log" 2>&1; then fail "anybody may use the socket"; fi
chroot --userspec=nobody:esmed "$root" esmed binds list >/dev/null || fail "the group may not use the socket"
stop_daemon
ok "sent and delivered as the user esmed; the group may ask, others not"

inside dpkg -i /tmp/0.0.2.deb </dev/null >"$work/upgrade.log" 2>&1
grep -q "$(cat "$root/tmp/addr")" "$root/etc/esmed/esmed.yaml" || fail "the upgrade lost the configuration"
start_daemon
inside esmed status --ref before | grep -q DELIVERED || fail "the upgrade lost a message"
stop_daemon
inside esmed verify --data-dir /var/lib/esmed >/dev/null
ok "upgraded: configuration and messages are there"

inside dpkg -r esmed >"$work/remove.log" 2>&1
has /etc/esmed/esmed.yaml /var/lib/esmed/state.db /etc/esmed/credentials/alpha.password
[ ! -e "$root/usr/bin/esmed" ] || fail "removed, and still there"
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
