// `keeper.lock`: which byte of it a keeper holds, and what it wrote there for people.
#include "keeper_lock.hpp"

#include <charconv>
#include <string>

#include "platform/files.hpp"

namespace ringmain {

std::uint32_t pid_in_keeper_lock(const std::filesystem::path& file) noexcept {
    constexpr std::size_t kPidDigitsMax = 7;
    const std::string text = platform::read_text(file, kPidDigitsMax + 1);
    std::uint32_t pid = 0;
    const char* const end = std::from_chars(text.data(), text.data() + text.size(), pid).ptr;
    return end - text.data() <= static_cast<std::ptrdiff_t>(kPidDigitsMax) ? pid : 0;
}

}  // namespace ringmain
