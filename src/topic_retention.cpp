// A topic's retention limits: what is legal, and the words in topic.meta that hold them.
#include "topic_retention.hpp"

#include <cstdint>
#include <string>

#include "file_stamp.hpp"
#include "platform/files.hpp"
#include "ringmain/error.hpp"
#include "topic_meta.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

using Word = std::atomic<std::uint64_t>;

// A limit that is not 0.
struct Bounds {
    std::uint64_t min;
    std::uint64_t max;
    [[nodiscard]] bool hold(std::uint64_t value) const noexcept { return value == 0 || (value >= min && value <= max); }
};

constexpr Bounds kAgeMs{kRetentionAgeMin.count(), std::chrono::milliseconds(kRetentionAgeMax).count()};
constexpr Bounds kRecords{1, kRetentionRecordsMax};
constexpr Bounds kBytes{1, kRetentionBytesMax};

// A negative age is above every bound.
std::uint64_t age_ms(const Retention& retention) noexcept { return static_cast<std::uint64_t>(retention.age.count()); }

void check_limit(std::string_view topic, const char* limit, const std::string& value, bool legal, const std::string& range) {
    if (legal) return;
    throw Error(ErrorCode::invalid_argument, std::string(topic),
                "topic '" + std::string(topic) + "': " + limit + " " + value + " is neither 0 nor " + range);
}

std::string range_text(Bounds bounds, const char* unit) {
    return std::to_string(bounds.min) + " to " + std::to_string(bounds.max) + unit;
}

// relaxed: each limit stands for itself
std::uint64_t look(const Word& word) noexcept { return word.load(std::memory_order_relaxed); }

std::uint64_t legal_or_none(const Word& word, Bounds bounds) noexcept {
    const std::uint64_t value = look(word);
    return bounds.hold(value) ? value : 0;
}

Retention retention_of(std::uint64_t age, std::uint64_t records, std::uint64_t bytes) noexcept {
    return {std::chrono::milliseconds(static_cast<std::int64_t>(age)), records, bytes};
}

}  // namespace

void check_retention(std::string_view topic, const Retention& retention) {
    check_limit(topic, "retention.age", std::to_string(retention.age.count()) + " ms", kAgeMs.hold(age_ms(retention)),
                range_text(kAgeMs, " ms"));
    check_limit(topic, "retention.records", std::to_string(retention.records), kRecords.hold(retention.records),
                range_text(kRecords, ""));
    check_limit(topic, "retention.bytes", std::to_string(retention.bytes), kBytes.hold(retention.bytes), range_text(kBytes, ""));
}

Retention read_retention(const layout::TopicMeta& meta) noexcept {
    return retention_of(legal_or_none(meta.retention_age_ms, kAgeMs), legal_or_none(meta.retention_records, kRecords),
                        legal_or_none(meta.retention_bytes, kBytes));
}

Retention retention_as_found(const layout::TopicMeta& meta) noexcept {
    return retention_of(look(meta.retention_age_ms), look(meta.retention_records), look(meta.retention_bytes));
}

void store_retention(layout::TopicMeta& meta, const Retention& retention) noexcept {
    // relaxed: each limit stands for itself
    meta.retention_age_ms.store(age_ms(retention), std::memory_order_relaxed);
    meta.retention_records.store(retention.records, std::memory_order_relaxed);
    meta.retention_bytes.store(retention.bytes, std::memory_order_relaxed);
}

void set_retention(const TopicFiles& topic, const Retention& retention) {
    check_retention(topic.name(), retention);
    const std::filesystem::path path = meta_path(topic.directory());
    const platform::Mapping file(path, platform::Access::read_write, layout::kTopicFileBytes);
    if (check_stamp(file, path, layout::FileKind::topic) != topic.id())
        throw Error(ErrorCode::topic_deleted, topic.name(),
                    "topic '" + topic.name() + "' was deleted; another one has its name");
    store_retention(topic_meta(file), retention);
    platform::sync_path(path);
}

}  // namespace ringmain
