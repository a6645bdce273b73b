// The machine: room on the file system, limits of the kernel, what it lacks.
#include <fmt/core.h>

#include <algorithm>

#include "doctor_examination.hpp"
#include "figures.hpp"

namespace ringmain::cli {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kDescriptorsAtLeast = 256;  // a process with some sockets and a keeper in it

/// A tmpfs is enlarged while it is in use; of others somebody has to make room.
void add_room(const Examined& examined, std::uint64_t more_bytes, Finding& finding) {
    const FileSystemStats& file_system = examined.stats.file_system;
    if (file_system.type == "tmpfs" && file_system.bytes && !examined.surroundings.mount_point.empty()) {
        const std::uint64_t wanted = *file_system.bytes + more_bytes;
        finding.command = fmt::format("mount -o remount,size={}M {}", (wanted + kMiB - 1) / kMiB,
                                      shell_word(examined.surroundings.mount_point));
        return;
    }
    finding.command = fmt::format("df -h {}", shell_word(examined.stats.directory));
    finding.mends = false;
}

void examine_room(const Examined& examined, Findings& findings) {
    const FileSystemStats& file_system = examined.stats.file_system;
    if (!file_system.free_bytes || !file_system.bytes)
        return;
    const std::uint64_t free = *file_system.free_bytes;
    if (free < *file_system.bytes / 20) {
        Finding& finding = findings.emplace_back(
            make_finding("file-system-full", examined.stats.directory,
                         fmt::format("{} of {} of its file system ({}) are free; topics that exist have all their "
                                     "memory, new ones may not get it",
                                     short_bytes(free), short_bytes(*file_system.bytes), file_system.type)));
        add_room(examined, *file_system.bytes / 4, finding);
    }
    if (examined.planned_bytes <= free)
        return;
    Finding& finding =
        findings.emplace_back(make_finding("no-room-for-plan", examined.stats.directory,
                                           fmt::format("{} are planned, and {} of {} of its file system ({}) are free",
                                                       short_bytes(examined.planned_bytes), short_bytes(free),
                                                       short_bytes(*file_system.bytes), file_system.type)));
    add_room(examined, examined.planned_bytes - free, finding);
}

void examine_file_system(const Examined& examined, Findings& findings) {
    examine_room(examined, findings);
    if (!examined.stats.file_system.remote)
        return;
    Finding& finding =
        findings.emplace_back(make_finding("network-file-system", examined.stats.directory,
                                           fmt::format("is on {}: memory is not shared between hosts, and a lock there "
                                                       "is no proof of life; use a directory of this host",
                                                       examined.stats.file_system.type)));
    finding.command = "export RINGMAIN_DIR=/dev/shm/ringmain";
    finding.mends = false;
}

void examine_logind(const Examined& examined, Findings& findings) {
    const std::string& user = examined.surroundings.removed_with;
    if (user.empty())
        return;
    Finding& finding = findings.emplace_back(make_finding(
        "logind-removes", examined.stats.directory,
        fmt::format("belongs to user {}, and systemd-logind deletes what he has in /dev/shm when his last session ends "
                    "(RemoveIPC=yes)",
                    user)));
    finding.command = fmt::format("loginctl enable-linger {}", shell_word(user));
}

void examine_limits(const Examined& examined, Findings& findings) {
    std::uint64_t maps = 0;
    for (const TopicStats& topic : examined.stats.topics)
        maps += 3 + topic.partitions.size();  // topic.meta, readers, groups, and the logs
    const auto maps_max = examined.surroundings.maps_max;
    if (maps_max && maps * 5 >= *maps_max * 4) {
        Finding& finding = findings.emplace_back(make_finding(
            "map-limit", "the kernel",
            fmt::format(
                "who has all topics open, as a keeper has, needs {} mappings of the {} that vm.max_map_count allows",
                maps, *maps_max)));
        finding.command = fmt::format("sysctl -w vm.max_map_count={}", std::max(maps * 2, *maps_max * 2));
    }
    const auto descriptors = examined.surroundings.descriptors_max;
    const std::uint64_t needed =
        kDescriptorsAtLeast + examined.stats.clients.size();  // a keeper watches a process by each
    if (!descriptors || *descriptors >= needed)
        return;
    Finding& finding = findings.emplace_back(
        make_finding("descriptor-limit", "this shell",
                     fmt::format("a process may have {} open files; a keeper that is started here needs up to {}",
                                 *descriptors, needed)));
    finding.command = fmt::format("ulimit -n {}", needed * 2);
}

void examine_kernel(const Surroundings& surroundings, Findings& findings) {
    if (!surroundings.file_locks)
        findings.push_back(
            make_finding("no-file-locks", "the kernel",
                         "has no open-file-description locks here: nobody can be proven dead (Linux 3.15 has them)"));
    if (!surroundings.membarrier)
        findings.push_back(make_finding("no-membarrier", "the kernel",
                                        "refuses membarrier: producers pay for a fence of their own (Linux 4.16 has "
                                        "it; a container may forbid it)"));
    if (!surroundings.pidfd)
        findings.push_back(make_finding(
            "no-pidfd", "the kernel",
            "has no pidfds: a keeper finds out about deaths at its next step, not at once (Linux 5.3 has them)"));
}

}  // namespace

void examine_machine(const Examined& examined, Findings& findings) {
    examine_file_system(examined, findings);
    examine_logind(examined, findings);
    examine_limits(examined, findings);
    examine_kernel(examined.surroundings, findings);
}

}  // namespace ringmain::cli
