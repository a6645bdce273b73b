// Deleting a topic: first it is dead, then its handles are told, then its name is free, then its memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace ringmain {

class Error;
class TopicFiles;

/// What lies under a topic's name.
enum class NameState : std::uint8_t {
    free,     ///< Nothing.
    live,     ///< A topic, or files of one that cannot be read (opening it says why).
    dead,     ///< A deleted topic that has not been moved away yet.
    foreign,  ///< Something that Ringmain did not put there.
};

/// Looks at a topic's directory without opening the topic. Throws Error: permission_denied, io.
[[nodiscard]] NameState state_of_name(const std::filesystem::path& topic);

/// Marks a topic dead; from then on its name cannot be opened and every open handle finds out. False: somebody else
/// did. Throws Error: permission_denied, not_found. `deleter`: the caller's client word.
bool mark_dead(const TopicFiles& topic, std::uint64_t deleter);

/// Tells the handles that look at the topic's `readers`, or its `groups`, that it is gone. Requires the right to write the file.
void tell_handles(const TopicFiles& topic) noexcept;
void tell_members(const TopicFiles& topic) noexcept;

/// Moves a dead topic out of the way, to `grave` (a new name in the broker's trash), and removes it there, as far as `files_left`
/// says. Anybody may, for any dead topic. Waits up to `patience` for another process that is doing the same; false if it did not finish.
/// True: the name is free, or holds another topic. Throws Error: permission_denied, io.
bool bury(const std::filesystem::path& broker, const std::string& name, const std::filesystem::path& grave,
          std::chrono::milliseconds patience, std::uint64_t& files_left);
/// The same, removing all of it.
bool bury(const std::filesystem::path& broker, const std::string& name, const std::filesystem::path& grave,
          std::chrono::milliseconds patience);

/// Why a topic cannot be opened is that its bytes are wrong. So are those of one of another version, or of an incomplete one: the
/// broker itself is of this version, and a topic is complete before it has its name.
[[nodiscard]] bool is_beyond_opening(const Error& error) noexcept;

/// Removes a topic that cannot be opened, since its files contradict themselves or each other: the one that is there, whatever
/// it was. False: look again, it can be opened or `grave` exists. Throws Error: permission_denied (topic.meta may not be written),
/// not_ready (whoever else moves something takes longer than `patience`), not_found, io.
bool bury_damaged(const std::filesystem::path& broker, const std::string& name, const std::filesystem::path& grave,
                  std::chrono::milliseconds patience, std::uint64_t deleter);

}  // namespace ringmain
