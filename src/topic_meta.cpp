// A topic's options in the bytes of its topic.meta.
#include "topic_meta.hpp"

#include <algorithm>
#include <string>

#include "ringmain/error.hpp"
#include "topic_geometry.hpp"
#include "topic_retention.hpp"

namespace ringmain {

namespace {

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& what) {
    throw Error(ErrorCode::corrupt, path.string(), "'" + path.string() + "' " + what);
}

template <std::size_t N>
std::string text_in(const std::array<char, N>& bytes, std::size_t length, std::size_t length_max,
                    const std::filesystem::path& path, const char* what) {
    static_assert(N > 0);
    if (length > length_max || length > N)
        damaged(path, std::string("has an impossible length of its ") + what);
    return {bytes.data(), length};
}

}  // namespace

void write_topic_meta(const platform::Mapping& file, std::string_view name, const TopicOptions& options) noexcept {
    layout::TopicMeta& meta = topic_meta(file);
    meta.partitions = options.partitions;
    meta.cell_bytes = options.cell_bytes;
    meta.records = options.records;
    meta.payload_bytes = options.payload_bytes;
    meta.first_offset = options.first_offset;
    meta.producer_slots = options.producer_slots;
    meta.groups = static_cast<std::uint16_t>(options.groups);
    meta.members = static_cast<std::uint16_t>(options.members);
    store_retention(meta, options.retention);
    meta.when_full = static_cast<std::uint32_t>(options.when_full);
    meta.type_size = options.value_type.size;
    meta.type_alignment = options.value_type.alignment;
    meta.name_length = static_cast<std::uint16_t>(name.size());
    meta.type_name_length = static_cast<std::uint16_t>(options.value_type.name.size());
    std::copy(name.begin(), name.end(), meta.name.begin());
    std::copy(options.value_type.name.begin(), options.value_type.name.end(), meta.type_name.begin());
}

TopicOptions read_topic_meta(const platform::Mapping& file, const std::filesystem::path& path, std::string_view name) {
    const layout::TopicMeta& meta = topic_meta(file);
    const std::string own_name = text_in(meta.name, meta.name_length, kTopicNameMax, path, "name");
    if (own_name != name)
        damaged(path, "is the file of another topic");

    TopicOptions options;
    options.partitions = meta.partitions;
    options.cell_bytes = meta.cell_bytes;
    options.records = meta.records;
    options.payload_bytes = meta.payload_bytes;
    options.first_offset = meta.first_offset;
    options.producer_slots = meta.producer_slots;
    options.groups = meta.groups;
    options.members = meta.members;
    options.retention = retention_as_found(meta);
    const std::uint32_t when_full = meta.when_full;
    if (when_full > static_cast<std::uint32_t>(WhenFull::block))
        damaged(path, "has an unknown policy");
    options.when_full = static_cast<WhenFull>(when_full);
    options.value_type = {text_in(meta.type_name, meta.type_name_length, kTypeNameMax, path, "type name"),
                          meta.type_size, meta.type_alignment};
    try {
        check_topic_options(name, options);
    } catch (const Error& error) {
        damaged(path, std::string("holds options that no topic can have: ") + error.what());
    }
    return options;
}

}  // namespace ringmain
