// Every shared byte of a topic's `readers` file: what consumers write. Consumers may have write access to this file and
// none to the logs.
//
//   0                 4096                +stride               +2 x stride
//   +-----------------+-------------------+---------------------+----
//   | FileHeader (64) | ReaderBlock of p0 | ReaderBlock of p1   | ...
//   +-----------------+-------------------+---------------------+----
//
// Writers of each field:
//   doorbell         low half: sleepers (set the bit), producers (clear it); high half: flags, by fetch_or   DOORBELL
//   close_request    consumers that may not write the log; served by producers and the keeper (CAS to 0)      CLOSE_REQUEST
//   counters         consumers, relaxed; nobody decides by them
//   GateEntry        its holder; `owner` also by recovery after proof of death (CAS)                         GATE
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/clients.hpp"
#include "layout/file_header.hpp"
#include "platform/memory.hpp"

namespace ringmain::layout {

inline constexpr std::uint32_t kGatesMax = 16;
inline constexpr std::size_t kGateNameMax = 63;

/// A reader that holds log_start back on a block topic. It gates if `owner` has begun and `word` is held.
///
///   +0   word   0 none, or offset << 1 | 1: everything from offset on is kept
///   +8   owner  0 free, or incarnation << 32 | client slot + 1; with kOwnerBegins until `word` is the owner's own
///   +16  name   for people; written before word
template <class M>
struct GateEntry {
    alignas(128) typename M::template Atomic<std::uint64_t> word;
    typename M::template Atomic<std::uint64_t> owner;
    std::array<typename M::template Atomic<std::uint64_t>, 8> name;
    std::byte reserved[128 - 80];
};

/// What the readers of one partition share.
///
///   +0    doorbell       low 32 bits: futex word (bit 0: somebody sleeps; the rest counts wakes); high 32: DoorbellFlag
///   +128  close_request  0, or offset + 1 of a ticket that a reader without write access is held up by
///   +256  gaps, lost     gap events and records lost, over all readers
///   +384  gates
template <class M>
struct ReaderBlock {
    alignas(128) typename M::template Atomic<std::uint64_t> doorbell;
    alignas(128) typename M::template Atomic<std::uint64_t> close_request;
    alignas(128) typename M::template Atomic<std::uint64_t> gaps;
    typename M::template Atomic<std::uint64_t> lost_records;
    std::byte reserved[128 - 16];
    GateEntry<M> gates[kGatesMax];
};

enum DoorbellFlag : std::uint64_t {
    kSleepers = 1,                                // somebody sleeps on the low half
    kTopicDeleted = std::uint64_t{1} << 32,       // never cleared
    kCloseRequested = std::uint64_t{1} << 33,
    kPartitionDamaged = std::uint64_t{1} << 34,   // its log cannot be used; set and cleared by a keeper
};

inline constexpr std::uint64_t kReadersAt = 4096;
inline constexpr std::uint64_t kReaderBlockBytes = sizeof(ReaderBlock<platform::HostMemory>);

namespace proof {
using Gate = GateEntry<platform::HostMemory>;
static_assert(sizeof(Gate) == 128);
static_assert(offsetof(Gate, word) == 0);
static_assert(offsetof(Gate, owner) == 8);
static_assert(offsetof(Gate, name) == 16);
using Block = ReaderBlock<platform::HostMemory>;
static_assert(sizeof(Block) == 384 + kGatesMax * 128);
static_assert(offsetof(Block, doorbell) == 0);
static_assert(offsetof(Block, close_request) == 128);
static_assert(offsetof(Block, gaps) == 256);
static_assert(offsetof(Block, lost_records) == 264);
static_assert(offsetof(Block, gates) == 384);
}  // namespace proof

}  // namespace ringmain::layout
