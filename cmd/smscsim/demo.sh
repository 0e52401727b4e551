#!/bin/sh
# The main job, end to end: a simulated SMSC that misbehaves and a daemon with its embedded store, as two
# processes on loopback. Ends with one line that says whether the store agrees with the simulator's truth.
#
#   demo.sh BIN      BIN holds esmed and smscsim (make demo builds them)
#   MESSAGES=2500    how many to submit
#   KEEP=1           leave both running afterwards
set -eu
umask 077 # the configuration holds a password

bin=$(cd "$1" && pwd)
messages=${MESSAGES:-2500}
dir=$(mktemp -d "${TMPDIR:-/tmp}/esmed-demo.XXXXXX")
smsc='' daemon=''

end() {
	code=$?
	trap - EXIT INT TERM PIPE
	if [ "$code" -ne 0 ]; then
		echo "demo: failed; last lines of the daemon's log:" >&2
		tail -n 20 "$dir/esmed.log" >&2 2>/dev/null || true
	fi
	if [ -n "${KEEP:-}" ] && [ "$code" -eq 0 ]; then
		look_around
		exit 0
	fi
	for pid in $daemon $smsc; do kill "$pid" 2>/dev/null || true; done
	for pid in $daemon $smsc; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$dir"
	exit "$code"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 141' PIPE

look_around() {
	cat <<EOF

Both are still running. To look around:
  export ESMED_SOCKET=$dir/esmed.sock PATH=$bin:\$PATH
  esmed list --state UNDELIVERABLE
  esmed events -f
  esmed send --to +15550100 --text 'Hello' --wait
To end them and clean up:
  kill $daemon $smsc && rm -r $dir
EOF
}

title() { printf '\n== %s\n' "$*"; }

# field NAME prints a number of the simulator's status file; 0 while there is none.
field() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$dir/smsc.json" 2>/dev/null | grep . || echo 0; }

# until_true SECONDS WHAT COMMAND... waits for the command to succeed.
until_true() {
	left=$(($1 * 5)) what=$2
	shift 2
	until "$@"; do
		left=$((left - 1))
		if [ "$left" -le 0 ]; then
			echo "demo: gave up waiting for $what" >&2
			exit 1
		fi
		sleep 0.2
	done
}

title "smscsim: duplicates, late and contradicting receipts, receipts before responses, unknown ids, data_sm"
"$bin/smscsim" serve --addr 127.0.0.1:0 --addr-file "$dir/addr" --truth "$dir/truth.ndjson" --status-file "$dir/smsc.json" \
	--id hex --id-text decimal --first-id 4096 \
	--state DELIVRD=0.90,UNDELIV=0.06,EXPIRED=0.03,BLOCKED=0.01 \
	--receipt-delay 300ms --receipt-jitter 4s --before-response 0.10 --data-sm 0.20 \
	--duplicates 0.10 --contradictions 0.01 --intermediate 0.10 --intermediate-after 0.05 \
	--unknown-ids 0.01 --bad-dates 0.01 --garbage 0.005 --mo 0.01 --mo-like-receipt 0.005 \
	--refuse ESME_RMSGQFUL=0.01,ESME_RINVDSTADR=0.005 --sequence collide \
	>"$dir/smsc.out" 2>"$dir/smsc.log" &
smsc=$!
until_true 10 "smscsim" test -s "$dir/addr"
addr=$(cat "$dir/addr")
echo "listening on $addr"

title "esmed: two sessions, ids of the text in decimal, ids of the response in hex"
cat >"$dir/esmed.yaml" <<EOF
data_dir: $dir/data
log: {level: warn, format: console}
api: {socket: $dir/esmed.sock}
smscs:
  - name: alpha
    addr: ["$addr"]
    system_id: demo
    password: demo
    sessions: 2
    window: 50
    registered_delivery: {receipt: final, intermediate: true}
    rules:
      message_id: {text: [hex_to_dec]}
EOF
cat "$dir/esmed.yaml"
ESMED_SOCKET=$dir/esmed.sock
export ESMED_SOCKET
"$bin/esmed" run --config "$dir/esmed.yaml" >"$dir/esmed.log" 2>&1 &
daemon=$!
bound() {
	kill -0 "$daemon" 2>/dev/null || { echo "demo: the daemon ended" >&2; exit 1; }
	test "$("$bin/esmed" binds list -o ndjson 2>/dev/null | grep -c 'BoundTRX')" = 2
}
until_true 20 "the binds" bound
"$bin/esmed" binds list

title "esmed send --file: $messages messages, every fiftieth in three parts"
awk -v n="$messages" 'BEGIN {
	for (i = 1; i <= 40; i++) long = long " 10 octets"
	for (i = 1; i <= n; i++)
		printf "{\"to\":\"+4670%07d\",\"from\":\"DEMO\",\"text\":\"Message %d of %d%s\",\"ref\":\"demo-%d\"}\n", i, i, n, i % 50 ? "" : long, i
}' >"$dir/messages.ndjson"
"$bin/esmed" send --file "$dir/messages.ndjson"

title "waiting until every receipt is in"
# A refusal for good is an answer too; one for now is tried again until it is accepted.
settled() {
	open=$("$bin/esmed" list --limit 0 --state QUEUED,SUBMITTING -o ndjson | grep -c . || true)
	printf '\rsubmits %s, receipts acknowledged %s, still out %s, waiting to be sent %s   ' \
		"$(field submits)" "$(field acked)" "$(field pending)" "$open" >&2
	[ "$open" -eq 0 ] && [ "$(field submits)" -ge "$messages" ] && [ "$(field pending)" -eq 0 ]
}
until_true 45 "the receipts" settled
echo >&2

title "esmed report"
"$bin/esmed" report

title "esmed exceptions list (first 10)"
"$bin/esmed" exceptions list --limit 10

title "esmed inbox list (first 10)"
"$bin/esmed" inbox list --limit 10

id=$("$bin/esmed" exceptions list --kind conflict --limit 1 -o ndjson | sed -n 's/.*"message":"\([^"]*\)".*/\1/p')
if [ -z "$id" ]; then
	id=$("$bin/esmed" list --limit 1 -o ndjson | sed -n 's/^{"id":"\([^"]*\)".*/\1/p')
fi
title "esmed status $id"
"$bin/esmed" status "$id"

title "esmed events $id"
"$bin/esmed" events "$id"

title "esmed verify"
"$bin/esmed" verify

title "does the store agree with what the simulator did?"
"$bin/esmed" list --limit 0 -o ndjson >"$dir/list.ndjson"
"$bin/esmed" events --after 0 -o ndjson >"$dir/events.ndjson"
"$bin/smscsim" audit --rules-fit --truth "$dir/truth.ndjson" --messages "$dir/list.ndjson" --events "$dir/events.ndjson"
