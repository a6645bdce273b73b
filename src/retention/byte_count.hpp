// How many bytes of keys, values and headers lie in a log, counted cell by cell as the log grows.
//
// A step looks at kCellsPerStep cells at most. If no more were appended since the last one, each is counted. If more were,
// the new ones are cut into as many runs of equal length, and one cell of each, taken at random, speaks for its run: an
// even step would see only the even records of a producer that writes small and large ones in turn. The error of such a step is
// that of a sample of 4096: about 1 % if lengths spread by two thirds of their mean, and less over many steps. (A limit below
// what is appended between two steps is overrun anyway.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "partition_log/cell_word.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/record_parts.hpp"

namespace ringmain::retention {

inline constexpr std::uint64_t kCellsPerStep = 4096;

/// Private memory; one thread at a time.
template <class M>
class ByteCount {
public:
    explicit ByteCount(const partition_log::LogMemory<M>& log) noexcept : log_(log) {}

    /// Counts on from `offset`, before which `total` bytes lie. Up to `exact_until` every cell is looked at, in as many steps
    /// as that takes.
    void begin(std::uint64_t offset, std::uint64_t total, std::uint64_t exact_until) noexcept {
        walked_ = offset;
        total_ = total;
        exact_until_ = exact_until;
    }

    /// Goes on at `offset`: what lies before was not counted, so that the total begins anew.
    void skip_to(std::uint64_t offset) noexcept {
        walked_ = offset;
        total_ = 0;
    }

    /// One step of `cells` looks towards `end`. `reached(offset, total)` is called for places at which the total is known.
    template <class Reached>
    void walk(std::uint64_t end, std::uint64_t cells, const Reached& reached) {
        exact_until_ = std::min(exact_until_, end);  // it moves back only if somebody scribbles
        if (walked_ >= end) return;
        if (walked_ < exact_until_ || end - walked_ <= cells) return walk_each(std::min(end, walked_ + cells), reached);
        sample(end, cells, reached);
    }

    /// Everything before it is counted.
    [[nodiscard]] std::uint64_t walked() const noexcept { return walked_; }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    /// The records that were there at the beginning are still being counted.
    [[nodiscard]] bool behind() const noexcept { return walked_ < exact_until_; }

private:
    /// The record at an offset: its bytes, or that its ticket is open. One that holds no record has none; what was lapped
    /// or cannot be counts for nothing.
    struct Look {
        bool open = false;
        std::uint64_t bytes = 0;
    };
    [[nodiscard]] Look look(std::uint64_t offset) const noexcept {
        const auto& cell = log_.cell(offset);
        const std::uint64_t word = cell.word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT
        if (word != partition_log::cell_word(offset, partition_log::CellState::committed)) {
            return {!partition_log::decided(word, offset), 0};
        }
        const std::uint64_t shape = cell.shape.load(std::memory_order_relaxed);  // relaxed: ordered by the word; lapped ones are gone
        const auto length = static_cast<std::uint32_t>(shape);
        const auto flags = static_cast<std::uint16_t>(shape >> 48);
        const std::uint64_t extra = partition_log::RecordParts::stamp_bytes(flags) +
                                    ((flags & layout::kHasHeaders) != 0 ? sizeof(std::uint32_t) : 0);
        return {false, length > log_.record_bytes_max() || length < extra ? 0 : length - extra};
    }

    /// Stops at a ticket that is open: its holder or the keeper decides it soon.
    template <class Reached>
    void walk_each(std::uint64_t until, const Reached& reached) {
        while (walked_ < until) {
            const Look found = look(walked_);
            if (found.open) return;
            ++walked_;
            total_ += found.bytes;
            reached(walked_, total_);
        }
    }

    template <class Reached>
    void sample(std::uint64_t end, std::uint64_t runs, const Reached& reached) {
        const std::uint64_t from = walked_;
        for (std::uint64_t run = 0; run < runs; ++run) {
            const std::uint64_t run_end = from + (end - from) * (run + 1) / runs;
            const std::uint64_t length = run_end - walked_;
            total_ += look(walked_ + draw() % length).bytes * length;
            walked_ = run_end;
            reached(walked_, total_);
        }
    }

    /// xorshift64.
    std::uint64_t draw() noexcept {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return random_;
    }

    partition_log::LogMemory<M> log_;
    std::uint64_t walked_ = 0;
    std::uint64_t total_ = 0;
    std::uint64_t exact_until_ = 0;
    std::uint64_t random_ = 0x9e3779b97f4a7c15;
};

}  // namespace ringmain::retention
