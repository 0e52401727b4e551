#!/bin/sh
# Before the files go. deb calls it with what it does, rpm with how many will be left. An upgrade restarts the daemon
# afterwards.
set -e

case "$1" in
remove | 0) ;;
*) exit 0 ;;
esac

[ -d /run/systemd/system ] || exit 0
systemctl --quiet disable --now esmed.service || true
