#!/bin/sh
# After unpacking. deb calls it with "configure" and the version that was there, rpm with how many there are now.
set -e

case "$1" in
configure) before=$2 ;;
1) before= ;;
[2-9]) before=some ;;
*) exit 0 ;;
esac

systemd-sysusers esmed.conf
# The group reads the configuration, and root alone what is in credentials: the unit hands that on.
chgrp esmed /etc/esmed /etc/esmed/esmed.yaml
[ -d /var/backups/esmed ] || install -d -o esmed -g esmed -m 0700 /var/backups/esmed

if [ -z "$before" ]; then
	cat <<'END'
esmed: edit /etc/esmed/esmed.yaml, put passwords into /etc/esmed/credentials, then:
esmed:   esmed config check --config /etc/esmed/esmed.yaml
esmed:   systemctl enable --now esmed
esmed: who is in the group esmed may use the daemon's socket. esmed help install says more.
END
fi

[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
systemctl is-active --quiet esmed.service || exit 0
# A daemon that runs goes on rather than ending for a configuration that the new version does not take.
if esmed config check --config /etc/esmed/esmed.yaml >/dev/null; then
	systemctl restart esmed.service || echo "esmed: did not start again: systemctl status esmed" >&2
else
	echo "esmed: the version before goes on running: correct the configuration, then systemctl restart esmed" >&2
fi
