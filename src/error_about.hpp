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

[[nodiscard]] inline std::string partition_text(std::string_view topic, std::uint32_t partition) {
    return "topic '" + std::string(topic) + "' partition " + std::to_string(partition);
}

}  // namespace ringmain
