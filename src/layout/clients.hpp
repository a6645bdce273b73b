// Every shared byte of the broker's `clients` file: who is attached to this directory.
//
//   0                 4096           +128
//   +-----------------+--------------+--------------+----
//   | FileHeader (64) | ClientEntry  | ClientEntry  | ...   kClientsMax entries
//   +-----------------+--------------+--------------+----
//
// A client lives as long as it holds an open-file-description lock on byte kClientLockAt + slot of this file; the kernel
// lets go of it when the process ends, however it ends. Only the holder of the lock writes its entry.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout/file_header.hpp"
#include "platform/memory.hpp"

namespace ringmain::layout {

inline constexpr std::uint32_t kClientsMax = 1024;

///   +0   incarnation  grows at each use of the slot; a client is {slot, incarnation}      CLIENT
///   +8   pid          in the client's own pid namespace; informative
///   +16  pid_namespace inode of that namespace; informative
///   +24  start_ticks  start time of the process in clock ticks since boot; informative
///   +32  since_ns     nanoseconds since the Unix epoch
template <class M>
struct ClientEntry {
    alignas(128) typename M::template Atomic<std::uint64_t> incarnation;
    typename M::template Atomic<std::uint64_t> pid;
    typename M::template Atomic<std::uint64_t> pid_namespace;
    typename M::template Atomic<std::uint64_t> start_ticks;
    typename M::template Atomic<std::uint64_t> since_ns;
    std::byte reserved[128 - 40];
};

namespace proof {
using Client = ClientEntry<platform::HostMemory>;
static_assert(sizeof(Client) == 128);
static_assert(offsetof(Client, incarnation) == 0);
static_assert(offsetof(Client, pid) == 8);
static_assert(offsetof(Client, pid_namespace) == 16);
static_assert(offsetof(Client, start_ticks) == 24);
static_assert(offsetof(Client, since_ns) == 32);
}  // namespace proof

inline constexpr std::uint64_t kClientsAt = 4096;
inline constexpr std::uint64_t kClientsFileBytes =
    kClientsAt + kClientsMax * sizeof(ClientEntry<platform::HostMemory>);
inline constexpr std::uint64_t kClientLockAt = std::uint64_t{1} << 40;  // lock bytes lie beyond the data

/// How other files name a client: 0 nobody, or incarnation << 32 | slot + 1.
struct ClientId {
    std::uint32_t slot = 0;
    std::uint32_t incarnation = 0;
    friend bool operator==(ClientId, ClientId) = default;

    [[nodiscard]] constexpr std::uint64_t word() const noexcept {
        return std::uint64_t{incarnation} << 32 | (std::uint64_t{slot} + 1);
    }
    /// Requires word != 0.
    [[nodiscard]] static constexpr ClientId from_word(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word & 0xffffffffU) - 1, static_cast<std::uint32_t>(word >> 32)};
    }
};

/// Set in the owner word of a producer's slot or of a gate from its claim until its tenure begins: what else the entry
/// holds is still the last owner's, and means nothing.
inline constexpr std::uint64_t kOwnerBegins = std::uint64_t{1} << 31;

/// The client that an owner word names.
[[nodiscard]] constexpr std::uint64_t client_of(std::uint64_t owner) noexcept { return owner & ~kOwnerBegins; }
[[nodiscard]] constexpr bool has_begun(std::uint64_t owner) noexcept {
    return owner != 0 && (owner & kOwnerBegins) == 0;
}

}  // namespace ringmain::layout
