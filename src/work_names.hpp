// Names of what is in the making, or on its way out: they say who is at work, so that others can tell a leftover.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "layout/clients.hpp"

namespace ringmain {

/// "<slot>-<incarnation>-<number>".
[[nodiscard]] inline std::string work_name(layout::ClientId maker, std::uint64_t number) {
    return std::to_string(maker.slot) + "-" + std::to_string(maker.incarnation) + "-" + std::to_string(number);
}

/// The client in such a name. Any text is good input.
[[nodiscard]] inline std::optional<layout::ClientId> maker_of(std::string_view name) noexcept {
    layout::ClientId maker;
    const char* const end = name.data() + name.size();
    const auto [slot_end, slot_error] = std::from_chars(name.data(), end, maker.slot);
    if (slot_error != std::errc() || slot_end == end || *slot_end != '-') return std::nullopt;
    const auto [incarnation_end, error] = std::from_chars(slot_end + 1, end, maker.incarnation);
    if (error != std::errc() || incarnation_end == end || *incarnation_end != '-') return std::nullopt;
    return maker;
}

}  // namespace ringmain
