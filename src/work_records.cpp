// A partition's records as the work table asks for them.
#include "work_records.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "described_record.hpp"
#include "gap_list.hpp"

namespace ringmain {

namespace {

using partition_log::Found;
using work_table::Received;

constexpr std::uint64_t kNsPerMs = 1'000'000;

// What a header says in decimal milliseconds, however many they are. Anything else asks for nothing: it came from a producer, not
// from here.
std::optional<std::uint64_t> milliseconds_of(const Headers& headers, std::string_view name) noexcept {
    const std::optional<Header> header = headers.find(name);
    if (!header || !header->value) return std::nullopt;
    const std::string_view text = as_text(*header->value);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
    return error == std::errc::result_out_of_range ? std::numeric_limits<std::uint64_t>::max() : value;
}

// 0 for times that are still to come. Timestamps are what producers say, so that the difference may need all 64 bits.
std::uint64_t age_in_ms(std::int64_t timestamp_ns, std::int64_t now_ns) noexcept {
    if (timestamp_ns >= now_ns) return 0;
    return (static_cast<std::uint64_t>(now_ns) - static_cast<std::uint64_t>(timestamp_ns)) / kNsPerMs;
}

// Counted from the earlier of the record's time and now: a clock that is ahead makes nobody wait longer.
std::optional<std::uint64_t> wait_of(std::uint64_t delay_ms, std::int64_t timestamp_ns, std::int64_t now_ns) noexcept {
    const std::uint64_t delay = std::min(delay_ms, work_table::kAheadMaxMs);
    const std::uint64_t age_ms = age_in_ms(timestamp_ns, now_ns);
    if (age_ms >= delay) return std::nullopt;
    return delay - age_ms;
}

bool outlived(std::uint64_t ttl_ms, std::int64_t timestamp_ns, std::int64_t now_ns) noexcept {
    return timestamp_ns < now_ns && age_in_ms(timestamp_ns, now_ns) >= ttl_ms;
}

}  // namespace

std::optional<Headers> WorkRecords::copy_headers(const partition_log::RecordView& view) noexcept {
    headers_.resize(view.headers_bytes);
    Memory::copy_out(headers_.data(), view.headers(), view.headers_bytes);
    const std::int64_t count = partition_log::count_headers(headers_.data(), view.headers_bytes);
    if (count < 0) return std::nullopt;
    return Headers({headers_.data(), headers_.size()}, static_cast<std::uint32_t>(count));
}

work_table::Peeked WorkRecords::peek(std::uint64_t offset) noexcept {
    partition_log::RecordView view;
    const Found found = reader_.look(offset, view);
    if (found == Found::nothing) return {reader_.log_start() > offset ? Found::lapped : Found::nothing};
    if (found != Found::record) return {found};
    if (view.headers_bytes == 0) return {Found::record};
    const std::optional<Headers> headers = copy_headers(view);
    if (!reader_.valid(offset)) return {Found::lapped};
    if (!headers) return {Found::corrupt};
    work_table::Peeked peeked{Found::record};
    if (const auto ttl = milliseconds_of(*headers, kTimeToLiveHeader)) peeked.expired = outlived(*ttl, view.timestamp_ns, realtime_ns_);
    if (const auto delay = milliseconds_of(*headers, kDelayHeader)) peeked.delay_ms = wait_of(*delay, view.timestamp_ns, realtime_ns_);
    return peeked;
}

Received WorkRecords::copy(std::uint64_t offset) noexcept {
    copied_ = {};
    const Found found = reader_.look(offset, copied_);
    if (found == Found::corrupt) return Received::corrupt;
    if (found != Found::record) return Received::gone;
    std::byte* const to = batch_.bodies.reserve(copied_.length);
    if (to == nullptr) return Received::full;
    reader_.copy_body(copied_, to);
    // the copy is private now: what is wrong in it was wrong in the log, or the log start has passed the record
    if (!partition_log::split_body<Memory>(copied_)) return Received::corrupt;
    const std::int64_t headers = partition_log::count_headers(copied_.headers(), copied_.headers_bytes);
    if (headers < 0) return Received::corrupt;
    copied_headers_ = static_cast<std::uint32_t>(headers);
    return Received::record;
}

bool WorkRecords::copy_plain(std::uint64_t offset) noexcept {
    partition_log::RecordView view;
    if (reader_.look(offset, view) != Found::record || (view.flags & layout::kHasHeaders) != 0) return false;
    std::byte* const to = batch_.bodies.reserve(view.length);
    if (to == nullptr) return false;
    reader_.copy_body(view, to);
    copied_ = view;
    copied_headers_ = 0;
    return true;
}

void WorkRecords::took(std::uint64_t offset, std::uint64_t word) noexcept {
    batch_.bodies.keep(copied_.length);
    QueueRecord& record = batch_.add();
    describe_record(copied_, copied_headers_, topic_, partition_, offset, record.record);
    record.deliveries = work_table::count_of(word);
    record.lock = {partition_, generation_, offset, word};
    record.lock_left = std::chrono::milliseconds(work_table::until(work_table::time_of(word), now_ms_));
}

void WorkRecords::lost(std::uint64_t from, std::uint64_t to) noexcept {
    add_gap(batch_.gaps, {topic_, partition_, from, to, GapReason::overwritten});
}
void WorkRecords::corrupt(std::uint64_t offset) noexcept {
    add_gap(batch_.gaps, {topic_, partition_, offset, offset + 1, GapReason::corrupt});
}

}  // namespace ringmain
