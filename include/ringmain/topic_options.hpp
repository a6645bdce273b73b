// The options of a topic, fixed at its creation, and what `describe` shows.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/export.hpp"

namespace ringmain {

/// What happens when a partition's ring is full.
enum class WhenFull : std::uint8_t {
    overwrite,  ///< The oldest records go; readers that were behind get a gap event.
    block,      ///< Publishing waits for the slowest gate; without any gate the oldest records go.
};
RINGMAIN_API std::string_view to_string(WhenFull policy) noexcept;

/// Limits that do not depend on the topic.
inline constexpr std::uint32_t kPartitionsMax = 1024;
inline constexpr std::uint64_t kRecordsMin = 16;
inline constexpr std::uint64_t kRecordsMax = std::uint64_t{1} << 28;
inline constexpr std::uint32_t kProducerSlotsMax = 1024;
inline constexpr std::uint64_t kPayloadMin = std::uint64_t{1} << 16;
inline constexpr std::uint64_t kPayloadMax = std::uint64_t{1} << 36;
inline constexpr std::uint32_t kGroupsMax = 64;
inline constexpr std::uint32_t kMembersMax = 64;
inline constexpr std::uint64_t kFirstOffsetMax = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kOffsetMax = (std::uint64_t{1} << 62) - 1;
inline constexpr std::size_t kKeyBytesMax = 65'535;
inline constexpr std::size_t kTopicNameMax = 249;
inline constexpr std::size_t kTypeNameMax = 127;
inline constexpr std::chrono::milliseconds kRetentionAgeMin{100};
inline constexpr std::chrono::hours kRetentionAgeMax{24 * 36'500};
inline constexpr std::uint64_t kRetentionRecordsMax = kRecordsMax;
inline constexpr std::uint64_t kRetentionBytesMax = std::uint64_t{1} << 40;

/// The type that a typed topic carries; an empty name means bytes.
struct ValueType {
    std::string name;
    std::uint32_t size = 0;
    std::uint32_t alignment = 0;
    friend bool operator==(const ValueType&, const ValueType&) = default;
};

/// How long a keeper lets each partition keep its records; 0: as long as there is room. Whichever limit is met first counts.
/// Can be changed while the topic is in use (Broker::set_retention).
struct Retention {
    /// Since they were appended, as keepers saw it; what a record's timestamp says has no part in it. kRetentionAgeMin to
    /// kRetentionAgeMax.
    std::chrono::milliseconds age{0};
    std::uint64_t records = 0;  ///< Offsets before the log end: 1 to kRetentionRecordsMax.
    std::uint64_t bytes = 0;    ///< Of keys, values and headers: 1 to kRetentionBytesMax.
    friend bool operator==(const Retention&, const Retention&) = default;
};

/// Who may use a topic's files; what is not given stays as the directory and the umask say.
struct TopicAccess {
    std::optional<std::uint32_t> owner = {};  ///< User id.
    std::optional<std::uint32_t> group = {};  ///< Group id.
    /// Permission bits for the files, 0 to 0666; directories get the right to search where there is one to read. Who may
    /// write publishes and joins groups; who may only read consumes.
    std::optional<std::uint32_t> mode = {};
    friend bool operator==(const TopicAccess&, const TopicAccess&) = default;
};

/// A topic's options, fixed at its creation but for retention and access. A value outside its range is refused, never
/// adjusted.
struct TopicOptions {
    std::uint32_t partitions = 1;         ///< 1 to kPartitionsMax.
    /// Cells per partition: a power of two, kRecordsMin to kRecordsMax, at least 4 x producer_slots. How many records are
    /// kept also depends on payload_bytes, unless all travel inline (TopicDescription::retained_records).
    std::uint64_t records = 65'536;
    std::uint32_t cell_bytes = 128;       ///< 64, 128 or 256; cell_bytes - 24 bytes of key, value and headers travel inline.
    /// Memory for larger records per partition: 0 (none) or a power of two, kPayloadMin to kPayloadMax, at least 8 KiB and at
    /// most 2 GiB x producer_slots. At most twice TopicDescription::retained_payload_bytes.
    std::uint64_t payload_bytes = 1 << 24;
    std::uint32_t producer_slots = 32;    ///< Producers attached to a partition at one time: a power of two, 1 to kProducerSlotsMax.
    std::uint32_t groups = 16;            ///< Consumer groups that the topic can have at one time: 1 to kGroupsMax.
    std::uint32_t members = 32;           ///< Members that a group can have at one time: 1 to kMembersMax.
    WhenFull when_full = WhenFull::overwrite;
    ValueType value_type = {};                 ///< Set for typed topics.
    std::uint64_t first_offset = 0;       ///< Offset of the first record, 0 to kFirstOffsetMax; for tests of large offsets.
    Retention retention = {};
    TopicAccess access = {};
    friend bool operator==(const TopicOptions&, const TopicOptions&) = default;
};

/// What the creation of a topic checks first. Throws Error invalid_argument (topic, option, value, range) unless every option
/// is in its range and they go together.
RINGMAIN_API void check_topic_options(std::string_view topic, const TopicOptions& options);

/// 1 to kTopicNameMax of [a-zA-Z0-9._-], not "." or "..". Throws Error invalid_argument, with the rule, otherwise.
RINGMAIN_API void check_topic_name(std::string_view name);

/// Bytes that a topic of these options takes on the file system. Requires checked options.
[[nodiscard]] RINGMAIN_API std::uint64_t topic_bytes(const TopicOptions& options);

using TopicId = std::array<std::uint8_t, 16>;
RINGMAIN_API std::string to_string(const TopicId& id);

enum class ClientState : std::uint8_t {
    alive,
    dead,     ///< Proven by the kernel-held lock.
    unknown,  ///< This process may not look at the client table, or the client is none that ever was.
};

/// A producer or gate holder, as others see it. Informative: nobody decides by it.
struct ClientDescription {
    std::uint32_t slot = 0;         ///< Slot in the client table.
    std::uint32_t incarnation = 0;  ///< Tells apart the clients that used the slot.
    std::int32_t pid = 0;           ///< In the client's own pid namespace; 0: not known (any more).
    ClientState state = ClientState::unknown;
};
RINGMAIN_API std::string_view to_string(ClientState state) noexcept;
/// For people: "client 3, pid 4711, alive", "client 3, dead (its pid is not known any more)", and the like.
RINGMAIN_API std::string to_string(const ClientDescription& client);

struct GateDescription {
    std::string name;
    std::uint64_t offset = 0;  ///< Everything from here on is kept.
    ClientDescription holder;
    bool group = false;        ///< A consumer group: it gates by existing and has no holder.
};

struct PartitionDescription {
    std::uint32_t partition = 0;
    std::uint64_t log_start = 0;
    std::uint64_t log_end = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t closed_tickets = 0;      ///< Tickets of producers that stopped or died inside publish.
    std::uint64_t quarantined_cells = 0;   ///< Cells that sit out until their late writer is heard of or proven dead.
    std::uint64_t reaped_producers = 0;
    std::uint32_t extents_free = 0;
    std::uint32_t extents_owned = 0;
    std::uint32_t extents_sealed = 0;
    bool exclusive = false;                ///< An exclusive producer holds the lease.
    /// How the log's offsets contradict each other, or why its file cannot be used: then the figures are 0. Empty: nothing is wrong.
    std::string damage;
    std::vector<ClientDescription> producers;
    std::vector<GateDescription> gates;
};

struct TopicDescription {
    std::string name;
    TopicId id{};
    TopicOptions options;
    std::uint64_t record_bytes_max = 0;   ///< Largest key + value + encoded headers.
    std::uint64_t inline_bytes_max = 0;   ///< Up to here a record travels in its cell.
    std::uint64_t batch_records_max = 0;  ///< Largest batch reserved by one fetch-add.
    /// What each partition keeps at least (block: what fits before publishing waits). Two limits, and the one that is met
    /// first moves the log start, for records of all sizes:
    /// cells: this many records, if all travel inline or the payload limit is not met before.
    std::uint64_t retained_records = 0;
    /// payload memory: this many bytes of records that do not travel inline, each rounded up to 64 bytes, as long as all
    /// producer slots are in use and fill their extents alike; a lone producer keeps all but one extent. An extent goes as
    /// a whole, with everything older, and one that its producer leaves or cannot fill counts as if it were full: producers
    /// that come and go, or that publish large records at very different rates, keep less. 0: there is no payload memory.
    std::uint64_t retained_payload_bytes = 0;
    std::uint64_t bytes = 0;              ///< Shared memory of the whole topic.
    std::vector<PartitionDescription> partitions;
};

}  // namespace ringmain
