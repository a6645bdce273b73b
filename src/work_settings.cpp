// What is decided when the work on a group's records begins: which values a file may hold.
#include "work_settings.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ringmain/queue.hpp"
#include "topic_name.hpp"

namespace ringmain {

namespace {

using layout::WorkSettings;

constexpr std::uint64_t kTimeMsMax = static_cast<std::uint64_t>(kLockTimeMax.count());
constexpr std::uint32_t kExhaustedMax = 2;
constexpr std::uint32_t kExpiredMax = 1;
constexpr std::uint32_t kToLetters = 0;

struct Range {
    const char* name;
    std::uint64_t value;
    std::uint64_t min;
    std::uint64_t max;
};

std::optional<std::string> fault_of(std::initializer_list<Range> ranges) {
    for (const Range& range : ranges) {
        if (range.value >= range.min && range.value <= range.max)
            continue;
        return std::string(range.name) + " " + std::to_string(range.value) + " is outside " + std::to_string(range.min) +
               " to " + std::to_string(range.max);
    }
    return std::nullopt;
}

/// The topic that letters go to is named altogether or not at all, and there is one if anything goes there.
std::optional<std::string> fault_of_letters(const WorkSettings& settings) {
    if (settings.letters_name_length > kTopicNameMax)
        return "the dead-letter topic's name has " + std::to_string(settings.letters_name_length) + " bytes";
    const bool expires_there = settings.kind == kWorkOfQueue && settings.expired == kToLetters;
    const bool goes_there = settings.exhausted == kToLetters || expires_there;
    if (settings.letters_name_length == 0) {
        if (goes_there)
            return "records go to a dead-letter topic, and none is named";
        if ((settings.letters_id_low | settings.letters_id_high | settings.letters_partitions) != 0)
            return "a dead-letter topic has an id or partitions, and no name";
        return std::nullopt;
    }
    if (!is_topic_name({settings.letters_name.data(), settings.letters_name_length}))
        return "the dead-letter topic's name is none that a topic can have";
    if ((settings.letters_id_low | settings.letters_id_high) == 0)
        return "the dead-letter topic has no id";
    return fault_of({{"letters_partitions", settings.letters_partitions, 1, kPartitionsMax}});
}

}  // namespace

std::optional<std::string> fault_of(const WorkSettings& settings) {
    if (auto fault = fault_of({{"kind", settings.kind, kWorkOfQueue, kWorkOfStream}}))
        return fault;
    const bool queue = settings.kind == kWorkOfQueue;
    const std::uint64_t lock_ms_min = queue ? static_cast<std::uint64_t>(kLockTimeMin.count()) : 0;
    if (auto fault = fault_of({{"lock_ms", settings.lock_ms, lock_ms_min, kTimeMsMax},
                               {"backoff_max_ms", settings.backoff_max_ms, 0, kTimeMsMax},
                               {"backoff_first_ms", settings.backoff_first_ms, 0, settings.backoff_max_ms},
                               {"backoff_factor_permille", settings.backoff_factor_permille, 1'000, 100'000},
                               {"backoff_jitter_permille", settings.backoff_jitter_permille, 0, 500},
                               {"delivery_limit", settings.delivery_limit, 0, kDeliveryLimitMax},
                               {"exhausted", settings.exhausted, 0, queue ? kExpiredMax : kExhaustedMax},
                               {"expired", settings.expired, 0, kExpiredMax}}))
        return fault;
    return fault_of_letters(settings);
}

std::string_view letters_name(const WorkSettings& settings) noexcept {
    return {settings.letters_name.data(), settings.letters_name_length};
}

TopicId letters_id(const WorkSettings& settings) noexcept {
    TopicId id{};
    std::memcpy(id.data(), &settings.letters_id_low, sizeof settings.letters_id_low);
    std::memcpy(id.data() + sizeof settings.letters_id_low, &settings.letters_id_high, sizeof settings.letters_id_high);
    return id;
}

void set_letters(WorkSettings& settings, std::string_view name, const TopicId& id, std::uint32_t partitions) noexcept {
    settings.letters_name = {};
    name.copy(settings.letters_name.data(), settings.letters_name.size());
    settings.letters_name_length = static_cast<std::uint32_t>(name.size());
    settings.letters_partitions = partitions;
    std::memcpy(&settings.letters_id_low, id.data(), sizeof settings.letters_id_low);
    std::memcpy(&settings.letters_id_high, id.data() + sizeof settings.letters_id_low, sizeof settings.letters_id_high);
}

std::uint64_t window_max(const TopicOptions& topic) noexcept { return std::min(topic.records, layout::kWorkWindowMax); }

bool is_window(const TopicOptions& topic, std::uint64_t window) noexcept {
    return std::has_single_bit(window) && window <= window_max(topic);
}

}  // namespace ringmain
