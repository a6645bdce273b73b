// Building a topic's files where nobody sees them.
#include "topic_creation.hpp"

#include <optional>
#include <string>

#include "file_stamp.hpp"
#include "layout/partition.hpp"
#include "layout/topic.hpp"
#include "platform/files.hpp"
#include "platform/rights.hpp"
#include "ringmain/error.hpp"
#include "topic_files.hpp"
#include "topic_meta.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

using platform::Mapping;
using Control = layout::PartitionControl<platform::HostMemory>;

// Of a topic whose files are whole pages of that size: huge ones on hugetlbfs.
std::uint64_t bytes_in_pages(const TopicOptions& options, std::uint64_t page) {
    return whole_pages(layout::kTopicFileBytes, page) + whole_pages(readers_file_bytes(options.partitions), page) +
           whole_pages(layout::groups_file_bytes(groups_geometry_for(options)), page) +
           options.partitions * whole_pages(partition_file_bytes(geometry_for(options)), page);
}

[[noreturn]] void no_space(const std::filesystem::path& directory, std::string_view name, const TopicOptions& options) {
    const auto free = platform::free_space(directory.parent_path());
    const SpaceNeed need = need_of(options, free);
    std::string text = no_space_text("topic '" + std::string(name) + "'", directory.parent_path().parent_path(), free, need);
    if (free && free->page_bytes > layout::kPageBytes && free->bytes >= need.bytes) {
        text.append("; files here are whole pages of ").append(std::to_string(free->page_bytes));
        text.append(" bytes, and the kernel has fewer of them left (HugePages_Free in /proc/meminfo)");
    }
    throw Error(ErrorCode::no_space, directory.parent_path().string(), text);
}

void check_space(const std::filesystem::path& directory, std::string_view name, const TopicOptions& options) {
    const auto free = platform::free_space(directory.parent_path());
    if (lacks_space(free, need_of(options, free)))
        no_space(directory, name, options);
}

void build_meta(const std::filesystem::path& path, std::string_view name, const TopicOptions& options,
                const TopicId& id) {
    const Mapping file = platform::create_file(path, layout::kTopicFileBytes);
    write_stamp(file, layout::FileKind::topic, id);
    write_topic_meta(file, name, options);
    mark_ready(file);
    platform::sync_path(path);
}

void build_readers(const std::filesystem::path& path, std::uint32_t partitions, const TopicId& id) {
    const Mapping file = platform::create_file(path, readers_file_bytes(partitions));
    write_stamp(file, layout::FileKind::readers, id);  // the rest is right as zeros: no sleeper, no gate
    mark_ready(file);
    platform::sync_path(path);
}

void build_groups(const std::filesystem::path& path, const layout::GroupsGeometry& geometry, const TopicId& id) {
    const Mapping file = platform::create_file(path, layout::groups_file_bytes(geometry));
    write_stamp(file, layout::FileKind::groups, id);
    *reinterpret_cast<layout::GroupsGeometry*>(file.data() + layout::kGroupsGeometryAt) = geometry;
    mark_ready(file);  // the rest is right as zeros: every slot is free, nothing is pending
    platform::sync_path(path);
}

void build_partition(const std::filesystem::path& path, const layout::PartitionGeometry& geometry, const TopicId& id,
                     const std::function<bool()>& stop) {
    const Mapping file = platform::create_file(path, partition_file_bytes(geometry), platform::Readers::any, stop);
    write_stamp(file, layout::FileKind::partition, id);
    *reinterpret_cast<layout::PartitionGeometry*>(file.data() + sizeof(layout::FileHeader)) = geometry;
    auto& control = *reinterpret_cast<Control*>(file.data() + layout::kControlAt);
    // relaxed: nobody sees the file yet. Zeros are right elsewhere: unused cells, free extents, no producer, no lease.
    control.log_end.store(geometry.first_offset, std::memory_order_relaxed);
    control.log_start.store(geometry.first_offset, std::memory_order_relaxed);
    control.gate_floor.store(geometry.first_offset, std::memory_order_relaxed);
    mark_ready(file);
    platform::sync_path(path);
}

void build_files(const std::filesystem::path& directory, std::string_view name, const TopicOptions& options,
                 const TopicId& id, const std::function<bool()>& stop) {
    build_meta(meta_path(directory), name, options, id);
    build_readers(readers_path(directory), options.partitions, id);
    build_groups(groups_path(directory), groups_geometry_for(options), id);
    layout::PartitionGeometry geometry = geometry_for(options);
    for (std::uint32_t partition = 0; partition < options.partitions; ++partition) {
        geometry.partition = partition;
        build_partition(partition_path(directory, partition), geometry, id, stop);
    }
    platform::sync_path(directory);
}

// Whoever is not to have a right does not have it for a moment: while files are made with the rights that the umask
// leaves, nobody else can enter the directory.
void build_files_with_access(const std::filesystem::path& directory, std::string_view name, const TopicOptions& options,
                             const TopicId& id, const std::function<bool()>& stop) {
    const std::uint32_t usual_mode = platform::make_private(directory);
    build_files(directory, name, options, id, stop);
    TopicAccess access = options.access;
    if (!access.mode)
        access.mode = usual_mode;
    platform::set_rights(directory, access);
}

}  // namespace

std::uint64_t topic_bytes(const TopicOptions& options) {
    return bytes_in_pages(options, layout::kPageBytes);
}

SpaceNeed need_of(const TopicOptions& options, const std::optional<platform::FreeSpace>& free) {
    constexpr std::uint64_t kOthers = 4;  // the directory, topic.meta, readers, groups
    return {free ? bytes_in_pages(options, free->page_bytes) : topic_bytes(options), options.partitions + kOthers};
}

void build_topic(const std::filesystem::path& directory, std::string_view name, const TopicOptions& options,
                 const TopicId& id, const std::function<bool()>& stop) {
    check_space(directory, name, options);
    if (!platform::create_directory(directory)) {
        throw Error(ErrorCode::io, directory.string(), "'" + directory.string() + "' exists");
    }
    try {
        if (options.access == TopicAccess{}) {
            build_files(directory, name, options, id, stop);
        } else {
            build_files_with_access(directory, name, options, id, stop);
        }
    } catch (const Error& error) {
        platform::remove_directory(directory);
        if (error.code() == ErrorCode::no_space)
            no_space(directory, name, options);
        throw;
    } catch (...) {
        platform::remove_directory(directory);
        throw;
    }
}

}  // namespace ringmain
