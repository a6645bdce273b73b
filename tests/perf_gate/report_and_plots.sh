#!/bin/sh
# What a benchmark program measures gets into the table and into a plot that is well-formed; a ratio that is short leads to its
# paragraph.   report_and_plots.sh BENCH_PARTITIONS BENCH_REPORT SOURCE_DIRECTORY
set -eu
partitions=$1 report=$2 root=$3
command -v python3 >/dev/null || {
    echo "skipped: no python3, which draws the plots"
    exit 4
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "report_and_plots: $*" >&2
    exit 1
}

"$partitions" --quick --only "publish, 1" --json "$work/partitions.json" >/dev/null
# Two ratios whose figures are known: one that nobody can miss, and one that nobody can meet.
python3 - "$work/partitions.json" <<'PYTHON'
import json, sys
path = sys.argv[1]
part = json.load(open(path))
good = dict(name="met", numerator="a", median=1.0, min=1.0, max=1.0, relation=">=", wanted=0.5, verdict="pass")
part["ratios"] = [good, dict(good, name="missed", verdict="short"), dict(good, name="unexplained", verdict="short")]
json.dump(part, open(path, "w"))
PYTHON
echo "A paragraph on \`missed\`." >"$work/why.md"
"$report" --date 2000-01-01 --json "$work/result.json" --table "$work/table.md" --why "$work/why.md" --why-link ../why.md \
    "$work/partitions.json"
grep -q '^| met |.*| pass |$' "$work/table.md" || fail "no ratio that passes"
grep -q '^| missed |.*| short, \[why\](../why.md) |$' "$work/table.md" || fail "no way from a short ratio to its paragraph"
grep -q '^| unexplained |.*| short, not explained yet |$' "$work/table.md" || fail "a paragraph that is missing is not missed"
grep -q '^| publish, 1 partition |' "$work/table.md" || fail "no figure of the program"

"$root/bench/plot.py" "$work/result.json" "$work" 2>"$work/left-out"
python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$work/throughput-by-partitions.svg" ||
    fail "the plot is no XML"
grep -q '>partitions<' "$work/throughput-by-partitions.svg" || fail "the plot's axis has no name"
grep -q 'nothing to draw for latency-open-loop.svg' "$work/left-out" || fail "a plot without figures is not told"
