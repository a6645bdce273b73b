#!/bin/sh
# run_fuzz.sh TARGET CORPUS SECONDS [LIBFUZZER ARGUMENT...]: fuzzes for so long; prints one line of figures. What was
# found is kept as CORPUS/../found-*: TARGET --show=FILE says what an input does, TARGET FILE repeats it.
set -eu
target=$1 corpus=$2 seconds=$3
shift 3
found=$(dirname "$corpus")/found-
directory=$(mktemp -d /dev/shm/ringmain-fuzz-XXXXXX)
trap 'rm -rf "$directory"' EXIT INT TERM
export RINGMAIN_FUZZ_DIRECTORY="$directory"
"$target" "--seeds=$corpus"
# a seed takes a tenth of a second or so: with one for each second most of the time goes to what is made of them
find "$corpus" -name 'seed-*' | sort -R | tail -n "+$((seconds + 1))" | xargs -r rm -f
seeds=$(find "$corpus" -type f | wc -l)
status=0
# a second is far more than one use needs; sixteen edits more than anybody has looked at by hand
"$target" -max_total_time="$seconds" -max_len=384 -timeout=60 -rss_limit_mb=2048 -artifact_prefix="$found" \
    -print_final_stats=1 "$@" "$corpus" >"$directory/log" 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
    tail -n 60 "$directory/log"
    for input in "$found"*; do "$target" "--show=$input"; done
fi
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$directory/log")
edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$directory/log" | tail -n 1)
echo "fuzzed files: $seeds seeds, ${runs:-0} runs, ${edges:-0} edges, $(find "$corpus" -type f | wc -l) inputs kept, status $status"
if [ "$status" -eq 0 ] && [ "${runs:-0}" -le "$seeds" ]; then
    echo "nothing was made of the seeds in $seconds s"
    exit 1
fi
exit "$status"
