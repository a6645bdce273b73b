// What a member did, entry by entry, in memory that outlives the member: the truth that all counts are taken from.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

namespace ringmain::cli::orders {

struct Entry {
    enum class Kind : std::uint8_t {
        handled,    ///< The event at `offset`: `order` and `step`.
        acquired,   ///< The partition is this member's; it begins at `offset`, the group's committed position.
        given_up,   ///< The partition goes to another member, with everything handled committed.
        lost,       ///< The partition is another member's already.
        committed,  ///< Up to `offset`.
        fenced,     ///< A commit was refused, because the partition is another member's.
        evicted,    ///< A poll said so. Concerns no partition.
    };

    std::uint64_t tick = 0;  ///< One order for the handlings and tenures of all members of a group.
    std::int64_t time_ns = 0;
    std::uint64_t offset = 0;
    std::uint32_t order = 0;
    std::uint8_t step = 0;  ///< 1 to 4.
    std::uint8_t partition = 0;
    Kind kind = Kind::handled;
};

/// Written by one process, which may be killed at any moment; read by the one that made it. An entry is there once it
/// is counted.
class Journal {
public:
    /// Shared with every child that is forked from now on. Throws std::system_error.
    explicit Journal(std::uint64_t entries_max);
    Journal(Journal&& other) noexcept;
    Journal& operator=(Journal&&) = delete;
    ~Journal();

    /// Throws std::runtime_error if it is full.
    void append(const Entry& entry);
    [[nodiscard]] std::span<const Entry> entries() const noexcept;

private:
    struct Header {
        std::atomic<std::uint64_t> count{0};
    };
    [[nodiscard]] Entry* first() const noexcept { return reinterpret_cast<Entry*>(header_ + 1); }
    [[nodiscard]] std::size_t bytes() const noexcept { return sizeof(Header) + entries_max_ * sizeof(Entry); }

    Header* header_ = nullptr;
    std::uint64_t entries_max_ = 0;
};

}  // namespace ringmain::cli::orders
