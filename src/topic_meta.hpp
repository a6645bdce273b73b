// A topic's options in the bytes of its topic.meta.
#pragma once

#include <filesystem>
#include <string_view>

#include "layout/clients.hpp"
#include "layout/topic.hpp"
#include "platform/mapping.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// Requires a mapping of at least layout::kTopicFileBytes.
[[nodiscard]] inline layout::TopicMeta& topic_meta(const platform::Mapping& file) noexcept {
    return *reinterpret_cast<layout::TopicMeta*>(file.data() + layout::kTopicMetaAt);
}

/// Deleted: the state names a client. Bytes that somebody scribbled there are damage, and no deletion.
[[nodiscard]] inline bool is_marked_dead(const layout::TopicMeta& meta) noexcept {
    const std::uint64_t state = meta.state.load(std::memory_order_acquire);  // acquire TOPIC_STATE
    return (state & 0xffffffffU) != 0 && (state & 0xffffffffU) <= layout::kClientsMax && state >> 32 != 0;
}

/// Requires checked options and a checked name.
void write_topic_meta(const platform::Mapping& file, std::string_view name, const TopicOptions& options) noexcept;

/// Throws Error corrupt if the options are not legal or the file is another topic's. Any bytes are good input.
[[nodiscard]] TopicOptions read_topic_meta(const platform::Mapping& file, const std::filesystem::path& path,
                                           std::string_view name);

}  // namespace ringmain
