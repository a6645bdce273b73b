// The stamp at the start of every file: written by the creator, checked before anything behind it is believed.
#pragma once

#include <cstdint>
#include <filesystem>

#include "layout/file_header.hpp"
#include "platform/mapping.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// Fills the header of a new file, all but `ready`.
void write_stamp(const platform::Mapping& file, layout::FileKind kind, const TopicId& topic) noexcept;

/// Says that the file is complete. The last store of a creator.
void mark_ready(const platform::Mapping& file) noexcept;

/// Checks the header of a file of that kind, against the file's real size as well. Returns the topic it belongs to.
/// Throws Error: version_mismatch (both versions, both fingerprints), not_ready, corrupt. Any bytes are good input.
TopicId check_stamp(const platform::Mapping& file, const std::filesystem::path& path, layout::FileKind kind);

/// The same, of a file of that topic.
void check_stamp(const platform::Mapping& file, const std::filesystem::path& path, layout::FileKind kind, const TopicId& topic);

/// The same at a glance, for a file that was checked before: of that kind and topic, and of that size when it was made. No error
/// is thrown and nothing is asked of the system.
[[nodiscard]] bool has_stamp(const platform::Mapping& file, layout::FileKind kind, const TopicId& topic) noexcept;

}  // namespace ringmain
