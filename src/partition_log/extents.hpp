// Memory for records that do not fit a cell: each producer bumps through an extent of its own.
//
//   free --take--> owned(slot, generation) --seal--> sealed(end) --take, once log_start >= end--> owned ...
//
// `end` is one more than the last offset committed from the extent. A dead producer's extent is sealed by recovery with
// log_end. Space that was reserved and not committed is lost until the extent is taken again; nobody else ever writes there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "partition_log/cell_word.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/log_start.hpp"
#include "ringmain/status.hpp"

namespace ringmain::partition_log {

/// Bodies begin on cache lines, so that two producers never share one and values are aligned.
inline constexpr std::uint64_t kBodyAlignment = 64;
[[nodiscard]] constexpr std::uint64_t body_footprint(std::uint64_t bytes) noexcept {
    return (bytes + kBodyAlignment - 1) & ~(kBodyAlignment - 1);
}

/// The extent of one attached producer.
template <class M>
class ExtentWriter {
public:
    ExtentWriter(const LogMemory<M>& log, std::uint32_t slot, std::uint64_t generation) noexcept
        : log_(log), owned_word_(owned_extent(slot, generation)), next_(slot) {}

    /// Whether `bytes` more fit without changing the extent.
    [[nodiscard]] bool fits(std::uint64_t bytes) const noexcept {
        return current_ && position_ + body_footprint(bytes) <= log_.extent_bytes;
    }

    /// Changes to a fresh extent. False: none can be had; refusal() says why. Requires that nothing reserved in the current
    /// extent is still to be committed.
    [[nodiscard]] bool change() noexcept {
        seal();
        return take_free() || take_sealed();
    }

    /// Why change() had no extent: gates hold everything (block policy), or the state words are not to be believed.
    [[nodiscard]] Status refusal() const noexcept {
        const auto oldest = oldest_sealed();
        // acquire TICKET: what was sealed was committed before
        if (oldest && sealed_end(oldest->word) > log_.control->log_end.load(std::memory_order_acquire)) return Status::corrupt;
        return log_.block ? Status::would_block : Status::exhausted;
    }

    /// Reserves `bytes` and returns their position in the payload area. Requires fits(bytes).
    std::uint64_t reserve(std::uint64_t bytes) noexcept {
        const std::uint64_t at = *current_ * log_.extent_bytes + position_;
        position_ += body_footprint(bytes);
        prefetch_next(bytes);
        return at;
    }

    /// Takes the last reservation back, if it is the last.
    void unreserve(std::uint64_t at, std::uint64_t bytes) noexcept {
        if (at % log_.extent_bytes + body_footprint(bytes) == position_) position_ = at % log_.extent_bytes;
    }

    /// A record in the current extent was committed at `offset`.
    void committed(std::uint64_t offset) noexcept { end_ = offset + 1; }

    /// Gives the extent back for reuse after log_start has passed what was committed from it.
    void seal() noexcept {
        if (!current_) return;
        // release EXTENT: our stores and commits come before the next owner's
        log_.extents[*current_].word.store(sealed_extent(end_), std::memory_order_release);
        current_.reset();
        M::point("extent.sealed");
    }

private:
    /// A next record of the same size; of large ones the first lines, which the processor then goes on from by itself.
    void prefetch_next(std::uint64_t bytes) const noexcept {
        constexpr std::uint64_t kLine = 64;
        constexpr std::uint64_t kMost = 4 * kLine;
        const std::byte* const next = log_.payload + *current_ * log_.extent_bytes + position_;
        for (std::uint64_t ahead = 0; ahead < bytes && ahead < kMost; ahead += kLine) M::prefetch_for_write(next + ahead);
    }

    [[nodiscard]] bool take_free() noexcept {
        for (std::uint32_t i = 0; i < log_.extent_count; ++i) {
            const std::uint32_t index = (next_ + i) % log_.extent_count;
            if (log_.extents[index].word.load(std::memory_order_relaxed) == 0 && take(index, 0)) return true;
        }
        return false;
    }

    [[nodiscard]] bool take_sealed() noexcept {
        while (const auto oldest = oldest_sealed()) {
            const std::uint64_t end = sealed_end(oldest->word);
            if (!make_reusable(end)) return false;
            if (take(oldest->index, oldest->word)) return true;  // else: another producer took it; look again
        }
        return false;
    }

    /// Makes log_start >= end. False: gates hold it (block policy), or the word is damaged.
    [[nodiscard]] bool make_reusable(std::uint64_t end) noexcept {
        if (log_.control->log_start.load(std::memory_order_acquire) >= end) return true;  // acquire LOG_START
        if (end > log_.control->log_end.load(std::memory_order_acquire)) return false;    // acquire TICKET
        if (log_.block) return advance_start(log_, end).start >= end;
        raise(log_.control->log_start, end, std::memory_order_release);  // release LOG_START; the fence in take() orders the bytes
        return true;
    }

    struct Sealed {
        std::uint32_t index = 0;
        std::uint64_t word = 0;
    };
    [[nodiscard]] std::optional<Sealed> oldest_sealed() const noexcept {
        std::optional<Sealed> oldest;
        for (std::uint32_t i = 0; i < log_.extent_count; ++i) {
            const std::uint32_t index = (next_ + i) % log_.extent_count;
            // acquire EXTENT: log_end is not below its end, or the word is damaged
            const std::uint64_t word = log_.extents[index].word.load(std::memory_order_acquire);
            if (extent_state(word) != ExtentState::sealed && word != 0) continue;
            if (!oldest || sealed_end(word) < sealed_end(oldest->word)) oldest = Sealed{index, word};
        }
        return oldest;
    }

    [[nodiscard]] bool take(std::uint32_t index, std::uint64_t from) noexcept {
        M::point("extent.taking");
        // acquire EXTENT: the last owner's stores; lost: taken by another. `end` only grows over an extent's lives: no ABA
        if (!log_.extents[index].word.compare_exchange_strong(from, owned_word_, std::memory_order_acq_rel,
                                                              std::memory_order_relaxed)) {
            return false;
        }
        M::fence(std::memory_order_release);  // release LOG_START: before the first store into the extent
        current_ = index;
        next_ = index + 1;
        position_ = 0;
        end_ = 0;
        return true;
    }

    LogMemory<M> log_;
    std::uint64_t owned_word_;
    std::optional<std::uint64_t> current_;
    std::uint64_t position_ = 0;
    std::uint64_t end_ = 0;
    std::uint32_t next_;
};

}  // namespace ringmain::partition_log
