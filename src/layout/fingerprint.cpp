// One number for all sizes and offsets of src/layout.
#include "layout/fingerprint.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "layout/clients.hpp"
#include "layout/file_header.hpp"
#include "layout/groups.hpp"
#include "layout/letters.hpp"
#include "layout/marks.hpp"
#include "layout/partition.hpp"
#include "layout/readers.hpp"
#include "layout/record_headers.hpp"
#include "layout/topic.hpp"
#include "layout/work.hpp"

namespace ringmain::layout {

namespace {

using platform::HostMemory;

// The names that appear in the description.
using PartitionControlLayout = PartitionControl<HostMemory>;
using NamedEntryLayout = NamedEntry<HostMemory>;
using PartitionMarksLayout = PartitionMarks<HostMemory>;
using MarkRingLayout = MarkRing<HostMemory>;
using MarkLayout = Mark<HostMemory>;
using ProducerEntryLayout = ProducerEntry<HostMemory>;
using ExtentWordLayout = ExtentWord<HostMemory>;
using CellHeaderLayout = CellHeader<HostMemory>;
using ReaderBlockLayout = ReaderBlock<HostMemory>;
using GateEntryLayout = GateEntry<HostMemory>;
using FileHeaderLayout = FileHeader;
using TopicMetaLayout = TopicMeta;
using PartitionGeometryLayout = PartitionGeometry;
using ClientEntryLayout = ClientEntry<HostMemory>;
using HeaderEntryLayout = HeaderEntry;
using GroupsGeometryLayout = GroupsGeometry;
using GroupsControlLayout = GroupsControl<HostMemory>;
using GroupSlotLayout = GroupSlot<HostMemory>;
using MemberSlotLayout = MemberSlot<HostMemory>;
using GroupCellLayout = GroupCell<HostMemory>;
using WorkSettingsLayout = WorkSettings;
using WorkerSlotLayout = WorkerSlot<HostMemory>;
using WorkGeometryLayout = WorkGeometry;
using WorkControlLayout = WorkControl<HostMemory>;
using LettersGeometryLayout = LettersGeometry;
using LettersControlLayout = LettersControl<HostMemory>;

struct Row {
    std::string_view name;
    std::uint64_t offset;  // or the value of a constant
    std::uint64_t size;    // 0 for constants
};

#define RINGMAIN_FIELD(Struct, field) \
    Row { #Struct "." #field, offsetof(Struct##Layout, field), sizeof(Struct##Layout::field) }
#define RINGMAIN_STRUCT(Struct) \
    Row { #Struct, alignof(Struct##Layout), sizeof(Struct##Layout) }

constexpr auto kRows = std::to_array<Row>({
    {"kLayoutVersion", kLayoutVersion, 0},
    {"kLineBytes", kLineBytes, 0},
    {"kPageBytes", kPageBytes, 0},
    {"kNamedAt", kNamedAt, 0},
    {"kMarksAt", kMarksAt, 0},
    {"kControlAt", kControlAt, 0},
    {"kMarks", kMarks, 0},
    {"kProducersAt", kProducersAt, 0},
    {"kCellHeaderBytes", kCellHeaderBytes, 0},
    {"kCellBytesMax", kCellBytesMax, 0},
    {"kRecordsScatteredMin", kRecordsScatteredMin, 0},
    {"kRecordsScatteredMax", kRecordsScatteredMax, 0},
    {"kProducerNamesMax", kProducerNamesMax, 0},
    {"kProducerNameBytesMax", kProducerNameBytesMax, 0},
    {"kStampBytes", kStampBytes, 0},
    {"kTopicMetaAt", kTopicMetaAt, 0},
    {"kTopicFileBytes", kTopicFileBytes, 0},
    {"kReadersAt", kReadersAt, 0},
    {"kReaderBlockBytes", kReaderBlockBytes, 0},
    {"kGatesMax", kGatesMax, 0},
    {"kGateNameMax", kGateNameMax, 0},
    {"kClientsAt", kClientsAt, 0},
    {"kClientsMax", kClientsMax, 0},
    {"kClientLockAt", kClientLockAt, 0},
    {"kOwnerBegins", kOwnerBegins, 0},
    {"kGroupsGeometryAt", kGroupsGeometryAt, 0},
    {"kGroupsControlAt", kGroupsControlAt, 0},
    {"kGroupsAt", kGroupsAt, 0},
    {"kGroupNameMax", kGroupNameMax, 0},
    {"kStaticNameMax", kStaticNameMax, 0},
    {"kAssignmentVersion", kAssignmentVersion, 0},
    {"kInExtent", kInExtent, 0},
    {"kNullKey", kNullKey, 0},
    {"kNullValue", kNullValue, 0},
    {"kHasHeaders", kHasHeaders, 0},
    {"kHasStamp", kHasStamp, 0},
    {"kSleepers", kSleepers, 0},
    {"kTopicDeleted", kTopicDeleted, 0},
    {"kCloseRequested", kCloseRequested, 0},
    {"kPartitionDamaged", kPartitionDamaged, 0},
    {"kHeaderEntryPrefixBytes", kHeaderEntryPrefixBytes, 0},
    {"kNullHeaderValue", kNullHeaderValue, 0},
    RINGMAIN_STRUCT(FileHeader),
    RINGMAIN_FIELD(FileHeader, magic),
    RINGMAIN_FIELD(FileHeader, layout_version),
    RINGMAIN_FIELD(FileHeader, kind),
    RINGMAIN_FIELD(FileHeader, fingerprint),
    RINGMAIN_FIELD(FileHeader, file_bytes),
    RINGMAIN_FIELD(FileHeader, topic_id),
    RINGMAIN_FIELD(FileHeader, created_ns),
    RINGMAIN_FIELD(FileHeader, creator_pid),
    RINGMAIN_FIELD(FileHeader, ready),
    RINGMAIN_STRUCT(TopicMeta),
    RINGMAIN_FIELD(TopicMeta, partitions),
    RINGMAIN_FIELD(TopicMeta, cell_bytes),
    RINGMAIN_FIELD(TopicMeta, records),
    RINGMAIN_FIELD(TopicMeta, payload_bytes),
    RINGMAIN_FIELD(TopicMeta, first_offset),
    RINGMAIN_FIELD(TopicMeta, producer_slots),
    RINGMAIN_FIELD(TopicMeta, when_full),
    RINGMAIN_FIELD(TopicMeta, state),
    RINGMAIN_FIELD(TopicMeta, type_size),
    RINGMAIN_FIELD(TopicMeta, type_alignment),
    RINGMAIN_FIELD(TopicMeta, name_length),
    RINGMAIN_FIELD(TopicMeta, type_name_length),
    RINGMAIN_FIELD(TopicMeta, groups),
    RINGMAIN_FIELD(TopicMeta, members),
    RINGMAIN_FIELD(TopicMeta, name),
    RINGMAIN_FIELD(TopicMeta, type_name),
    RINGMAIN_FIELD(TopicMeta, retention_age_ms),
    RINGMAIN_FIELD(TopicMeta, retention_records),
    RINGMAIN_FIELD(TopicMeta, retention_bytes),
    RINGMAIN_STRUCT(PartitionGeometry),
    RINGMAIN_FIELD(PartitionGeometry, records),
    RINGMAIN_FIELD(PartitionGeometry, payload_bytes),
    RINGMAIN_FIELD(PartitionGeometry, extent_bytes),
    RINGMAIN_FIELD(PartitionGeometry, first_offset),
    RINGMAIN_FIELD(PartitionGeometry, cells_at),
    RINGMAIN_FIELD(PartitionGeometry, payload_at),
    RINGMAIN_FIELD(PartitionGeometry, cell_bytes),
    RINGMAIN_FIELD(PartitionGeometry, producer_slots),
    RINGMAIN_FIELD(PartitionGeometry, extents),
    RINGMAIN_FIELD(PartitionGeometry, batch_records_max),
    RINGMAIN_FIELD(PartitionGeometry, partition),
    RINGMAIN_FIELD(PartitionGeometry, when_full),
    RINGMAIN_STRUCT(PartitionControl),
    RINGMAIN_FIELD(PartitionControl, log_end),
    RINGMAIN_FIELD(PartitionControl, log_start),
    RINGMAIN_FIELD(PartitionControl, names),
    RINGMAIN_FIELD(PartitionControl, gate_floor),
    RINGMAIN_FIELD(PartitionControl, lease),
    RINGMAIN_FIELD(PartitionControl, closings),
    RINGMAIN_FIELD(PartitionControl, closed_tickets),
    RINGMAIN_FIELD(PartitionControl, closings_done),
    RINGMAIN_FIELD(PartitionControl, released_cells),
    RINGMAIN_FIELD(PartitionControl, reaped_producers),
    RINGMAIN_STRUCT(NamedEntry),
    RINGMAIN_FIELD(NamedEntry, hold),
    RINGMAIN_FIELD(NamedEntry, sequence),
    RINGMAIN_FIELD(NamedEntry, last),
    RINGMAIN_FIELD(NamedEntry, id),
    RINGMAIN_FIELD(NamedEntry, name_length),
    RINGMAIN_FIELD(NamedEntry, name),
    RINGMAIN_STRUCT(PartitionMarks),
    RINGMAIN_FIELD(PartitionMarks, ages),
    RINGMAIN_FIELD(PartitionMarks, sizes),
    RINGMAIN_STRUCT(MarkRing),
    RINGMAIN_FIELD(MarkRing, written),
    RINGMAIN_FIELD(MarkRing, marks),
    RINGMAIN_STRUCT(Mark),
    RINGMAIN_FIELD(Mark, offset),
    RINGMAIN_FIELD(Mark, measure),
    RINGMAIN_FIELD(Mark, origin),
    RINGMAIN_STRUCT(ProducerEntry),
    RINGMAIN_FIELD(ProducerEntry, owner),
    RINGMAIN_FIELD(ProducerEntry, generation),
    RINGMAIN_FIELD(ProducerEntry, ticket),
    RINGMAIN_FIELD(ProducerEntry, count),
    RINGMAIN_STRUCT(ExtentWord),
    RINGMAIN_FIELD(ExtentWord, word),
    RINGMAIN_STRUCT(CellHeader),
    RINGMAIN_FIELD(CellHeader, word),
    RINGMAIN_FIELD(CellHeader, timestamp),
    RINGMAIN_FIELD(CellHeader, shape),
    RINGMAIN_STRUCT(ReaderBlock),
    RINGMAIN_FIELD(ReaderBlock, doorbell),
    RINGMAIN_FIELD(ReaderBlock, close_request),
    RINGMAIN_FIELD(ReaderBlock, gaps),
    RINGMAIN_FIELD(ReaderBlock, lost_records),
    RINGMAIN_FIELD(ReaderBlock, gates),
    RINGMAIN_STRUCT(GateEntry),
    RINGMAIN_FIELD(GateEntry, word),
    RINGMAIN_FIELD(GateEntry, owner),
    RINGMAIN_FIELD(GateEntry, name),
    RINGMAIN_STRUCT(GroupsGeometry),
    RINGMAIN_FIELD(GroupsGeometry, partitions),
    RINGMAIN_FIELD(GroupsGeometry, groups_max),
    RINGMAIN_FIELD(GroupsGeometry, members_max),
    RINGMAIN_STRUCT(GroupsControl),
    RINGMAIN_FIELD(GroupsControl, dir),
    RINGMAIN_FIELD(GroupsControl, dead),
    RINGMAIN_STRUCT(GroupSlot),
    RINGMAIN_FIELD(GroupSlot, set),
    RINGMAIN_FIELD(GroupSlot, born),
    RINGMAIN_FIELD(GroupSlot, flags),
    RINGMAIN_FIELD(GroupSlot, lag_records),
    RINGMAIN_FIELD(GroupSlot, lag_ms),
    RINGMAIN_FIELD(GroupSlot, start_value),
    RINGMAIN_FIELD(GroupSlot, name_hash),
    RINGMAIN_FIELD(GroupSlot, name_length),
    RINGMAIN_FIELD(GroupSlot, name),
    RINGMAIN_FIELD(GroupSlot, wake),
    RINGMAIN_STRUCT(MemberSlot),
    RINGMAIN_FIELD(MemberSlot, head),
    RINGMAIN_FIELD(MemberSlot, polls),
    RINGMAIN_FIELD(MemberSlot, last_poll_ns),
    RINGMAIN_FIELD(MemberSlot, name_hash),
    RINGMAIN_FIELD(MemberSlot, session_timeout_ms),
    RINGMAIN_FIELD(MemberSlot, name_length),
    RINGMAIN_FIELD(MemberSlot, name),
    RINGMAIN_STRUCT(GroupCell),
    RINGMAIN_FIELD(GroupCell, word),
    RINGMAIN_FIELD(GroupCell, committed_ns),
    RINGMAIN_FIELD(GroupCell, owned_ns),
    RINGMAIN_FIELD(GroupCell, delivered),
    RINGMAIN_FIELD(GroupCell, commits),
    RINGMAIN_FIELD(GroupCell, fenced),
    RINGMAIN_FIELD(GroupCell, handovers),
    RINGMAIN_STRUCT(ClientEntry),
    RINGMAIN_FIELD(ClientEntry, incarnation),
    RINGMAIN_FIELD(ClientEntry, pid),
    RINGMAIN_FIELD(ClientEntry, pid_namespace),
    RINGMAIN_FIELD(ClientEntry, start_ticks),
    RINGMAIN_FIELD(ClientEntry, since_ns),
    RINGMAIN_FIELD(HeaderEntry, name_length),
    RINGMAIN_FIELD(HeaderEntry, value_length),
    {"kWorkersMax", kWorkersMax, 0},
    {"kWorkersAt", kWorkersAt, 0},
    {"kWorkControlAt", kWorkControlAt, 0},
    {"kWorkWordsAt", kWorkWordsAt, 0},
    {"kLettersControlAt", kLettersControlAt, 0},
    {"kLettersWordsAt", kLettersWordsAt, 0},
    RINGMAIN_STRUCT(WorkSettings),
    RINGMAIN_FIELD(WorkSettings, group_born),
    RINGMAIN_FIELD(WorkSettings, group_slot),
    RINGMAIN_FIELD(WorkSettings, kind),
    RINGMAIN_FIELD(WorkSettings, lock_ms),
    RINGMAIN_FIELD(WorkSettings, backoff_first_ms),
    RINGMAIN_FIELD(WorkSettings, backoff_max_ms),
    RINGMAIN_FIELD(WorkSettings, backoff_factor_permille),
    RINGMAIN_FIELD(WorkSettings, backoff_jitter_permille),
    RINGMAIN_FIELD(WorkSettings, delivery_limit),
    RINGMAIN_FIELD(WorkSettings, exhausted),
    RINGMAIN_FIELD(WorkSettings, expired),
    RINGMAIN_FIELD(WorkSettings, in_flight_max),
    RINGMAIN_FIELD(WorkSettings, letters_id_low),
    RINGMAIN_FIELD(WorkSettings, letters_id_high),
    RINGMAIN_FIELD(WorkSettings, letters_partitions),
    RINGMAIN_FIELD(WorkSettings, letters_name_length),
    RINGMAIN_FIELD(WorkSettings, letters_name),
    RINGMAIN_STRUCT(WorkGeometry),
    RINGMAIN_FIELD(WorkGeometry, group_born),
    RINGMAIN_FIELD(WorkGeometry, group_slot),
    RINGMAIN_FIELD(WorkGeometry, partition),
    RINGMAIN_FIELD(WorkGeometry, window),
    RINGMAIN_FIELD(WorkGeometry, generation),
    RINGMAIN_STRUCT(WorkerSlot),
    RINGMAIN_FIELD(WorkerSlot, owner),
    RINGMAIN_FIELD(WorkerSlot, held),
    RINGMAIN_FIELD(WorkerSlot, last_deadline),
    RINGMAIN_FIELD(WorkerSlot, in_flight_max),
    RINGMAIN_FIELD(WorkerSlot, since_ns),
    RINGMAIN_FIELD(WorkerSlot, acquired),
    RINGMAIN_FIELD(WorkerSlot, acked),
    RINGMAIN_FIELD(WorkerSlot, nacked),
    RINGMAIN_FIELD(WorkerSlot, released),
    RINGMAIN_FIELD(WorkerSlot, rejected),
    RINGMAIN_FIELD(WorkerSlot, renewed),
    RINGMAIN_FIELD(WorkerSlot, refused),
    RINGMAIN_STRUCT(WorkControl),
    RINGMAIN_FIELD(WorkControl, frontier),
    RINGMAIN_FIELD(WorkControl, next_due),
    RINGMAIN_FIELD(WorkControl, expired),
    RINGMAIN_FIELD(WorkControl, returned),
    RINGMAIN_FIELD(WorkControl, dead_lettered),
    RINGMAIN_FIELD(WorkControl, skipped),
    RINGMAIN_FIELD(WorkControl, lost),
    RINGMAIN_FIELD(WorkControl, letters_refused),
    RINGMAIN_FIELD(WorkControl, redelivered),
    RINGMAIN_FIELD(WorkControl, rewound),
    RINGMAIN_FIELD(WorkControl, boot),
    RINGMAIN_STRUCT(LettersGeometry),
    RINGMAIN_FIELD(LettersGeometry, records),
    RINGMAIN_FIELD(LettersGeometry, partitions),
    RINGMAIN_STRUCT(LettersControl),
    RINGMAIN_FIELD(LettersControl, owner),
    RINGMAIN_FIELD(LettersControl, pending),
    RINGMAIN_FIELD(LettersControl, partition),
    RINGMAIN_FIELD(LettersControl, offset),
    RINGMAIN_FIELD(LettersControl, sequence),
    RINGMAIN_FIELD(LettersControl, to_partition),
    RINGMAIN_FIELD(LettersControl, to_id_low),
    RINGMAIN_FIELD(LettersControl, to_id_high),
    RINGMAIN_FIELD(LettersControl, to_name_length),
    RINGMAIN_FIELD(LettersControl, to_name),
    RINGMAIN_FIELD(LettersControl, replayed),
    RINGMAIN_FIELD(LettersControl, purged),
});

#undef RINGMAIN_FIELD
#undef RINGMAIN_STRUCT

// FNV-1a, 64 bits.
class Hash {
public:
    constexpr void add(std::uint8_t byte) noexcept { value_ = (value_ ^ byte) * 0x100000001b3; }
    constexpr void add(std::string_view text) noexcept {
        for (const char c : text)
            add(static_cast<std::uint8_t>(c));
        add(std::uint8_t{0});
    }
    constexpr void add(std::uint64_t number) noexcept {
        for (int shift = 0; shift < 64; shift += 8)
            add(static_cast<std::uint8_t>(number >> shift));
    }
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325;
};

constexpr std::uint64_t hash_of_rows() noexcept {
    Hash hash;
    for (const Row& row : kRows) {
        hash.add(row.name);
        hash.add(row.offset);
        hash.add(row.size);
    }
    return hash.value();
}

constexpr std::uint64_t kFingerprint = hash_of_rows();

}  // namespace

std::uint64_t fingerprint() noexcept { return kFingerprint; }

std::string describe_layout() {
    std::string text;
    for (const Row& row : kRows) {
        text.append(row.name).append(" ").append(std::to_string(row.offset));
        text.append(" ").append(std::to_string(row.size)).append("\n");
    }
    return text;
}

}  // namespace ringmain::layout
