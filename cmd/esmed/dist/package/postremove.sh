#!/bin/sh
# After the files are gone. What was recorded of messages may be evidence, and passwords are not the package's: both
# stay, also when a deb is purged, and are named.
set -e

case "$1" in
purge) rm -rf /run/esmed ;;
remove | 0) ;;
*) exit 0 ;;
esac

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
for dir in /var/lib/esmed /var/backups/esmed /var/log/esmed /etc/esmed/credentials; do
	[ -d $dir ] || continue
	if [ "$1" = purge ]; then
		rmdir --ignore-fail-on-non-empty $dir
		[ -d $dir ] || continue
	fi
	if [ -n "$(ls -A $dir)" ]; then
		echo "esmed: kept: $dir"
	fi
done
if [ "$1" = purge ]; then
	rmdir --ignore-fail-on-non-empty /etc/esmed 2>/dev/null || true
	echo "esmed: the user esmed, who owns what is kept, stays too. When nobody needs it any more, delete both yourself."
fi
