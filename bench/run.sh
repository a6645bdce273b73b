#!/bin/sh
# Runs all benchmarks, writes bench/results/<date>-<commit>.json and bench/results/latest.md. About six minutes.
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

order="limits round_trip stream bulk two_producers attached_readers idle system_calls groups queues"
parts=
for program in $order; do
    case $program in
        system_calls) rounds="--rounds 1" ;;
        idle) rounds="--rounds 5" ;;
        *) rounds= ;;
    esac
    # shellcheck disable=SC2086  # lists of words
    "$programs/bench_$program" $rounds $quick "$@" --json "$work/$program.json"
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
# shellcheck disable=SC2086
"$programs/bench_report" --commit "$commit" --date "$(date -u +%Y-%m-%d)" --primitives "$work/primitives.json" \
    --json "$out/$(date -u +%Y-%m-%d)-$commit.json" --table "$out/latest.md" $parts
echo
if [ -n "$quick" ]; then
    sed -n '/^| ratio/,/^$/p' "$out/latest.md"
else
    echo "written: bench results in $out"
fi
