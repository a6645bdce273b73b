// Every shared byte of a partition's log file `<partition>.log`.
//
//   0              4096         20480        26880            27904             +extent words  +cells (page)        +payload (page)
//   +--------------+------------+------------+----------------+-----------------+--------------+--------------------+------------------+
//   | FileHeader + | NamedEntry | Partition- | Partition-     | ProducerEntry   | ExtentWord   | Cell               | extents          |
//   | PartitionGeo | 256 B, 64  | Marks 6400 | Control 1024 B | 128 B each, P   | 8 B each, E  | cell_bytes each, N | extent_bytes, E  |
//   +--------------+------------+------------+----------------+-----------------+--------------+--------------------+------------------+
//   written once     producers    keeper       producers, closers, keeper         producers      producers (closers: the word)  owner of the extent
//
// What a publish touches beside its cell is on one page, and so takes one entry of a processor's address translation: whoever
// publishes to a thousand partitions has none to spare.
//
// Writers of each field, and the sync points that order them (docs/memory-order.md has the table):
//   log_end         shared producers (fetch_add), exclusive producer (store)        TICKET
//   log_start       producers, closers, retention (CAS-max)                         LOG_START
//   gate_floor      whoever moves log_start on a block topic (CAS-max)              GATE_FLOOR
//   lease           exclusive producers, recovery (CAS)                             LEASE
//   names           who gives a name its entry (CAS-max)                            NAME
//   NamedEntry      its owner; the intent also by whoever is about to use the cells again, and by recovery (CAS)  INTENT, NAME
//   PartitionMarks  the keeper (marks.hpp)                                          MARK
//   ProducerEntry   its owner; `owner` also by recovery after proof of death (CAS)  ENTRY
//   ExtentWord      its owner; free and sealed ones by any producer (CAS)           EXTENT
//   Cell.word       ticket holder, closers, keeper (CAS), exclusive producer        RECORD_COMMIT, TICKET_CLOSE, CELL_RELEASE
//   Cell.*          the ticket holder whose ticket names exactly one lap after the word
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout/file_header.hpp"
#include "layout/marks.hpp"
#include "platform/memory.hpp"

namespace ringmain::layout {

inline constexpr std::size_t kLineBytes = 128;  // a cache-line pair: processors fetch lines in pairs
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kCellHeaderBytes = 24;
inline constexpr std::size_t kCellBytesMax = 256;
inline constexpr std::uint64_t kRecordsScatteredMin = 16;    // cells of a run in which offsets are scattered; LogMemory::cell_index
inline constexpr std::uint64_t kRecordsScatteredMax = 1024;
inline constexpr std::uint32_t kProducerNamesMax = 64;       // of a partition, for as long as it exists
inline constexpr std::uint32_t kProducerNameBytesMax = 112;
inline constexpr std::size_t kStampBytes = 16;               // in the body of a named producer's record

/// The geometry of one partition; follows FileHeader in page 0, written once before the file becomes visible.
struct PartitionGeometry {
    std::uint64_t records;          // N, a power of two
    std::uint64_t payload_bytes;    // E x extent_bytes
    std::uint64_t extent_bytes;     // a power of two, or 0
    std::uint64_t first_offset;     // log_start and log_end at creation
    std::uint64_t cells_at;         // byte positions in the file
    std::uint64_t payload_at;
    std::uint32_t cell_bytes;       // 64, 128 or 256
    std::uint32_t producer_slots;   // P, a power of two
    std::uint32_t extents;          // E
    std::uint32_t batch_records_max;
    std::uint32_t partition;
    std::uint32_t when_full;        // 0 overwrite, 1 block
};
static_assert(sizeof(PartitionGeometry) == 72);
static_assert(offsetof(PartitionGeometry, records) == 0);
static_assert(offsetof(PartitionGeometry, payload_bytes) == 8);
static_assert(offsetof(PartitionGeometry, extent_bytes) == 16);
static_assert(offsetof(PartitionGeometry, first_offset) == 24);
static_assert(offsetof(PartitionGeometry, cells_at) == 32);
static_assert(offsetof(PartitionGeometry, payload_at) == 40);
static_assert(offsetof(PartitionGeometry, cell_bytes) == 48);
static_assert(offsetof(PartitionGeometry, producer_slots) == 52);
static_assert(offsetof(PartitionGeometry, extents) == 56);
static_assert(offsetof(PartitionGeometry, batch_records_max) == 60);
static_assert(offsetof(PartitionGeometry, partition) == 64);
static_assert(offsetof(PartitionGeometry, when_full) == 68);

/// The words that all producers share. Each hot one has a line pair of its own.
///
///   +0    log_end     next ticket: the offset that the next publish gets
///   +128  log_start   oldest offset kept; only grows
///   +136  names       how many of the named entries are in use; only grows. Beside log_start, with which it is looked at
///   +256  gate_floor  no gate may begin below it; only grows
///   +384  lease       0, or slot + 1 of the exclusive producer in the low 16 bits and its generation above
///   +512  counters    relaxed; nobody decides by them, except that `closings` grows before each closing CAS and
///                     `closings_done` after it, so that the keeper never misses a quarantined cell
template <class M>
struct PartitionControl {
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> log_end;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> log_start;
    typename M::template Atomic<std::uint64_t> names;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> gate_floor;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> lease;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> closings;
    typename M::template Atomic<std::uint64_t> closed_tickets;
    typename M::template Atomic<std::uint64_t> released_cells;
    typename M::template Atomic<std::uint64_t> reaped_producers;
    typename M::template Atomic<std::uint64_t> closings_done;
    std::byte reserved[1024 - 552];
};

/// One attached producer. The entry says which ticket it may hold, so that the keeper can tell when a quarantined cell has
/// no late writer any more.
///
///   +0   owner       0 free, or incarnation << 32 | client slot + 1
///   +8   generation  grows at each attachment to this slot; tags the extents of this tenure
///   +16  ticket      0 idle, 1 taking (about to fetch_add), first offset << 2 | 2 (holds `count` tickets from there)
///   +24  count       tickets of the batch; written before TAKING
template <class M>
struct ProducerEntry {
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> owner;
    typename M::template Atomic<std::uint64_t> generation;
    typename M::template Atomic<std::uint64_t> ticket;
    typename M::template Atomic<std::uint64_t> count;
    std::byte reserved[kLineBytes - 32];
};

/// One producer name, once given for as long as the partition exists, and the last sequence that is in the log for it.
///
///   +0    hold.low     the intent: 0 none, or offset << 2 | state: 1 a shared, 2 an exclusive producer may be committing `sequence` there,
///                      3 it did, and did not come to say so in `last`
///   +8    hold.high    0, or incarnation << 32 | client slot + 1 of the one producer of this name
///   +16   sequence     of the record that the intent is about; written before it
///   +24   last         newest sequence in the log, unless the intent's state is 3: then it is `sequence`
///   +128  id           hash of the name, never 0; 0: the entry is free
///   +136  name_length  0: the name has not been written yet
///   +144  name         the rest is zero
template <class M>
struct NamedEntry {
    alignas(kLineBytes) platform::Word16<M> hold;
    typename M::template Atomic<std::uint64_t> sequence;
    typename M::template Atomic<std::uint64_t> last;
    alignas(kLineBytes) typename M::template Atomic<std::uint64_t> id;
    typename M::template Atomic<std::uint64_t> name_length;
    std::array<typename M::template Atomic<std::uint64_t>, kProducerNameBytesMax / 8> name;
};

/// State of an extent: 0 free; 1 << 62 | slot << 48 | generation (48 bits) owned; 2 << 62 | end sealed, where `end` is one
/// more than the last offset committed from the extent: it may be used again once log_start >= end.
template <class M>
struct ExtentWord {
    typename M::template Atomic<std::uint64_t> word;
};

/// One record.
///
///   +0   word       offset << 2 | state; 0 never used; only grows
///   +8   timestamp  nanoseconds since the Unix epoch
///   +16  shape      length (u32, low) | key_length (u16) | flags (u16, high)
///   +24  inline bytes: the body, or the byte position of the body in the payload area
///
/// The body is value | key | headers | stamp | u32 length of the headers: headers and their length only with kHasHeaders, the
/// stamp (u64 id of the producer's name, u64 sequence) only with kHasStamp.
template <class M>
struct CellHeader {
    typename M::template Atomic<std::uint64_t> word;
    typename M::template Atomic<std::uint64_t> timestamp;
    typename M::template Atomic<std::uint64_t> shape;

    std::byte* inline_bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    const std::byte* inline_bytes() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
};

enum CellFlag : std::uint16_t {
    kInExtent = 1,
    kNullKey = 2,
    kNullValue = 4,
    kHasHeaders = 8,
    kHasStamp = 16,
};
inline constexpr std::uint16_t kHasTrailer = kHasHeaders | kHasStamp;
inline constexpr std::uint16_t kCellFlagsAll = 31;

namespace proof {
using Control = PartitionControl<platform::HostMemory>;
static_assert(sizeof(Control) == 1024 && alignof(Control) == kLineBytes);
static_assert(offsetof(Control, log_end) == 0);
static_assert(offsetof(Control, log_start) == 128);
static_assert(offsetof(Control, names) == 136);
static_assert(offsetof(Control, gate_floor) == 256);
static_assert(offsetof(Control, lease) == 384);
static_assert(offsetof(Control, closings) == 512);
static_assert(offsetof(Control, closed_tickets) == 520);
static_assert(offsetof(Control, released_cells) == 528);
static_assert(offsetof(Control, reaped_producers) == 536);
static_assert(offsetof(Control, closings_done) == 544);
using Named = NamedEntry<platform::HostMemory>;
static_assert(sizeof(Named) == 256 && alignof(Named) == kLineBytes);
static_assert(offsetof(Named, hold) == 0);
static_assert(offsetof(Named, sequence) == 16);
static_assert(offsetof(Named, last) == 24);
static_assert(offsetof(Named, id) == 128);
static_assert(offsetof(Named, name_length) == 136);
static_assert(offsetof(Named, name) == 144);
using Entry = ProducerEntry<platform::HostMemory>;
static_assert(sizeof(Entry) == kLineBytes && alignof(Entry) == kLineBytes);
static_assert(offsetof(Entry, owner) == 0);
static_assert(offsetof(Entry, generation) == 8);
static_assert(offsetof(Entry, ticket) == 16);
static_assert(offsetof(Entry, count) == 24);
static_assert(sizeof(ExtentWord<platform::HostMemory>) == 8);
using Header = CellHeader<platform::HostMemory>;
static_assert(sizeof(Header) == kCellHeaderBytes);
static_assert(offsetof(Header, word) == 0);
static_assert(offsetof(Header, timestamp) == 8);
static_assert(offsetof(Header, shape) == 16);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
}  // namespace proof

inline constexpr std::uint64_t kNamedAt = kPageBytes;
inline constexpr std::uint64_t kMarksAt = kNamedAt + kProducerNamesMax * sizeof(NamedEntry<platform::HostMemory>);
inline constexpr std::uint64_t kControlAt = kMarksAt + sizeof(PartitionMarks<platform::HostMemory>);
inline constexpr std::uint64_t kProducersAt = kControlAt + sizeof(PartitionControl<platform::HostMemory>);
static_assert(kMarksAt == 20480 && kControlAt == 26880 && kControlAt % kLineBytes == 0 && kProducersAt == 27904 && kProducersAt % kLineBytes == 0);

}  // namespace ringmain::layout
