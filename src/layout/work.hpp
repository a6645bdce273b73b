// Every shared byte of the work on a group's records: a word for each offset, of a work queue or of a group whose failures are
// retried. A directory `queues/<group slot>-<born>` of the topic, one file `workers` and one file per partition in it:
//
//   workers        0                           4096
//                  +---------------------------+-------------------------+
//                  | FileHeader, WorkSettings  | WorkerSlot, 128 B, 1024 |
//                  +---------------------------+-------------------------+
//                  written once                 workers
//
//   <p>.<gen>      0                           4096           8192
//                  +---------------------------+--------------+----------+
//                  | FileHeader, WorkGeometry  | WorkControl  | word[W]  |
//                  +---------------------------+--------------+----------+
//                  written once                 workers, the keeper
//
// A directory comes to be whole, before the group does. The generation is that of the partition's word in the topic's `groups`
// when the file was made; a reset makes a new one, so that nobody who holds the old one reaches anybody's records. The files of
// a stream group have generation 0 for ever; their locks are those of a tenure and hold its generation in place of a time.
//
// Writers of each field, and the sync points that order them (docs/memory-order.md has the table):
//   WorkerSlot.owner   who takes the slot; its holder; anybody after proof of death (CAS)          WORKER
//   WorkerSlot.held    its holder (seq_cst: announced before the others are summed)                WORKER_HELD
//   WorkerSlot.*       its holder, relaxed; nobody decides by them but by last_deadline            WORKER_HELD
//   frontier           who claims offsets (CAS); only grows                                        FRONTIER
//   next_due           workers (CAS); a hint                                                       (none)
//   word               workers and the keeper, by CAS from the exact old word                      WORK
//   rewound            streams: who moves the group, before it does; the next owner, when it is done with it (CAS)  REWOUND
//   boot               who opens the words first in a boot (CAS); words that it changes are changed as all are      (none)
//   WorkControl.*      relaxed counters
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/file_header.hpp"
#include "layout/partition.hpp"
#include "platform/memory.hpp"

namespace ringmain::layout {

inline constexpr std::uint32_t kWorkersMax = 1024;  // a slot has 10 bits in a word
inline constexpr std::uint64_t kWorkWindowMax = std::uint64_t{1} << 24;
inline constexpr std::size_t kDeadLetterNameMax = 256;

/// What is decided when the work begins. Follows FileHeader, written once; but for the id and partitions of the dead-letter topic,
/// which an administrator replaces when that topic was deleted and made anew.
struct WorkSettings {
    std::uint64_t group_born;
    std::uint32_t group_slot;
    std::uint32_t kind;                    // 1 a queue, 2 a stream group with retries
    std::uint64_t lock_ms;                 // of a queue
    std::uint64_t backoff_first_ms;
    std::uint64_t backoff_max_ms;
    std::uint32_t backoff_factor_permille;
    std::uint32_t backoff_jitter_permille;
    std::uint32_t delivery_limit;          // 0: none
    std::uint32_t exhausted;               // 0 dead letter, 1 skip, 2 stop
    std::uint32_t expired;                 // time-to-live over: 0 dead letter, 1 skip
    std::uint32_t in_flight_max;           // of all workers together; 0: none
    std::uint64_t letters_id_low;          // id of the dead-letter topic, all 0: there is none
    std::uint64_t letters_id_high;
    std::uint32_t letters_partitions;
    std::uint32_t letters_name_length;
    std::array<char, kDeadLetterNameMax> letters_name;
};
static_assert(sizeof(WorkSettings) == 344);
static_assert(offsetof(WorkSettings, group_born) == 0);
static_assert(offsetof(WorkSettings, group_slot) == 8);
static_assert(offsetof(WorkSettings, kind) == 12);
static_assert(offsetof(WorkSettings, lock_ms) == 16);
static_assert(offsetof(WorkSettings, backoff_first_ms) == 24);
static_assert(offsetof(WorkSettings, backoff_max_ms) == 32);
static_assert(offsetof(WorkSettings, backoff_factor_permille) == 40);
static_assert(offsetof(WorkSettings, backoff_jitter_permille) == 44);
static_assert(offsetof(WorkSettings, delivery_limit) == 48);
static_assert(offsetof(WorkSettings, exhausted) == 52);
static_assert(offsetof(WorkSettings, expired) == 56);
static_assert(offsetof(WorkSettings, in_flight_max) == 60);
static_assert(offsetof(WorkSettings, letters_id_low) == 64);
static_assert(offsetof(WorkSettings, letters_id_high) == 72);
static_assert(offsetof(WorkSettings, letters_partitions) == 80);
static_assert(offsetof(WorkSettings, letters_name_length) == 84);
static_assert(offsetof(WorkSettings, letters_name) == 88);

/// A worker of the group.
///
///   +0   owner          0 free, or incarnation << 32 | client slot + 1
///   +8   held           records that it holds, or is about to
///   +16  last_deadline  no lock of it lasts longer; ms of the work clock
///   +24  in_flight_max  its own cap
///   +32  since_ns       since the Unix epoch; for show, as all below
///   +40  acquired, acked, nacked, released, rejected, renewed, refused: counts of this holder
template <class M>
struct WorkerSlot {
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> owner;
    typename M::template Atomic<std::uint64_t> held;
    typename M::template Atomic<std::uint64_t> last_deadline;
    typename M::template Atomic<std::uint64_t> in_flight_max;
    typename M::template Atomic<std::uint64_t> since_ns;
    typename M::template Atomic<std::uint64_t> acquired;
    typename M::template Atomic<std::uint64_t> acked;
    typename M::template Atomic<std::uint64_t> nacked;
    typename M::template Atomic<std::uint64_t> released;
    typename M::template Atomic<std::uint64_t> rejected;
    typename M::template Atomic<std::uint64_t> renewed;
    typename M::template Atomic<std::uint64_t> refused;
    std::byte reserved[kLineBytes - 96];
};

/// Which words a file has. Follows FileHeader, written once.
struct WorkGeometry {
    std::uint64_t group_born;
    std::uint32_t group_slot;
    std::uint32_t partition;
    std::uint64_t window;      // W, a power of two
    std::uint32_t generation;
    std::uint32_t reserved;
};
static_assert(sizeof(WorkGeometry) == 32);
static_assert(offsetof(WorkGeometry, group_born) == 0);
static_assert(offsetof(WorkGeometry, group_slot) == 8);
static_assert(offsetof(WorkGeometry, partition) == 12);
static_assert(offsetof(WorkGeometry, window) == 16);
static_assert(offsetof(WorkGeometry, generation) == 24);

/// The words that all workers share, and counters of what is rare.
///
///   +0    frontier   next offset never handed out; 0: none yet. A claim ticket, not a truth
///   +128  next_due   ms of the work clock: nothing below the frontier is due before; a hint
///   +256  expired    locks that ran out and were taken from their holder, and so on
///   +312  rewound    streams: 0, or the generation with which the group was moved, or is about to be: words say nothing any more
///   +320  boot       which boot the times in the words are of; 0: none yet
template <class M>
struct WorkControl {
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> frontier;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> next_due;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> expired;
    typename M::template Atomic<std::uint64_t> returned;        // from workers that are proven dead
    typename M::template Atomic<std::uint64_t> dead_lettered;
    typename M::template Atomic<std::uint64_t> skipped;         // exhausted or expired, without a letter
    typename M::template Atomic<std::uint64_t> lost;            // to retention, before they were finished
    typename M::template Atomic<std::uint64_t> letters_refused;  // attempts: the dead-letter topic was full or refused
    typename M::template Atomic<std::uint64_t> redelivered;
    typename M::template Atomic<std::uint64_t> rewound;
    typename M::template Atomic<std::uint64_t> boot;
    std::byte reserved[kPageBytes - 328];
};

namespace proof {
using Worker = WorkerSlot<platform::HostMemory>;
static_assert(sizeof(Worker) == 128 && alignof(Worker) == kLineBytes);
static_assert(offsetof(Worker, owner) == 0);
static_assert(offsetof(Worker, held) == 8);
static_assert(offsetof(Worker, last_deadline) == 16);
static_assert(offsetof(Worker, in_flight_max) == 24);
static_assert(offsetof(Worker, since_ns) == 32);
static_assert(offsetof(Worker, acquired) == 40);
static_assert(offsetof(Worker, acked) == 48);
static_assert(offsetof(Worker, nacked) == 56);
static_assert(offsetof(Worker, released) == 64);
static_assert(offsetof(Worker, rejected) == 72);
static_assert(offsetof(Worker, renewed) == 80);
static_assert(offsetof(Worker, refused) == 88);
using Work = WorkControl<platform::HostMemory>;
static_assert(sizeof(Work) == kPageBytes && alignof(Work) == kLineBytes);
static_assert(offsetof(Work, frontier) == 0);
static_assert(offsetof(Work, next_due) == 128);
static_assert(offsetof(Work, expired) == 256);
static_assert(offsetof(Work, returned) == 264);
static_assert(offsetof(Work, dead_lettered) == 272);
static_assert(offsetof(Work, skipped) == 280);
static_assert(offsetof(Work, lost) == 288);
static_assert(offsetof(Work, letters_refused) == 296);
static_assert(offsetof(Work, redelivered) == 304);
static_assert(offsetof(Work, rewound) == 312);
static_assert(offsetof(Work, boot) == 320);
}  // namespace proof

inline constexpr std::uint64_t kWorkSettingsAt = sizeof(FileHeader);
inline constexpr std::uint64_t kWorkersAt = kPageBytes;
inline constexpr std::uint64_t kWorkersFileBytes = kWorkersAt + kWorkersMax * sizeof(WorkerSlot<platform::HostMemory>);
static_assert(kWorkSettingsAt + sizeof(WorkSettings) <= kWorkersAt);
inline constexpr std::uint64_t kWorkGeometryAt = sizeof(FileHeader);
inline constexpr std::uint64_t kWorkControlAt = kPageBytes;
inline constexpr std::uint64_t kWorkWordsAt = kWorkControlAt + kPageBytes;

[[nodiscard]] constexpr std::uint64_t work_file_bytes(std::uint64_t window) noexcept {
    return (kWorkWordsAt + window * 8 + kPageBytes - 1) & ~std::uint64_t{kPageBytes - 1};
}

}  // namespace ringmain::layout
