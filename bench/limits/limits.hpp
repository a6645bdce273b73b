// What the machine itself can do between two processes: the limits that every figure of the log is held against.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/common/histogram.hpp"

namespace ringmain::bench {

/// Logical processors of the two processes; -1 leaves one where the scheduler puts it.
struct CpuPair {
    int first = -1;
    int second = -1;
};

/// One cache line goes back and forth: each process waits for the other's number and stores the next one. Nanoseconds
/// of half a round trip, of every round trip after the first tenth.
Histogram line_ping_pong(CpuPair cpus, std::uint64_t round_trips);

/// The same with a line for each direction, as two queues would do it.
Histogram two_line_ping_pong(CpuPair cpus, std::uint64_t round_trips);

/// Full 64-byte lines from one core to the other through a ring: the producer writes all eight words, the sequence
/// number last; the consumer waits for the number, reads all words and says where it is every eighth of the ring. Lines
/// a second.
double line_stream_per_s(CpuPair cpus, std::size_t ring_bytes, std::uint64_t lines);

/// Blocks from one core to the other: the producer writes the first word of each line of a private block and copies the
/// block into a shared ring; the consumer copies it out into a private block and reads those words. Bytes a second.
double bulk_copy_bytes_per_s(CpuPair cpus, std::size_t ring_bytes, std::size_t block_bytes, std::uint64_t blocks);

/// memcpy of 16 KiB blocks by one process, from one block through memory of `span_bytes`. Bytes a second.
double memcpy_bytes_per_s(int cpu, std::size_t span_bytes, std::uint64_t blocks);

/// Two processes add one to the same word as often as they can. Additions a second of both together.
double contended_fetch_add_per_s(CpuPair cpus, std::uint64_t additions);

/// From just before the FUTEX_WAKE to the woken process running. Nanoseconds.
Histogram futex_wake_to_run(CpuPair cpus, std::uint64_t wakes);

/// The floor of every latency that counts from when a record was due: how late two processes notice a moment that comes every
/// `interval_ns`, though they do nothing but read the clock. Nanoseconds.
Histogram hiccups(CpuPair cpus, double seconds, double interval_ns);

/// Nanoseconds that one reading of a clock costs.
struct ClockCosts {
    double ticks_ns = 0;
    double realtime_ns = 0;
    double realtime_coarse_ns = 0;
    double monotonic_ns = 0;
};
ClockCosts clock_costs(int cpu, std::uint64_t readings);

}  // namespace ringmain::bench
