// An open topic: its files, checked and mapped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "group_table/group_gates.hpp"
#include "layout/partition.hpp"
#include "layout/readers.hpp"
#include "layout/topic.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/mapping.hpp"
#include "ringmain/topic_options.hpp"
#include "topic_geometry.hpp"

namespace ringmain {

/// `topic.meta`, `readers` and `groups`, mapped, with everything in them checked; partitions are mapped one by one on demand.
class TopicFiles {
public:
    /// Throws Error: not_found (also while a deletion is under way), not_ready, version_mismatch, corrupt,
    /// permission_denied. `readers` is mapped read-write if the rights suffice, else read-only (readers_writable
    /// tells). `directory` is the topic's own one.
    TopicFiles(std::filesystem::path directory, std::string name);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const TopicId& id() const noexcept { return id_; }
    [[nodiscard]] const TopicOptions& options() const noexcept { return options_; }
    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    [[nodiscard]] bool readers_writable() const noexcept { return readers_writable_; }
    [[nodiscard]] layout::ReaderBlock<platform::HostMemory>* readers(std::uint32_t partition) const noexcept;
    /// The consumer groups; read-write if the rights suffice (groups_writable tells), which a member of a group needs.
    [[nodiscard]] const group_table::GroupsMemory<platform::HostMemory>& groups() const noexcept { return groups_; }
    [[nodiscard]] bool groups_writable() const noexcept { return groups_writable_; }
    /// What the groups keep in a partition, for whoever moves its log start.
    [[nodiscard]] group_table::GroupGates<platform::HostMemory> group_gates(std::uint32_t partition) const noexcept {
        return {groups_, partition, groups_writable_};
    }
    [[nodiscard]] bool deleted() const noexcept;
    /// The limits as they stand now; options() has those of the opening.
    [[nodiscard]] Retention retention() const noexcept;

    /// A partition's log, header and geometry checked against the file's real size and the topic's options.
    /// Throws Error: permission_denied, corrupt, version_mismatch, not_found (no such partition), topic_deleted.
    [[nodiscard]] platform::Mapping map_partition(std::uint32_t partition, platform::Access access) const;
    /// The log in a file that map_partition gave. Where things are follows from the topic's options, not from the file, which may
    /// have changed since it was checked.
    [[nodiscard]] partition_log::LogMemory<platform::HostMemory> log_in(const platform::Mapping& file, std::uint32_t partition) const noexcept;
    [[nodiscard]] std::filesystem::path partition_path(std::uint32_t partition) const;

    /// Throws Error corrupt if one of the files that are open for the topic as a whole was found truncated (with a truncation
    /// guard): what was read from it is nothing.
    void check_whole() const;
    /// The same for those and a partition's file.
    void check_whole(const platform::Mapping& file, std::uint32_t partition) const;
    /// Throws Error as check_whole, and as the constructor if one of those files is not the one any more that was opened: others
    /// may write into it.
    void check_stamps() const;
    [[nodiscard]] bool readers_whole() const noexcept { return !readers_.truncated(); }
    [[nodiscard]] bool groups_whole() const noexcept { return !groups_file_.truncated(); }

    /// The files that are open for the topic as a whole.
    struct SharedFile {
        std::filesystem::path path;
        platform::FileIdentity identity;
        bool writable = false;  ///< As far as it ever needs to be: true for `topic.meta`.
        std::uint64_t bytes = 0;
        bool truncated = false;  ///< It was found so, by a truncation guard.
    };
    [[nodiscard]] std::vector<SharedFile> shared_files() const;

    /// The paths of those files name what is open, whole. Asks the system.
    [[nodiscard]] bool in_place() const noexcept;

private:
    void open_once();
    void open_readers();
    void open_groups();
    [[nodiscard]] platform::Mapping open_part(const std::filesystem::path& path, layout::FileKind kind, std::uint64_t bytes,
                                              bool& writable) const;
    [[nodiscard]] bool replaced_meanwhile() const;

    std::filesystem::path directory_;
    std::string name_;
    TopicId id_{};
    TopicOptions options_;
    platform::Mapping meta_;
    platform::Mapping readers_;
    bool readers_writable_ = false;
    platform::Mapping groups_file_;
    group_table::GroupsMemory<platform::HostMemory> groups_;
    bool groups_writable_ = false;
};

/// The geometry in a mapped partition file that map_partition has checked.
[[nodiscard]] const layout::PartitionGeometry& geometry_of(const platform::Mapping& partition) noexcept;

}  // namespace ringmain
