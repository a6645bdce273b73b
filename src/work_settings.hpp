// What is decided when the work on a group's records begins: which values a file may hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "layout/work.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// WorkSettings::kind.
inline constexpr std::uint32_t kWorkOfQueue = 1;
inline constexpr std::uint32_t kWorkOfStream = 2;

/// What is wrong with settings that were found in a file, with value and limit; nothing if all of them can be. Any bytes are
/// good input.
[[nodiscard]] std::optional<std::string> fault_of(const layout::WorkSettings& settings);

/// The dead-letter topic; an empty name if there is none. Requires settings without a fault.
[[nodiscard]] std::string_view letters_name(const layout::WorkSettings& settings) noexcept;
[[nodiscard]] TopicId letters_id(const layout::WorkSettings& settings) noexcept;
/// Requires a legal topic name.
void set_letters(layout::WorkSettings& settings, std::string_view name, const TopicId& id, std::uint32_t partitions) noexcept;

/// Offsets that may have unfinished records at once, if nothing else is wished: all that the topic holds.
[[nodiscard]] std::uint64_t window_max(const TopicOptions& topic) noexcept;
/// Whether a partition of the topic can have that many words.
[[nodiscard]] bool is_window(const TopicOptions& topic, std::uint64_t window) noexcept;

}  // namespace ringmain
