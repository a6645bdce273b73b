#!/bin/sh
# `ringmain perf` as a shell sees it: it measures, says so in JSON, and leaves neither topics nor processes behind,
# also when it is interrupted.   perf_command.sh RINGMAIN
set -eu
ringmain=$1
root=/dev/shm
[ -w "$root" ] || root=${TMPDIR:-/tmp}
work=$(mktemp -d "$root/ringmain-perf-test-XXXXXX")
running=
cleanup() {
    [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
fail() {
    echo "perf_command: $*" >&2
    exit 1
}

export RINGMAIN_DIR="$work/broker"
"$ringmain" topic create keep >/dev/null

"$ringmain" perf --count 20000 --wait yield --json >"$work/result.json"
for key in '"received":20000' '"published":20000' '"p99_ns":' '"line_ping_pong_ns":' '"lost":0'; do
    grep -q -- "$key" "$work/result.json" || fail "no $key in the JSON"
done
"$ringmain" perf --count 2000 --size 16K --producers 2 --partitions 2 --exclusive --wait block >"$work/text"
grep -q '^throughput ' "$work/text" || fail "no throughput in the text"
"$ringmain" perf --count 2000 --rate 20000 --wait block >"$work/text"
grep -q 'intended time of sending, 2000 records' "$work/text" || fail "no open-loop latency of 2000 records in the text"

"$ringmain" perf --count 2000 --wait yield --cpus none --json >"$work/result.json"
grep -q '"cpus":\[\]' "$work/result.json" || fail "--cpus none pinned something"
processors=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2])')
first=${processors% *}
second=${processors#* }
if [ "$first" != "$second" ]; then
    "$ringmain" perf --count 2000 --wait block --cpus "$second,$first" --json >"$work/result.json"
    grep -q "\"cpus\":\[$second,$first\]" "$work/result.json" || fail "--cpus $second,$first pinned to others"
fi
for list in 0,1,2 "$first,$first" "$first" "$first," "$first,x" "$first,99999" ''; do
    status=0
    "$ringmain" perf --cpus "$list" 2>"$work/errors" >"$work/text" || status=$?
    [ "$status" -eq 2 ] || fail "exit $status for --cpus '$list', not 2"
    grep -q -- '--cpus' "$work/errors" || fail "the error for --cpus '$list' does not name the option"
done

status=0
"$ringmain" perf --exclusive --producers 2 2>"$work/errors" || status=$?
[ "$status" -eq 2 ] || fail "exit $status for two exclusive producers of one partition, not 2"

# SIGINT in the middle of it. The script's own background processes ignore SIGINT, so a SIGTERM stands in for it.
"$ringmain" perf --seconds 60 --wait yield >"$work/text" 2>&1 &
running=$!
tries=0
while [ -z "$("$ringmain" topic list | grep perf-)" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || fail "perf did not begin"
    sleep 0.1
done
children=$(cat "/proc/$running/task/$running/children" 2>/dev/null || true)
kill -TERM "$running"
status=0
wait "$running" || status=$?
running=
[ "$status" -eq 143 ] || fail "exit $status after SIGTERM, not 143"
for child in $children; do
    [ ! -d "/proc/$child" ] || fail "child $child is still there"
done
[ "$("$ringmain" topic list)" = keep ] || fail "topics were left behind: $("$ringmain" topic list)"
