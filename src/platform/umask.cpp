// What this process's umask is.
#include "platform/umask.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace ringmain::platform {

std::optional<std::uint32_t> current_umask() {
    constexpr std::string_view kName = "Umask:\t";
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        std::uint32_t mask = 0;
        if (!line.starts_with(kName))
            continue;
        const auto [end, error] = std::from_chars(line.data() + kName.size(), line.data() + line.size(), mask, 8);
        return error == std::errc() ? std::optional(mask) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace ringmain::platform
