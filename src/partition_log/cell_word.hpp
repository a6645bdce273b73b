// The word of a cell: which offset it last stood for, and what became of that offset. It only grows.
#pragma once

#include <cstdint>

namespace ringmain::partition_log {

enum class CellState : std::uint64_t {
    unused = 0,       // only in the word 0
    committed = 1,    // the record of the offset is in the cell
    quarantined = 2,  // the offset's ticket was closed; its late holder may still write the cell's bytes
    released = 3,     // the offset holds no record, and nobody will write the cell late
};

[[nodiscard]] constexpr std::uint64_t cell_word(std::uint64_t offset, CellState state) noexcept {
    return offset << 2 | static_cast<std::uint64_t>(state);
}
[[nodiscard]] constexpr std::uint64_t offset_of(std::uint64_t word) noexcept { return word >> 2; }
[[nodiscard]] constexpr CellState state_of(std::uint64_t word) noexcept { return static_cast<CellState>(word & 3); }

/// The word names this offset or a later one: the offset's ticket is decided.
[[nodiscard]] constexpr bool decided(std::uint64_t word, std::uint64_t offset) noexcept {
    return word != 0 && offset_of(word) >= offset;
}

/// A producer entry's ticket word.
inline constexpr std::uint64_t kIdle = 0;
inline constexpr std::uint64_t kTaking = 1;
[[nodiscard]] constexpr std::uint64_t holding(std::uint64_t first) noexcept { return first << 2 | 2; }

/// An extent's word.
enum class ExtentState : std::uint64_t { free = 0, owned = 1, sealed = 2 };
inline constexpr std::uint64_t kExtentValueMask = (std::uint64_t{1} << 62) - 1;
inline constexpr std::uint64_t kGenerationMask = (std::uint64_t{1} << 48) - 1;
[[nodiscard]] constexpr ExtentState extent_state(std::uint64_t word) noexcept { return static_cast<ExtentState>(word >> 62); }
[[nodiscard]] constexpr std::uint64_t owned_extent(std::uint32_t slot, std::uint64_t generation) noexcept {
    return std::uint64_t{1} << 62 | std::uint64_t{slot} << 48 | (generation & kGenerationMask);
}
/// `end`: one more than the last offset committed from the extent; 0 if nothing was.
[[nodiscard]] constexpr std::uint64_t sealed_extent(std::uint64_t end) noexcept {
    return end == 0 ? 0 : std::uint64_t{2} << 62 | end;
}
[[nodiscard]] constexpr std::uint64_t sealed_end(std::uint64_t word) noexcept { return word & kExtentValueMask; }

}  // namespace ringmain::partition_log
