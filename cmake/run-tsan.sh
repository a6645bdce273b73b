#!/bin/sh
# Runs a program built with ThreadSanitizer. The runtimes of GCC 12 and 13 and of Clang up to 17 give up ("unexpected
# memory mapping") where the kernel randomizes more than 28 bits of an address, so randomization is switched off there.
bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
if [ "$bits" -gt 28 ] && setarch -R true 2>/dev/null; then
    exec setarch -R "$@"
fi
exec "$@"
