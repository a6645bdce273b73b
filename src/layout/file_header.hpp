// The first bytes of every file: what it is, which layout it has, and whether it is complete.
//
//   +0   magic          "RINGMAIN"
//   +8   layout_version grows when the meaning of bytes changes; not the library's version
//   +12  kind           FileKind
//   +16  fingerprint    hash of all sizes and offsets in src/layout
//   +24  file_bytes     the whole file
//   +32  topic_id       16 random bytes; zero in files of the broker
//   +48  created_ns     nanoseconds since the Unix epoch
//   +56  creator_pid    informative
//   +60  ready          kReady, stored last; nobody reads further without it
//
// Written once by the creator before the file gets its final name. Readers check all of it against the real file size
// before they follow anything.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringmain::layout {

inline constexpr std::array<char, 8> kMagic = {'R', 'I', 'N', 'G', 'M', 'A', 'I', 'N'};
inline constexpr std::uint32_t kLayoutVersion = 8;
inline constexpr std::uint32_t kReady = 0x59444145;

enum class FileKind : std::uint32_t { clients = 1, topic = 2, partition = 3, readers = 4, groups = 5, workers = 6, work = 7, letters = 8 };

struct FileHeader {
    std::array<char, 8> magic;
    std::uint32_t layout_version;
    std::uint32_t kind;
    std::uint64_t fingerprint;
    std::uint64_t file_bytes;
    std::array<std::uint8_t, 16> topic_id;
    std::uint64_t created_ns;
    std::uint32_t creator_pid;
    std::atomic<std::uint32_t> ready;
};
static_assert(sizeof(FileHeader) == 64);
static_assert(offsetof(FileHeader, magic) == 0);
static_assert(offsetof(FileHeader, layout_version) == 8);
static_assert(offsetof(FileHeader, kind) == 12);
static_assert(offsetof(FileHeader, fingerprint) == 16);
static_assert(offsetof(FileHeader, file_bytes) == 24);
static_assert(offsetof(FileHeader, topic_id) == 32);
static_assert(offsetof(FileHeader, created_ns) == 48);
static_assert(offsetof(FileHeader, creator_pid) == 56);
static_assert(offsetof(FileHeader, ready) == 60);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace ringmain::layout
