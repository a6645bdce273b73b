// Reading one offset: look, use or copy, then validate. Wait-free; writes nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "partition_log/cell_word.hpp"
#include "partition_log/log_memory.hpp"
#include "partition_log/record_parts.hpp"

namespace ringmain::partition_log {

enum class Found : std::uint8_t {
    record,   // view is filled; believe it only after valid()
    skip,     // the offset's ticket was closed: there is no record, step over it
    lapped,   // the record was here and is gone
    nothing,  // not there yet
    corrupt,  // the bytes contradict the layout
};

template <class M>
class Reader {
public:
    explicit Reader(const LogMemory<M>& log) noexcept : log_(log) {}

    using Cell = typename LogMemory<M>::Cell;
    /// What is at `offset`?
    [[nodiscard, gnu::always_inline]] Found look(std::uint64_t offset, RecordView& view) const noexcept {
        const Cell& cell = log_.cell(offset);
        const std::uint64_t word = cell.word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
        if (word == cell_word(offset, CellState::committed)) [[likely]] return take_apart(offset, cell, view);
        return judge(offset, word);
    }

    /// Fetches the cell of `offset` into the cache. Only of one that is far from the log end: close behind a producer it would
    /// pull away the lines that are written next.
    [[gnu::always_inline]] void prefetch(std::uint64_t offset) const noexcept {
        const auto* const cell = reinterpret_cast<const std::byte*>(&log_.cell(offset));
        M::prefetch_for_read(cell);
        M::prefetch_for_read(cell + (std::uint64_t{1} << log_.cell_shift) - kCacheLine);
    }

    /// The same for the beginning of a body that is not in its cell; the processor then goes on by itself.
    [[gnu::always_inline]] void prefetch_body(std::uint64_t offset) const noexcept {
        constexpr std::uint64_t kMost = 4 * kCacheLine;
        const Cell& cell = log_.cell(offset);
        const std::uint64_t guess = cell.shape.load(std::memory_order_relaxed);  // relaxed: the copy looks again
        if ((guess >> 48 & layout::kInExtent) == 0) [[likely]] return;
        const std::uint64_t length = static_cast<std::uint32_t>(guess);
        if (const std::byte* const body = in_extent(cell, length)) {
            for (std::uint64_t at = 0; at < length && at < kMost; at += kCacheLine) M::prefetch_for_read(body + at);
        }
    }

    /// The timestamp of the first record in [from, to), or nothing. Records that go while it looks are passed over.
    [[nodiscard]] std::optional<std::int64_t> first_timestamp(std::uint64_t from, std::uint64_t to) const noexcept {
        for (std::uint64_t offset = from; offset < to; ++offset) {
            RecordView view;
            if (look(offset, view) == Found::record && valid(offset)) return view.timestamp_ns;
        }
        return std::nullopt;
    }

    /// Whether the ticket `offset` is decided; what a reader waits for.
    [[nodiscard]] bool is_decided(std::uint64_t offset) const noexcept {
        return decided(log_.cell(offset).word.load(std::memory_order_acquire), offset);  // acquire RECORD_COMMIT, TICKET_CLOSE
    }

    /// Whether everything read of `offset` up to now was read before the log start passed it.
    [[nodiscard, gnu::always_inline]] bool valid(std::uint64_t offset) const noexcept {
        M::fence(std::memory_order_acquire);  // acquire LOG_START: after the reads of the cell
        return log_.control->log_start.load(std::memory_order_relaxed) <= offset;  // relaxed: ordered by the fence
    }

    /// Copies the viewed body; valid() must be asked afterwards. `view` then refers to the copy.
    [[gnu::always_inline]] void copy_body(RecordView& view, std::byte* to) const noexcept {
        M::copy_out(to, view.body, view.length);
        view.body = to;
    }

    [[nodiscard]] std::uint64_t log_start() const noexcept {
        return log_.control->log_start.load(std::memory_order_acquire);  // acquire LOG_START
    }
    [[nodiscard]] std::uint64_t log_end() const noexcept {
        return log_.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
    }


private:
    [[nodiscard, gnu::noinline]] Found judge(std::uint64_t offset, std::uint64_t word) const noexcept {
        if (!decided(word, offset)) return Found::nothing;
        if (state_of(word) == CellState::unused) return Found::corrupt;
        if (offset_of(word) == offset) return Found::skip;
        return valid(offset) ? Found::corrupt : Found::lapped;  // a later word without a moved log_start
    }

    [[nodiscard, gnu::always_inline]] Found take_apart(std::uint64_t offset, const Cell& cell, RecordView& view) const noexcept {
        // relaxed: the word's acquire orders them for a record that is still there; otherwise valid() says no
        view.timestamp_ns = static_cast<std::int64_t>(cell.timestamp.load(std::memory_order_relaxed));
        const std::uint64_t shape = cell.shape.load(std::memory_order_relaxed);
        view.length = static_cast<std::uint32_t>(shape);
        view.key_bytes = static_cast<std::uint16_t>(shape >> 32);
        view.flags = static_cast<std::uint16_t>(shape >> 48);
        if (find_body(cell, view) && split_body<M>(view)) return Found::record;
        return valid(offset) ? Found::corrupt : Found::lapped;
    }

    [[nodiscard, gnu::always_inline]] bool find_body(const Cell& cell, RecordView& view) const noexcept {
        if ((view.flags & layout::kInExtent) == 0) [[likely]] {
            view.body = cell.inline_bytes();
            return view.length <= log_.inline_bytes;
        }
        view.body = in_extent(cell, view.length);
        return view.body != nullptr;
    }

    /// The body in an extent, or null if the cell names none. Values in and out, so that callers can keep the view in registers.
    [[nodiscard, gnu::noinline]] const std::byte* in_extent(const Cell& cell, std::uint64_t length) const noexcept {
        Location location = 0;
        M::copy_out(&location, cell.inline_bytes(), sizeof location);
        if (location >= log_.payload_bytes) return nullptr;
        if (length > log_.record_bytes_max()) return nullptr;
        if ((location & (log_.extent_bytes - 1)) + length > log_.extent_bytes) return nullptr;
        return log_.payload + location;
    }

    static constexpr std::uint64_t kCacheLine = 64;
    LogMemory<M> log_;
};

}  // namespace ringmain::partition_log
