// The rights of what comes to be in a topic's directory after the topic.
#include "rights_of_topic.hpp"

#include <cerrno>
#include <cstdint>
#include <optional>

#include "platform/rights.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

constexpr std::uint32_t kReadAndWrite = 06;

/// Only what differs: whoever owns it already need not have the right to give it away.
TopicAccess missing_rights(const std::filesystem::path& made, const TopicAccess& wanted) {
    const TopicAccess now = platform::rights_of(made);
    return {now.owner == wanted.owner ? std::nullopt : wanted.owner,
            now.group == wanted.group ? std::nullopt : wanted.group, wanted.mode};
}

}  // namespace

void give_rights_of_topic(const TopicFiles& topic, const std::filesystem::path& made, GivesRights give) {
    TopicAccess access = missing_rights(made, platform::rights_of(groups_path(topic.directory())));
    try {
        give(made, access);
    } catch (const Error& error) {
        const std::uint32_t mode = access.mode.value_or(0);
        const bool everybodys = (mode & kReadAndWrite) == kReadAndWrite;
        const bool groups = (mode >> 3 & kReadAndWrite) == kReadAndWrite;
        if (error.system_error() != EPERM || !(everybodys || groups))
            throw;
        access.owner.reset();
        if (everybodys)
            access.group.reset();
        give(made, access);
    }
}

}  // namespace ringmain
