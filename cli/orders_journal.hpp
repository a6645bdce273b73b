// What a member did, entry by entry, in memory that outlives the member: the truth that all counts are taken from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>

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

/// Memory for entries, shared with every child that is forked from now on.
class JournalMemory {
public:
    /// Throws std::system_error.
    explicit JournalMemory(std::size_t bytes);
    JournalMemory(JournalMemory&& other) noexcept;
    JournalMemory& operator=(JournalMemory&&) = delete;
    ~JournalMemory();

    [[nodiscard]] void* data() const noexcept { return data_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Written by one process, which may be killed at any moment; read by the one that made it. An entry is there once it
/// is counted.
template <class EntryType>
class JournalOf {
public:
    /// Throws std::system_error.
    explicit JournalOf(std::uint64_t entries_max)
        : memory_(sizeof(Header) + entries_max * sizeof(EntryType)),
          header_(new (memory_.data()) Header),
          entries_max_(entries_max) {}

    /// Throws std::runtime_error if it is full.
    void append(const EntryType& entry) {
        const std::uint64_t count = header_->count.load(std::memory_order_relaxed);  // relaxed: written here alone
        if (count == entries_max_)
            throw std::runtime_error("the journal is full");
        new (first() + count) EntryType(entry);
        header_->count.store(count + 1, std::memory_order_release);  // release JOURNAL_ENTRY
    }
    [[nodiscard]] std::span<const EntryType> entries() const noexcept {
        return {first(), header_->count.load(std::memory_order_acquire)};  // acquire JOURNAL_ENTRY
    }

private:
    struct Header {
        std::atomic<std::uint64_t> count{0};
    };
    static_assert(alignof(EntryType) <= sizeof(Header), "the entries begin right behind the header");
    [[nodiscard]] EntryType* first() const noexcept { return reinterpret_cast<EntryType*>(header_ + 1); }

    JournalMemory memory_;
    Header* header_;
    std::uint64_t entries_max_;
};

using Journal = JournalOf<Entry>;

}  // namespace ringmain::cli::orders
