// What a doctor looks at, and what each part of the examination finds in it. Pure: all that was asked of the system is
// handed in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor_finding.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/stats.hpp"

namespace ringmain::cli {

/// What the system tells beside the broker's files.
struct Surroundings {
    bool keeper_is_stopped = false;                ///< The process that has the keeper's lock file open is stopped.
    bool socket_without_daemon = false;            ///< keeper.sock is there, and nobody listens on it.
    std::optional<std::uint64_t> maps_max;         ///< Mappings that a process may have.
    std::optional<std::uint64_t> descriptors_max;  ///< Descriptors that a process may have.
    bool file_locks = true;                        ///< The kernel has locks of open files on this file system.
    bool membarrier = true;
    bool pidfd = true;
    std::string mount_point;  ///< Of the broker's file system; empty: not known.

    struct RemovedFile {
        std::int32_t pid = 0;
        std::string path;
    };
    std::vector<RemovedFile>
        removed_files;  ///< Files of the broker that processes have open and that are no longer there.

    struct TopicRights {
        std::string topic;
        std::uint64_t files = 0;  ///< How many.
        std::string first;        ///< The path, owner and mode of the first one.
    };
    std::vector<TopicRights> keeper_cannot_write;
    std::string keeper_user;  ///< "uid 1000", for whom that was asked.
    std::uint32_t keeper_uid = 0;
    std::vector<TopicRights> consumers_cannot_read;  ///< Members of the group that shares the directory.
    std::uint32_t shared_gid = 0;

    struct FileChange {
        std::string topic;
        std::optional<std::uint32_t> partition;  ///< Nothing: of the files that all of the topic needs.
        std::int64_t changed_ns = 0;             ///< Since the Unix epoch.
    };
    std::vector<FileChange> damaged_files;  ///< Of what cannot be used: when it was last changed otherwise than through a mapping.

    std::string removed_with;  ///< The user who owns the broker and with whose last session logind deletes it; empty: none.
};

struct Examined {
    BrokerStats stats;
    std::vector<LogHolder> holders;
    std::vector<Damage> damage;
    Surroundings surroundings;
    std::uint64_t planned_bytes = 0;  ///< What the user wants to create.
    std::vector<DeadLetterSummary> letters;  ///< Of the topics that keep dead letters.
    std::vector<GroupDescription> retrying;  ///< Groups with retries.
    std::uint64_t letters_min = 1;  ///< So many in a topic are worth a word.
};

using Findings = std::vector<Finding>;

// Each adds what it finds.
void examine_keeper(const Examined& examined, Findings& findings);
void examine_clients(const Examined& examined, Findings& findings);
void examine_groups(const Examined& examined, Findings& findings);
void examine_queues(const Examined& examined, Findings& findings);
void examine_blocking(const Examined& examined, Findings& findings);
void examine_letters(const Examined& examined, Findings& findings);
void examine_retries(const Examined& examined, Findings& findings);
void examine_topics(const Examined& examined, Findings& findings);
void examine_tables(const Examined& examined, Findings& findings);
void examine_machine(const Examined& examined, Findings& findings);

/// All of them, the worst first.
[[nodiscard]] Findings examine(const Examined& examined);

// What they share.
/// "ringmain -d DIR ARGUMENTS".
[[nodiscard]] std::string ringmain_command(const BrokerStats& stats, const std::string& arguments);
/// Nothing if the client is not in the list.
[[nodiscard]] const ClientStats* find_client(const BrokerStats& stats, const ClientDescription& client);
/// "process 'name' (pid 4711)".
[[nodiscard]] std::string describe_client(const ClientStats& client);
[[nodiscard]] std::string group_object(const GroupDescription& group);

/// Asks the system. Throws nothing for what it may not know.
[[nodiscard]] Surroundings look_around(const BrokerStats& stats);
/// The parts of it that are about files and their rights.
void look_at_rights(const BrokerStats& stats, Surroundings& surroundings);
void look_for_removed_files(const BrokerStats& stats, Surroundings& surroundings);
void look_at_damaged_files(const BrokerStats& stats, Surroundings& surroundings);

/// For removed_with: who owns the directory, and what logind does when he is gone.
[[nodiscard]] std::string owner_with_whom_it_goes(const std::string& directory);
/// Whether logind.conf and what follows it, all in one, have it delete what users leave. Not saying so is yes.
[[nodiscard]] bool removes_ipc(std::string_view configuration);

/// A socket is there, and its listener is gone.
[[nodiscard]] bool nobody_listens_on(const std::string& path);

/// Looks at everything. `with_records`: walks all cells, too.
[[nodiscard]] Examined look_at(const Broker& broker, bool with_records);

}  // namespace ringmain::cli
