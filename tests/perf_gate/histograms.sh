#!/bin/sh
# Every latency that bench_open_loop measured is in its histograms, in order.   histograms.sh BENCH_OPEN_LOOP
set -eu
command -v python3 >/dev/null || {
    echo "skipped: no python3, which reads them"
    exit 4
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" --rounds 2 --scale 0.02 --only "Ringmain at 50 %" --histograms "$work/all.jsonl" --json "$work/all.json" >/dev/null
python3 - "$work" <<'PYTHON'
import json, sys
work = sys.argv[1]
lines = [json.loads(line) for line in open(work + "/all.jsonl")]
[result] = json.load(open(work + "/all.json"))["measurements"]
[all] = lines
lowest = [bucket[0] for bucket in all["buckets"]]
assert all["name"] == result["name"] == "Ringmain at 50 %" and all["rounds"] == 2, all["name"]
assert lowest == sorted(set(lowest)), "buckets are not in order"
assert sum(count for _, count in all["buckets"]) >= 2 * 1000, "values are missing"
assert lowest[-1] <= result["extras"]["max"]["max"] < lowest[-1] * 1.01 + 2, "the longest one is missing"
PYTHON
