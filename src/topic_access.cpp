// Who may use a topic's files.
#include "topic_access.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <string>

#include "platform/rights.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

constexpr std::uint32_t kModeMax = 0666;
constexpr std::uint32_t kNobodysId = std::numeric_limits<std::uint32_t>::max();  // chown(2) takes it for "leave it"

[[noreturn]] void refuse(std::string_view topic, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, std::string(topic), "topic '" + std::string(topic) + "': " + what);
}

void check_id(std::string_view topic, const char* option, const std::optional<std::uint32_t>& id) {
    if (id == kNobodysId)
        refuse(topic,
               std::string(option) + " " + std::to_string(*id) + " is outside 0 to " + std::to_string(kNobodysId - 1));
}

}  // namespace

void check_topic_access(std::string_view topic, const TopicAccess& access) {
    check_id(topic, "owner", access.owner);
    check_id(topic, "group", access.group);
    if (!access.mode || (*access.mode & ~kModeMax) == 0)
        return;
    std::array<char, 16> octal{};
    std::snprintf(octal.data(), octal.size(), "%04o", static_cast<unsigned>(*access.mode));
    refuse(topic, std::string("mode ") + octal.data() + " has other bits than those of 0666 (read and write)");
}

void set_access(const TopicFiles& topic, const TopicAccess& access) {
    const std::filesystem::path meta = meta_path(topic.directory());
    for (const TopicFiles::SharedFile& file : topic.shared_files()) {
        if (file.path == meta &&
            platform::set_rights_of(topic.directory(), meta.filename().c_str(), file.identity, access))
            return;
    }
    throw Error(ErrorCode::topic_deleted, topic.name(),
                "topic '" + topic.name() + "' was deleted or replaced, and its access was not changed");
}

}  // namespace ringmain
