#!/bin/sh
# Runs one model of this directory through spin.
#   check.sh sound DIRECTORY MODEL BOUNDS... [--long BOUNDS...]   nothing is violated, and every state was reached
#   check.sh bugs DIRECTORY MODEL "FAULT BOUNDS"...               each planted fault is found
# BOUNDS: definitions for the preprocessor, one argument per run. Those behind --long are for RINGMAIN_LONG=1 only.
# Prints one line of figures. Works in DIRECTORY, which it makes and removes.
set -eu
what=$1 directory=$2 model=$3
shift 3
source=$(cd "$(dirname "$0")" && pwd)/$model.pml

fail() { echo "$model: $*" >&2; exit 1; }
if ! command -v spin >/dev/null || ! command -v "${CC:-cc}" >/dev/null; then
    echo "skipped: spin or a C compiler is not installed (Debian: spin, gcc)"
    exit 4
fi
[ -f "$source" ] || fail "there is no $source"
rm -rf "$directory"
mkdir -p "$directory"
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# verify "DEFINITION..." COMPILER-FLAG: spin's own verifier for these bounds; what it says is in pan.log. Its death is a failure.
verify() {
    rm -f pan pan.*
    # shellcheck disable=SC2086  # lists of words
    spin -a $1 "$source" >spin.log 2>&1 || { cat spin.log >&2; fail "spin does not accept it with $1"; }
    # shellcheck disable=SC2086
    "${CC:-cc}" "$2" -w -DSAFETY -DCOLLAPSE -DVECTORSZ=512 -DMEMLIM="$memory_mb" -o pan pan.c >cc.log 2>&1 ||
        { cat cc.log >&2; fail "the verifier does not compile with $1"; }
    ./pan -m1000000 -w22 >pan.log 2>&1 || { cat pan.log >&2; fail "the verifier died with $1"; }
}

# complete "DEFINITION...": the search went everywhere and found nothing.
complete() {
    grep -q 'errors: 0' pan.log && ! grep -q 'max search depth too small\|Search not completed\|out of memory' pan.log && return
    cat pan.log >&2
    fail "violated, or not searched to the end, with $1"
}

number_before() { sed -n "s/^ *\([0-9.e+]*\) $1.*/\1/p" pan.log; }

sound() {
    memory_mb=3500
    [ -z "${RINGMAIN_LONG:-}" ] || memory_mb=7000
    runs=0 states=0 depth=0 seconds=0
    for bounds in "$@"; do
        if [ "$bounds" = --long ]; then
            [ -n "${RINGMAIN_LONG:-}" ] && continue
            break
        fi
        verify "$bounds" -O2
        complete "$bounds"
        found=$(number_before 'states, stored')
        reached=$(sed -n 's/.*depth reached \([0-9]*\),.*/\1/p' pan.log)
        took=$(sed -n 's/^pan: elapsed time \([0-9.e+-]*\) seconds/\1/p' pan.log)
        runs=$((runs + 1))
        states=$(awk "BEGIN { printf \"%.0f\", $states + $found }")
        seconds=$(awk "BEGIN { print $seconds + $took }")
        [ "$reached" -le "$depth" ] || depth=$reached
        echo "  $found states, depth $reached, $took s: ${bounds:-as they stand}"
    done
    [ "$runs" -gt 0 ] && [ "$states" -gt 0 ] || fail "nothing was searched"
    echo "spin $model: $states states in $runs runs, all of them, depth $depth, $seconds s, 0 violations"
}

bugs() {
    memory_mb=2000
    found=0
    for bug in "$@"; do
        name=${bug%% *} bounds=
        [ "$name" = "$bug" ] || bounds=${bug#* }
        grep -q "BUG_$name\$\|BUG_$name " "$source" || fail "no fault $name is planted there"
        verify "-DBUG_$name $bounds" -O0
        if grep -q 'errors: 1' pan.log && grep -q '^pan:1: \(assertion violated\|invalid end state\)' pan.log; then
            found=$((found + 1))
        else
            tail -n 15 pan.log >&2
            echo "$model: $name was not found" >&2
        fi
    done
    echo "spin $model: planted faults found $found/$#"
    [ $# -gt 0 ] && [ "$found" -eq $# ]
}

"$what" "$@"
