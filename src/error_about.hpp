// Errors whose text begins with the object they are about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ringmain/error.hpp"

namespace ringmain {

[[nodiscard]] inline Error error_about(ErrorCode code, const std::string& object, std::string_view what) {
    return Error(code, object, object + " " + std::string(what));
}

/// What the call was about is not there, or not any more.
[[nodiscard]] inline bool is_gone(const Error& error) noexcept {
    return error.code() == ErrorCode::not_found || error.code() == ErrorCode::topic_deleted;
}

[[nodiscard]] inline std::string partition_text(std::string_view topic, std::uint32_t partition) {
    return "topic '" + std::string(topic) + "' partition " + std::to_string(partition);
}

[[nodiscard]] inline std::string group_text(std::string_view group, std::string_view topic) {
    return "group '" + std::string(group) + "' of topic '" + std::string(topic) + "'";
}

}  // namespace ringmain
