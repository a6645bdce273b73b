// How far groups are behind: offsets, time and bytes.
//
// Offsets and time are exact and cost three words and one cell a partition. The bytes of few unread records are added up; of
// many, as many are looked at, one at a random place in each of as many equal pieces of the lag, and the sum is scaled up.
#include <algorithm>

#include "damage.hpp"
#include "group_admin_impl.hpp"
#include "group_table/lag.hpp"
#include "group_table/membership.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/reader.hpp"
#include "platform/clock.hpp"

namespace ringmain {

namespace {

using Reader = partition_log::Reader<AdminTopic::Memory>;

// Closed tickets that are stepped over in search of the oldest record.
constexpr std::uint64_t kStepsMax = 1'024;

// 0 where there is no record, or none any more.
std::uint64_t bytes_at(const Reader& reader, std::uint64_t offset) noexcept {
    partition_log::RecordView view;
    return reader.look(offset, view) == partition_log::Found::record && reader.valid(offset) ? view.length : 0;
}

std::uint64_t add_up(const Reader& reader, std::uint64_t from, std::uint64_t count) noexcept {
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < count; ++i) bytes += bytes_at(reader, from + i);
    return bytes;
}

std::uint64_t extrapolate(const Reader& reader, std::uint64_t from, std::uint64_t count, std::uint64_t samples) noexcept {
    const std::uint64_t stride = count / samples;
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < samples; ++i) bytes += bytes_at(reader, from + i * stride + group_table::mix(i) % stride);
    return static_cast<std::uint64_t>(static_cast<long double>(bytes) / static_cast<long double>(samples) *
                                      static_cast<long double>(count));
}

}  // namespace

std::optional<std::chrono::milliseconds> age_of_first(const AdminTopic::Log& log, std::uint64_t from, std::uint64_t to,
                                                      std::int64_t now_ns) noexcept {
    if (from >= to) return std::nullopt;
    const auto written_ns = Reader(log).first_timestamp(from, from + std::min(to - from, kStepsMax));
    if (!written_ns) return std::nullopt;
    std::int64_t age_ns = 0;
    if (__builtin_sub_overflow(now_ns, *written_ns, &age_ns)) age_ns = *written_ns < now_ns ? INT64_MAX : 0;
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(std::max<std::int64_t>(age_ns, 0)));
}

RecordBytes bytes_of_records(const AdminTopic::Log& log, std::uint64_t from, std::uint64_t count, std::uint64_t records_max) noexcept {
    const Reader reader(log);
    if (count <= records_max) return {add_up(reader, from, count), false};
    return {extrapolate(reader, from, count, records_max), true};
}

namespace {

GroupLag lag_of_sound(AdminTopic& topic, std::uint32_t slot, std::uint32_t partition, const LagOptions& options, std::int64_t now_ns) {
    const AdminTopic::Log& log = topic.log(partition);
    const group_table::Lag found = group_table::lag_of(topic.groups(), slot, partition, *log.control);
    GroupLag lag;
    lag.partition = partition;
    if (found.touched) lag.committed = found.committed;
    lag.position = found.committed;
    lag.damaged = !partition_log::check_control(log).sound();
    if (lag.damaged) return lag;
    lag.log_start = found.log_start;
    lag.log_end = found.log_end;
    lag.records = found.records;
    lag.lost = found.lost;
    const std::uint64_t next = std::max(found.committed, found.log_start);
    if (options.time) lag.time = age_of_first(log, next, next + found.records, now_ns);
    if (options.bytes_records_max == 0) return lag;
    const RecordBytes unread = bytes_of_records(log, next, found.records, options.bytes_records_max);
    lag.bytes = unread.bytes;
    lag.bytes_estimated = unread.estimated;
    return lag;
}

/// What the group's own file says of a partition whose log says nothing.
GroupLag lag_of_damaged(const AdminTopic& topic, std::uint32_t slot, std::uint32_t partition) noexcept {
    const group_table::PartitionWord word = topic.groups().word(slot, partition);
    GroupLag lag;
    lag.partition = partition;
    if (word.touched) lag.committed = word.committed;
    lag.position = word.committed;
    lag.damaged = true;
    return lag;
}

}  // namespace

GroupLag lag_in(AdminTopic& topic, std::uint32_t slot, std::uint32_t partition, const LagOptions& options, std::int64_t now_ns) {
    try {
        const GroupLag lag = lag_of_sound(topic, slot, partition, options, now_ns);
        topic.check_whole(partition);
        return lag;
    } catch (const Error& error) {
        topic.files().check_whole();  // else the group's words are nothing either
        if (!is_damage(error)) throw;
        return lag_of_damaged(topic, slot, partition);
    }
}

std::vector<GroupLag> GroupAdmin::Impl::lag(std::string_view topic_name, std::string_view group, const LagOptions& options) {
    AdminTopic& topic = open(topic_name);
    const std::int64_t now_ns = platform::realtime_ns();
    for (;;) {
        const group_table::GroupRef ref = find(topic, group);
        std::vector<GroupLag> all;
        all.reserve(topic.partitions());
        for (std::uint32_t partition = 0; partition < topic.partitions(); ++partition)
            all.push_back(lag_in(topic, ref.slot, partition, options, now_ns));
        if (group_table::SetWord now; topic.groups().set_of(ref, now)) return all;  // else it was deleted while it was read
    }
}

}  // namespace ringmain
