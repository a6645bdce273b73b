#!/bin/sh
# Runs all benchmarks, writes bench/results/<date>-<commit>.json, -open-loop.jsonl, latest.md and the plots. About 10 minutes, at most 20.
#
#   bench/run.sh [--quick] [--build DIR] [--out DIR] [PROGRAM ARGUMENT...]
#
# --quick shows in seconds that everything runs; its figures mean nothing and go to a temporary directory.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/release
out=$root/bench/results
quick=
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=--quick ;;
        --build) build=$2; shift ;;
        --out) out=$2; shift ;;
        -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) break ;;
    esac
    shift
done
programs=$build/bench
[ -x "$programs/bench_limits" ] || {
    echo "bench/run.sh: no benchmarks in $build; ./dev bench builds and runs them" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
[ -z "$quick" ] || out=$work

commit=$(git -C "$root" -c safe.directory='*' rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
changed() { git -C "$root" -c safe.directory='*' status --porcelain -- include src bench ':!bench/results'; }
[ "$commit" = unknown ] || [ -z "$(changed)" ] || commit=$commit-modified

# Seconds for each program: the sum is what keeps the whole within 20 minutes. One that has too little time does fewer rounds.
budgets="
    limits:60 peers:100 peer_round_trip:50 sizes:75 producers:60 readers:80 partitions:50 open_loop:70 crash:90
    footprint:45 seek:35 round_trip:60 stream:110 bulk:45 two_producers:50 attached_readers:45 idle:40 system_calls:20
    groups:45 queues:45"
parts=
for entry in $budgets; do
    program=${entry%%:*} budget=${entry#*:}
    case $program in
        system_calls) rounds="--rounds 1" ;;
        idle | peers | peer_round_trip | sizes | producers | readers | partitions | open_loop | crash | footprint | seek)
            rounds="--rounds 5" ;;
        *) rounds= ;;
    esac
    # shellcheck disable=SC2086  # lists of words
    "$programs/bench_$program" $rounds --budget "$budget" $quick "$@" --json "$work/$program.json" \
        --histograms "$work/$program.histograms"
    parts="$parts $work/$program.json"
done

seconds=0.2
[ -z "$quick" ] || seconds=0.005
"$programs/bench_primitives" --benchmark_min_time=$seconds --benchmark_repetitions=3 \
    --benchmark_report_aggregates_only=true --benchmark_out="$work/primitives.json" --benchmark_out_format=json \
    >"$work/primitives.txt" 2>&1 || {
    cat "$work/primitives.txt" >&2
    exit 1
}

mkdir -p "$out"
result=$out/$(date -u +%Y-%m-%d)-$commit.json
# shellcheck disable=SC2086
"$programs/bench_report" --commit "$commit" --date "$(date -u +%Y-%m-%d)" --primitives "$work/primitives.json" \
    --why "$root/bench/short.md" --why-link ../short.md --json "$result" --table "$out/latest.md" $parts
if command -v python3 >/dev/null; then
    "$root/bench/plot.py" "$result" "$out"
else
    echo "bench/run.sh: no plots without python3" >&2
fi
cp "$work/open_loop.histograms" "${result%.json}-open-loop.jsonl"
echo
if [ -n "$quick" ]; then
    sed -n '/^| ratio/,/^$/p' "$out/latest.md"
else
    echo "written: bench results in $out"
fi
