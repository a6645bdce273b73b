// Every shared byte of what became of a dead-letter topic's letters: a word for each cell of each partition. A file
// `letters` of the topic, made by who first replays or purges some:
//
//   0                              4096             8192
//   +------------------------------+----------------+---------------------+---------------------+--
//   | FileHeader, LettersGeometry  | LettersControl | word[N], partition 0 | word[N], partition 1 | ...
//   +------------------------------+----------------+---------------------+---------------------+--
//   written once                    whoever has the letters in hand, one client at a time
//
// Writers of each field, and the sync points that order them (docs/memory-order.md has the table):
//   owner          who takes the letters in hand; its holder; anybody after proof of death (CAS)   LETTERS
//   all else       the owner alone                                                                LETTERS
//   replayed ...   the owner, relaxed; nobody decides by them
//
// A word is 0 or `offset << 2 | what`: that letter is settled, for ever. 1: replayed, 2: purged. The word of a later
// letter in the same cell takes its place, when the letter itself has long left the log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/file_header.hpp"
#include "layout/partition.hpp"
#include "platform/memory.hpp"

namespace ringmain::layout {

/// Which words the file has. Follows FileHeader, written once.
struct LettersGeometry {
    std::uint64_t records;  // N, the topic's
    std::uint32_t partitions;
    std::uint32_t reserved;
};
static_assert(sizeof(LettersGeometry) == 16);
static_assert(offsetof(LettersGeometry, records) == 0);
static_assert(offsetof(LettersGeometry, partitions) == 8);

inline constexpr std::size_t kReplayNameWords = 32;  // 256 bytes: a topic's name has at most 249

/// Who has the letters in hand, and the one letter that is being published.
///
///   +0    owner        0, or the client's word
///   +128  pending      1: the letter `partition`, `offset` was, or was about to be, published to partition
///   `to_partition` of the
///                      topic `to_*` under `sequence` of this topic's producer name; whether it was, that log tells
///   +192  to_name      words of text
///   +448  replayed     letters that were replayed, and purged, since the file was made
template <class M>
struct LettersControl {
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> owner;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> pending;
    typename M::template Atomic<std::uint64_t> partition;
    typename M::template Atomic<std::uint64_t> offset;
    typename M::template Atomic<std::uint64_t> sequence;
    typename M::template Atomic<std::uint64_t> to_partition;
    typename M::template Atomic<std::uint64_t> to_id_low;
    typename M::template Atomic<std::uint64_t> to_id_high;
    typename M::template Atomic<std::uint64_t> to_name_length;
    std::array<typename M::template Atomic<std::uint64_t>, kReplayNameWords> to_name;
    typename M::template Atomic<std::uint64_t> replayed;
    typename M::template Atomic<std::uint64_t> purged;
    std::byte reserved[kPageBytes - 464];
};

namespace proof {
using Letters = LettersControl<platform::HostMemory>;
static_assert(sizeof(Letters) == kPageBytes && alignof(Letters) == kLineBytes);
static_assert(offsetof(Letters, owner) == 0);
static_assert(offsetof(Letters, pending) == 128);
static_assert(offsetof(Letters, partition) == 136);
static_assert(offsetof(Letters, offset) == 144);
static_assert(offsetof(Letters, sequence) == 152);
static_assert(offsetof(Letters, to_partition) == 160);
static_assert(offsetof(Letters, to_id_low) == 168);
static_assert(offsetof(Letters, to_id_high) == 176);
static_assert(offsetof(Letters, to_name_length) == 184);
static_assert(offsetof(Letters, to_name) == 192);
static_assert(offsetof(Letters, replayed) == 448);
static_assert(offsetof(Letters, purged) == 456);
}  // namespace proof

inline constexpr std::uint64_t kLettersGeometryAt = sizeof(FileHeader);
inline constexpr std::uint64_t kLettersControlAt = kPageBytes;
inline constexpr std::uint64_t kLettersWordsAt = kLettersControlAt + kPageBytes;

[[nodiscard]] constexpr std::uint64_t letters_file_bytes(const LettersGeometry& geometry) noexcept {
    const std::uint64_t bytes = kLettersWordsAt + geometry.partitions * geometry.records * sizeof(std::uint64_t);
    return (bytes + kPageBytes - 1) & ~std::uint64_t{kPageBytes - 1};
}

}  // namespace ringmain::layout
