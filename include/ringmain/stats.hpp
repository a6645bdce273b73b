// Everything that there is to know about a broker at one moment, from its files alone. No daemon is needed for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/broker.hpp"
#include "ringmain/export.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/queue_admin.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// Readers with a gate of their own that a partition can have at one time.
inline constexpr std::uint32_t kReaderGatesMax = 16;
/// Producer names that a partition can hand out, for as long as it exists.
inline constexpr std::uint32_t kProducerNamesMax = 64;
/// Processes that can be attached to a broker directory at one time.
inline constexpr std::uint32_t kBrokerClientsMax = 1024;

/// What the kernel says of a client's process.
enum class ProcessState : std::uint8_t {
    unknown,  ///< Of another pid namespace, hidden from this user, or gone.
    running,  ///< Or asleep: it goes on by itself.
    stopped,  ///< By a signal or a debugger: it does nothing until somebody lets it go on.
};
RINGMAIN_API std::string_view to_string(ProcessState state) noexcept;

/// A process that is attached, or one that is gone and still holds something.
struct ClientStats {
    ClientDescription client;
    std::int64_t since_ns = 0;        ///< When it attached, since the Unix epoch; 0 not known.
    bool same_pid_namespace = false;  ///< `client.pid` is a pid here, too.
    ProcessState process = ProcessState::unknown;
    std::string command;  ///< Its name as ps shows it; empty: not known.

    // What it holds in the topics that were looked at.
    std::uint64_t producers = 0;     ///< Producer slots.
    std::uint64_t leases = 0;        ///< Partitions that it has for itself alone.
    std::uint64_t open_tickets = 0;  ///< Offsets that it took and has not said it is done with.
    std::uint64_t extents = 0;
    std::uint64_t gates = 0;             ///< Readers' gates.
    std::uint64_t member_slots = 0;      ///< Places in consumer groups.
    std::uint64_t group_partitions = 0;  ///< Partitions that it owns in groups.
    std::uint64_t workers = 0;           ///< Places in work queues.
    std::uint64_t acquired_records = 0;  ///< That it holds in queues.
    [[nodiscard]] std::uint64_t held() const noexcept { return producers + gates + member_slots + workers; }
};

/// A producer that is attached to a partition.
struct ProducerStats {
    std::uint32_t slot = 0;  ///< Of the partition's producer slots.
    ClientDescription client;
    bool exclusive = false;          ///< It holds the partition's lease.
    bool taking = false;             ///< It is at the instruction that reserves offsets: which, nobody can know.
    std::uint64_t open_tickets = 0;  ///< 0 between two calls of publish.
    std::optional<std::uint64_t> first_ticket;  ///< The first of them.
    std::uint32_t extents = 0;
};

/// A partition. No figure is ever negative or impossible: of a log that contradicts itself (`damage`), or that cannot be
/// read (`error`), they are 0.
struct PartitionStats : PartitionDescription {
    std::string error;  ///< Why its file cannot be used; empty: it can.
    std::optional<ErrorCode> error_code;
    std::uint64_t records = 0;       ///< Offsets in the log, those of closed tickets among them.
    std::uint64_t record_bytes = 0;  ///< Keys, values and headers of the records in the log.
    /// There are more than StatsOptions::bytes_records_max: extrapolated from as many.
    bool record_bytes_estimated = false;
    std::uint64_t newest_record_bytes = 0;  ///< On average, of the newest few records: for rates.
    std::int64_t oldest_ns = 0;             ///< Timestamp of the oldest record, since the Unix epoch; 0: there is none.
    std::int64_t newest_ns = 0;
    std::uint64_t open_tickets = 0;       ///< Offsets that producers took and have not decided yet.
    std::uint64_t released_cells = 0;     ///< Cells that have come back from quarantine.
    std::uint64_t gaps = 0;               ///< Gap events, over all readers.
    std::uint64_t lost_records = 0;       ///< Records that readers missed by them.
    std::uint32_t producer_names = 0;     ///< Names of producers that are given away, of kProducerNamesMax.
    std::vector<ProducerStats> attached;  ///< As `producers`, in the same order, with what they hold.
};

/// A work queue. One whose files cannot be read has its names, an error and nothing else.
struct QueueStats : QueueDescription {
    std::string error;  ///< Names the file, and what is wrong with it. Empty: none.
    std::optional<ErrorCode> error_code;
};

/// A topic. One that cannot be read has an error and nothing else.
struct TopicStats {
    std::string name;
    std::string error;  ///< Names the file, its owner and mode, or what is wrong with it. Empty: none.
    std::optional<ErrorCode> error_code;
    TopicDescription description;  ///< But for its partitions, which are below.
    std::vector<PartitionStats> partitions;
    std::vector<GroupDescription> groups;  ///< By name; queues are among them.
    std::vector<QueueStats> queues;        ///< By name.
};

/// What killed creations and deletions left behind.
struct LeftoverStats {
    std::uint64_t directories = 0;  ///< Half-made and half-removed topics, and files of queues, whose makers are proven dead.
    std::uint64_t files = 0;        ///< Half-made files of the broker directory.
    std::uint64_t dead_topics = 0;  ///< Deleted topics that still have their names.
    [[nodiscard]] std::uint64_t total() const noexcept { return directories + files + dead_topics; }
};

/// The file system that the broker directory is on.
struct FileSystemStats {
    std::string type;     ///< "tmpfs", "hugetlbfs", "nfs", ..., or the magic number in hexadecimal.
    bool remote = false;  ///< Reached over a network: memory is not shared between hosts, nor are locks proof there.
    std::optional<std::uint64_t> bytes;        ///< Its size. Nothing: the kernel does not tell.
    std::optional<std::uint64_t> free_bytes;   ///< For this user.
    std::optional<std::uint64_t> free_inodes;  ///< Nothing also where they are not counted.
};

struct KeeperStats {
    std::optional<bool> running;  ///< Nothing: this user may not look.
    std::int32_t pid = 0;         ///< As it called itself, in its own pid namespace; 0 not known.
};

/// One look at a broker. Its parts are read one after another, and each in an order in which no figure can be negative;
/// together they are not one moment's.
struct BrokerStats {
    std::int64_t taken_ns = 0;            ///< Since the Unix epoch.
    std::int64_t taken_monotonic_ns = 0;  ///< By a clock that never goes back: for rates.
    std::string directory;
    std::uint64_t topics_bytes = 0;  ///< Shared memory of all topics that can be read.
    FileSystemStats file_system;
    KeeperStats keeper;
    LeftoverStats leftovers;
    /// False: this user may not see who is attached; `clients` are those that hold something.
    bool clients_readable = false;
    std::vector<ClientStats> clients;  ///< Those that live, and those that are gone and still hold something; by slot.
    std::vector<TopicStats> topics;    ///< By name.
};

/// What a look may cost.
struct StatsOptions {
    /// Only these; empty: all. One that is not there is an entry with its error.
    std::vector<std::string> topics = {};
    bool groups = true;  ///< Queues, too: looks at every offset that was handed out and is not finished.
    LagOptions lag = {.time = true, .bytes_records_max = 64};
    std::uint64_t bytes_records_max = 64;  ///< Of each partition, for record_bytes; 0: none.
    bool processes = true;                 ///< Asks /proc about the clients.
};

/// Takes looks at a broker. Needs no more than the right to read its files, waits for nobody, and changes nothing.
/// Keeps the files that it has looked at mapped, so that looking again costs little. One thread at a time. A moved-from
/// reader may be assigned to or destroyed, nothing else.
class RINGMAIN_API StatsReader {
public:
    explicit StatsReader(const Broker& broker);
    StatsReader(StatsReader&&) noexcept;
    StatsReader& operator=(StatsReader&&) noexcept;
    ~StatsReader();

    /// Throws Error: forked, permission_denied and io for the directory itself. All else is in what it returns.
    [[nodiscard]] BrokerStats take(const StatsOptions& options = {});

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
