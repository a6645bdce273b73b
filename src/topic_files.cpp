// An open topic: its files, checked and mapped. Every byte found in them is input.
#include "topic_files.hpp"

#include <cstring>
#include <utility>

#include "damage.hpp"
#include "file_stamp.hpp"
#include "partition_log/doorbell.hpp"
#include "platform/files.hpp"
#include "ringmain/error.hpp"
#include "topic_meta.hpp"
#include "topic_paths.hpp"
#include "topic_retention.hpp"

namespace ringmain {

namespace {

using platform::Access;
using platform::HostMemory;
using platform::Mapping;

// A topic can be deleted and created anew while it is being opened; each time takes another process milliseconds.
constexpr int kOpenAttempts = 100;

[[noreturn]] void topic_not_found(const std::string& name, const std::filesystem::path& directory) {
    throw Error(ErrorCode::not_found, name, "topic '" + name + "' not found ('" + directory.string() + "')");
}

Mapping map_shared(const std::filesystem::path& path, std::uint64_t bytes, bool& writable) {
    try {
        writable = true;
        return Mapping(path, Access::read_write, bytes);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::permission_denied)
            throw;
    }
    writable = false;
    return Mapping(path, Access::read_only, bytes);
}

}  // namespace

TopicFiles::TopicFiles(std::filesystem::path directory, std::string name)
    : directory_(std::move(directory)), name_(std::move(name)) {
    for (int attempt = 1;; ++attempt) {
        try {
            open_once();
            return;
        } catch (const Error&) {
            if (attempt == kOpenAttempts || !replaced_meanwhile())
                throw;
        }
    }
}

void TopicFiles::open_once() {
    const std::filesystem::path path = meta_path(directory_);
    meta_ = {};
    try {
        meta_ = Mapping(path, Access::read_only, layout::kTopicFileBytes);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::not_found)
            topic_not_found(name_, directory_);
        throw;
    }
    id_ = check_stamp(meta_, path, layout::FileKind::topic);
    if (deleted())
        topic_not_found(name_, directory_);
    options_ = read_topic_meta(meta_, path, name_);
    open_readers();
    open_groups();
}

void TopicFiles::open_readers() {
    readers_ = open_part(readers_path(directory_), layout::FileKind::readers, readers_file_bytes(options_.partitions),
                         readers_writable_);
    readers_.on_truncation(replace_readers, nullptr);
}

void TopicFiles::open_groups() {
    const std::filesystem::path path = groups_path(directory_);
    const layout::GroupsGeometry expected = groups_geometry_for(options_);
    if (const auto refused = platform::cas16_refused())
        throw Error(ErrorCode::io, path.string(), "'" + path.string() + "' cannot be used: " + *refused);
    groups_file_ = open_part(path, layout::FileKind::groups, layout::groups_file_bytes(expected), groups_writable_);
    if (std::memcmp(groups_file_.data() + layout::kGroupsGeometryAt, &expected, sizeof expected) != 0) {
        throw Error(ErrorCode::corrupt, path.string(), "'" + path.string() + "' has another geometry than its topic");
    }
    groups_file_.on_truncation(replace_groups, nullptr);
    groups_ = group_table::GroupsMemory<HostMemory>(groups_file_.data(), expected);
}

Mapping TopicFiles::open_part(const std::filesystem::path& path, layout::FileKind kind, std::uint64_t bytes,
                              bool& writable) const {
    Mapping file;
    try {
        file = map_shared(path, bytes, writable);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::not_found)
            throw;
        if (deleted())
            topic_not_found(name_, directory_);
        throw Error(ErrorCode::corrupt, path.string(), "'" + path.string() + "' is missing");
    }
    check_stamp(file, path, kind, id_);
    if (file.size() < bytes) {  // the stamp has the exact size, which huge pages round up
        throw Error(ErrorCode::corrupt, path.string(),
                    "'" + path.string() + "' has " + std::to_string(file.size()) + " bytes, " +
                        std::to_string(options_.partitions) + " partitions need " + std::to_string(bytes));
    }
    return file;
}

// Between the opening of two files their directory may have become another topic's: then it is no damage.
bool TopicFiles::replaced_meanwhile() const {
    if (!meta_)
        return false;
    try {
        const Mapping now(meta_path(directory_), Access::read_only, 1);
        return now.identity() != meta_.identity();
    } catch (const Error&) {
        return true;  // it went away, and the next attempt finds that out
    }
}

bool TopicFiles::deleted() const noexcept { return is_marked_dead(topic_meta(meta_)) && has_stamp(meta_, layout::FileKind::topic, id_); }

Retention TopicFiles::retention() const noexcept {
    return has_stamp(meta_, layout::FileKind::topic, id_) ? read_retention(topic_meta(meta_)) : options_.retention;
}

void TopicFiles::check_stamps() const {
    check_whole();
    const bool sound = has_stamp(meta_, layout::FileKind::topic, id_) && has_stamp(readers_, layout::FileKind::readers, id_) &&
                       has_stamp(groups_file_, layout::FileKind::groups, id_);
    if (sound) return;
    const auto check = [this](const Mapping& file, const std::filesystem::path& path, layout::FileKind kind) {
        check_stamp(file, path, kind, id_);
    };
    check(meta_, meta_path(directory_), layout::FileKind::topic);
    check(readers_, readers_path(directory_), layout::FileKind::readers);
    check(groups_file_, groups_path(directory_), layout::FileKind::groups);
}

layout::ReaderBlock<HostMemory>* TopicFiles::readers(std::uint32_t partition) const noexcept {
    std::byte* const at = readers_.data() + layout::kReadersAt + partition * layout::kReaderBlockBytes;
    return reinterpret_cast<layout::ReaderBlock<HostMemory>*>(at);
}

std::filesystem::path TopicFiles::partition_path(std::uint32_t partition) const {
    return ringmain::partition_path(directory_, partition);
}

std::vector<TopicFiles::SharedFile> TopicFiles::shared_files() const {
    const auto shared = [](std::filesystem::path path, const Mapping& file, bool writable) {
        return SharedFile{std::move(path), file.identity(), writable, file.size(), file.truncated()};
    };
    return {shared(meta_path(directory_), meta_, true), shared(readers_path(directory_), readers_, readers_writable_),
            shared(groups_path(directory_), groups_file_, groups_writable_)};
}

bool TopicFiles::in_place() const noexcept {
    try {
        check_stamps();
        for (const SharedFile& file : shared_files()) {
            const auto now = platform::shape_of(file.path);
            if (!now || now->identity != file.identity || now->bytes < file.bytes) return false;
        }
        return true;
    } catch (const std::exception&) {
        return false;  // opening it anew tells why
    }
}

void TopicFiles::check_whole() const {
    if (!meta_.truncated() && readers_whole() && groups_whole())
        return;
    for (const SharedFile& file : shared_files()) {
        if (file.truncated)
            throw truncated_error(file.path, file.bytes);
    }
}

void TopicFiles::check_whole(const Mapping& file, std::uint32_t partition) const {
    check_whole();
    if (file.truncated())
        throw truncated_error(partition_path(partition), file.size());
}

partition_log::LogMemory<HostMemory> TopicFiles::log_in(const Mapping& file, std::uint32_t partition) const noexcept {
    layout::PartitionGeometry geometry = geometry_for(options_);
    geometry.partition = partition;
    return {file.data(), geometry, readers(partition), group_gates(partition)};
}

Mapping TopicFiles::map_partition(std::uint32_t partition, Access access) const {
    if (partition >= options_.partitions) {
        throw Error(ErrorCode::not_found, name_,
                    "topic '" + name_ + "' has no partition " + std::to_string(partition) +
                        " (partitions: " + std::to_string(options_.partitions) + ")");
    }
    const std::filesystem::path path = partition_path(partition);
    layout::PartitionGeometry expected = geometry_for(options_);
    expected.partition = partition;
    const std::uint64_t bytes = partition_file_bytes(expected);
    try {
        if (const auto shape = platform::shape_of(path); shape && shape->bytes < layout::kPageBytes) {
            throw Error(ErrorCode::corrupt, path.string(),
                        "'" + path.string() + "' has " + std::to_string(shape->bytes) + " bytes, " + std::to_string(bytes) + " are needed");
        }
        Mapping file(path, access, layout::kPageBytes);
        check_stamp(file, path, layout::FileKind::partition, id_);
        if (file.size() < bytes || std::memcmp(&geometry_of(file), &expected, sizeof expected) != 0) {
            throw Error(ErrorCode::corrupt, path.string(),
                        "'" + path.string() + "' has another geometry than its topic");
        }
        file.on_truncation(replace_log, nullptr);
        return file;
    } catch (const Error& error) {
        // or its files were removed by hand, and a keeper said so
        if (deleted() || partition_log::Doorbell<HostMemory>(*readers(partition)).deleted())
            throw Error(ErrorCode::topic_deleted, name_, "topic '" + name_ + "' was deleted");
        if (error.code() != ErrorCode::not_found)
            throw;
        throw Error(ErrorCode::corrupt, path.string(), "'" + path.string() + "' is missing");
    }
}

const layout::PartitionGeometry& geometry_of(const Mapping& partition) noexcept {
    return *reinterpret_cast<const layout::PartitionGeometry*>(partition.data() + sizeof(layout::FileHeader));
}

}  // namespace ringmain
