// Values as JSON, alike in everything that is printed: what there is none of is null.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ringmain/position.hpp"

namespace ringmain::cli {

template <class Value>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<Value>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}
[[nodiscard]] inline nlohmann::ordered_json ms_or_null(const std::optional<std::chrono::milliseconds>& time) {
    return time ? nlohmann::ordered_json(time->count()) : nlohmann::ordered_json(nullptr);
}
/// Empty is none.
[[nodiscard]] inline nlohmann::ordered_json text_or_null(std::string_view text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(std::string(text));
}
/// 0 is none.
template <class Number>
[[nodiscard]] nlohmann::ordered_json number_or_null(Number number) {
    return number != 0 ? nlohmann::ordered_json(number) : nlohmann::ordered_json(nullptr);
}

/// Where a group or queue began: "earliest", "latest", an offset, or "@" and a time.
[[nodiscard]] nlohmann::ordered_json start_to_json(const Position& start);

/// On one line. Bytes that are not UTF-8 are shown as U+FFFD.
[[nodiscard]] inline std::string line(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ringmain::cli
