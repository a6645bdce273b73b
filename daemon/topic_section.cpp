// A topic's options in the configuration file.
#include "topic_section.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <chrono>
#include <optional>

#include "quantities.hpp"
#include "ringmain/error.hpp"

namespace ringmain::daemon {

namespace {

constexpr std::uint32_t kFileModeMax = 0666;

struct OptionName {
    std::string_view library;
    std::string_view key;
};
constexpr std::array kNames = {
    OptionName{"payload_bytes", "payload"},
    OptionName{"producer_slots", "producers"},
    OptionName{"cell_bytes", "cell"},
};

template <class Number>
void set(Number& option, const std::optional<std::uint64_t>& value) {
    if (value)
        option = static_cast<Number>(*value);
}

bool refuse_unless_power_of_two(TableReader& reader, std::string_view key, std::optional<std::uint64_t> value) {
    if (!value || std::has_single_bit(*value))
        return true;
    const std::uint64_t below = std::bit_floor(*value);
    reader.refuse(key, fmt::format("{} is not a power of two; the nearest are {} and {}", *value, below, below * 2));
    return false;
}

// Refused values stay out, so that what goes together is only asked of values that are right by themselves.
template <class Number>
void set_power_of_two(TableReader& reader, std::string_view key, Number& option, std::optional<std::uint64_t> value) {
    if (refuse_unless_power_of_two(reader, key, value))
        set(option, value);
}

void read_sizes(TableReader& reader, TopicOptions& options) {
    set(options.partitions, reader.count("partitions", {1, kPartitionsMax}));
    set_power_of_two(reader, "records", options.records, reader.amount("records", {kRecordsMin, kRecordsMax}));
    if (const auto cell = reader.size("cell", {64, 256})) {
        if (*cell == 64 || *cell == 128 || *cell == 256) {
            set(options.cell_bytes, cell);
        } else {
            reader.refuse("cell", fmt::format("{} is none of 64, 128 and 256", *cell));
        }
    }
    const auto payload = reader.size("payload", {0, kPayloadMax});
    if (payload == std::uint64_t{0}) {
        options.payload_bytes = 0;
    } else if (payload && *payload < kPayloadMin) {
        reader.refuse("payload", fmt::format("{} is neither 0 nor {} to {}", *payload, kPayloadMin, kPayloadMax));
    } else {
        set_power_of_two(reader, "payload", options.payload_bytes, payload);
    }
    set_power_of_two(reader, "producers", options.producer_slots, reader.count("producers", {1, kProducerSlotsMax}));
    set(options.groups, reader.count("groups", {1, kGroupsMax}));
    set(options.members, reader.count("members", {1, kMembersMax}));
    set(options.first_offset, reader.count("first_offset", {0, kFirstOffsetMax}));
}

void read_retention(TableReader& reader, Retention& retention) {
    constexpr std::uint64_t kAgeMsMax = std::chrono::milliseconds(kRetentionAgeMax).count();
    if (const auto age = reader.duration("retention_age", {0, kAgeMsMax})) {
        if (age->count() == 0 || *age >= kRetentionAgeMin) {
            retention.age = *age;
        } else {
            reader.refuse("retention_age",
                          fmt::format("{} is neither 0 nor {} to {}", duration_to_text(*age),
                                      duration_to_text(kRetentionAgeMin), duration_to_text(kRetentionAgeMax)));
        }
    }
    set(retention.records, reader.amount("retention_records", {0, kRetentionRecordsMax}));
    set(retention.bytes, reader.size("retention_bytes", {0, kRetentionBytesMax}));
}

void read_policy(TableReader& reader, TopicOptions& options) {
    if (const auto policy = reader.choice("when_full", {"overwrite", "block"}))
        options.when_full = *policy == 0 ? WhenFull::overwrite : WhenFull::block;
    read_retention(reader, options.retention);
}

void read_access(TableReader& reader, TopicAccess& access) {
    if (const auto owner = reader.user("owner"))
        access.owner = owner;
    if (const auto group = reader.group("group"))
        access.group = group;
    if (const auto mode = reader.mode("mode", kFileModeMax))
        access.mode = mode;
}

void read_value_type(TableReader& reader, ValueType& type, ProblemList& problems) {
    const toml::table* const table = reader.table("value_type");
    if (table == nullptr)
        return;
    TableReader inner(*table, reader.path_of("value_type"), problems);
    type.name = inner.text("name").value_or("");
    set(type.size, inner.size("size", {1, UINT32_MAX}));
    set(type.alignment, inner.count("alignment", {1, 1U << 16}));
    refuse_unless_power_of_two(inner, "alignment", type.alignment);
    inner.refuse_unknown_keys();
    if (!type.name.empty() && type.name.size() <= kTypeNameMax)
        return;
    inner.refuse("name", fmt::format("a name of 1 to {} bytes is needed", kTypeNameMax));
    type = {};
}

/// The library's text with the options called as in the file.
std::string in_our_words(std::string text) {
    if (const std::size_t at = text.find("': "); at != std::string::npos)
        text.erase(0, at + 3);
    for (const auto& [theirs, ours] : kNames) {
        for (std::size_t at = text.find(theirs); at != std::string::npos; at = text.find(theirs, at + ours.size()))
            text.replace(at, theirs.size(), ours);
    }
    return text;
}

std::optional<std::string> conflict_in(const TopicOptions& options) {
    try {
        check_topic_options("", options);
        return std::nullopt;
    } catch (const Error& error) {
        return in_our_words(error.what());
    }
}

/// What is wrong with values that are right by themselves: too few records or too little payload for the producers.
/// They are put right, so that what inherits them is not refused for them again.
void check_together(TableReader& reader, TopicOptions& options) {
    TopicOptions payload_alone = options;
    payload_alone.records = kRecordsMax;  // enough for any number of producers
    if (const auto conflict = conflict_in(payload_alone)) {
        reader.refuse("payload", *conflict);
        options.payload_bytes = 0;
    }
    TopicOptions records_alone = options;
    records_alone.payload_bytes = 0;
    if (const auto conflict = conflict_in(records_alone)) {
        reader.refuse("records", *conflict);
        options.records = kRecordsMax;
    }
}

}  // namespace

TopicOptions read_topic_options(const toml::table& table, const std::string& path, const TopicOptions& defaults,
                                ProblemList& problems) {
    TopicOptions options = defaults;
    TableReader reader(table, path, problems);
    read_sizes(reader, options);
    read_policy(reader, options);
    read_access(reader, options.access);
    read_value_type(reader, options.value_type, problems);
    reader.refuse_unknown_keys();
    check_together(reader, options);
    return options;
}

}  // namespace ringmain::daemon
