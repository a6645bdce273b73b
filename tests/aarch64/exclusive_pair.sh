#!/bin/sh
# exclusive_pair.sh COMPILER ROOT: the 16-byte compare-and-swap of 64-bit ARM, as machine code. Between the exclusive load and the
# exclusive store there may be no access to memory and no call: the architecture promises progress only then, and a processor may
# fail the store for ever; qemu never does. And neither variant may be a call of a library, whose lock would be private.
set -eu
compiler=$1 root=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/swap.cpp" <<'CPP'
#include "platform/cas16.hpp"
bool swap(void* word, ringmain::platform::Halves& expected, ringmain::platform::Halves desired) {
    return ringmain::platform::compare_exchange_16(word, expected, desired);
}
CPP
checked=0
for architecture in armv8-a armv8.1-a; do
    for level in -O0 -Og -O2 -Os; do
        "$compiler" -std=c++20 -march="$architecture" "$level" -I"$root/src" -c "$scratch/swap.cpp" -o "$scratch/swap.o"
        "${compiler%g++}objdump" -dr "$scratch/swap.o" >"$scratch/code"
        if grep -q 'R_AARCH64_.*__\(atomic\|aarch64\|sync\)' "$scratch/code"; then
            echo "$architecture $level: a call of a library" >&2
            exit 1
        fi
        if [ "$architecture" = armv8.1-a ]; then
            grep -q caspal "$scratch/code" || { echo "$architecture $level: no caspal" >&2; exit 1; }
        else
            between=$(awk '$3 == "stlxp" { inside = 0 } inside { print $3 } $3 == "ldaxp" { inside = 1; pairs++ } END { if (!pairs) print "none" }' \
                "$scratch/code")
            if echo "$between" | grep -qvx 'cmp\|ccmp\|csel'; then
                echo "$architecture $level: between ldaxp and stlxp:" $between >&2
                exit 1
            fi
        fi
        checked=$((checked + 1))
    done
done
echo "aarch64: compare-and-swap of 16 bytes right in $checked builds"
