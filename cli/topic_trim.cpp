// `ringmain topic trim`: deletes the oldest records of a topic now.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "errors.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "times.hpp"
#include "topic_commands.hpp"

namespace ringmain::cli {

namespace {

struct TrimArguments {
    std::string name;
    std::optional<std::uint32_t> partition;
    std::string before;
    bool json = false;
};

/// What `--before` says.
struct Place {
    bool end = false;
    std::optional<std::int64_t> time_ns;
    std::uint64_t offset = 0;
};

Place parse_place(const std::string& text) {
    if (text == "end")
        return {true, std::nullopt, 0};
    if (text.starts_with('@'))
        return {false, parse_time_ns("--before", text.substr(1)), 0};
    const std::optional<std::uint64_t> offset = parse_digits(text);
    if (!offset || *offset > kOffsetMax)
        throw UsageError(fmt::format("--before: '{}' is none of an offset from 0 to {}, end and @TIME", text, kOffsetMax));
    return {false, std::nullopt, *offset};
}

struct Trimmed {
    std::uint32_t partition = 0;
    std::uint64_t before = 0;
    RecordsDeleted deleted;
    std::string damage;  // nothing was deleted, because of it
};

std::vector<std::uint32_t> chosen(const TopicDescription& topic, const TrimArguments& arguments) {
    std::vector<std::uint32_t> partitions;
    for (const PartitionDescription& partition : topic.partitions) {
        if (!arguments.partition || *arguments.partition == partition.partition)
            partitions.push_back(partition.partition);
    }
    if (partitions.empty()) {
        throw CommandError(fmt::format("topic '{}' has no partition {} (partitions: {})", topic.name,
                                       arguments.partition.value_or(0), topic.options.partitions));
    }
    return partitions;
}

/// The offset in one partition that --before means.
std::uint64_t offset_of(const Place& place, const Broker& broker, const PartitionDescription& partition,
                        const std::string& topic) {
    if (place.end)
        return partition.log_end;
    if (!place.time_ns) {
        if (place.offset <= partition.log_end)
            return place.offset;
        throw CommandError(fmt::format("topic '{}' partition {}: offset {} is beyond the log end {}; nothing was deleted", topic,
                                       partition.partition, place.offset, partition.log_end));
    }
    Consumer reader(broker);
    reader.assign(topic, partition.partition);
    return std::min(reader.seek(topic, partition.partition, Position::since(*place.time_ns)).offset, partition.log_end);
}

std::vector<Trimmed> trim(Broker& broker, const TrimArguments& arguments) {
    const Place place = parse_place(arguments.before);
    const TopicDescription topic = broker.describe_topic(arguments.name);
    std::vector<Trimmed> trimmed;  // all places are known before anything goes
    for (const std::uint32_t partition : chosen(topic, arguments)) {
        Trimmed& one = trimmed.emplace_back();
        one.partition = partition;
        one.damage = topic.partitions[partition].damage;
        if (one.damage.empty())
            one.before = offset_of(place, broker, topic.partitions[partition], topic.name);
    }
    for (Trimmed& one : trimmed) {
        if (one.damage.empty())
            one.deleted = broker.delete_records(arguments.name, one.partition, one.before);
    }
    return trimmed;
}

std::string to_json(const std::vector<Trimmed>& trimmed) {
    using Json = nlohmann::ordered_json;
    Json array = Json::array();
    for (const Trimmed& one : trimmed) {
        array.push_back({{"partition", one.partition},
                         {"before", one.before},
                         {"from", one.deleted.from},
                         {"to", one.deleted.to},
                         {"deleted", one.deleted.to - one.deleted.from},
                         {"holder", one.deleted.holder.empty() ? Json(nullptr) : Json(one.deleted.holder)},
                         {"damage", one.damage.empty() ? Json(nullptr) : Json(one.damage)}});
    }
    return array.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const std::vector<Trimmed>& trimmed) {
    std::string text;
    for (const Trimmed& one : trimmed) {
        if (!one.damage.empty())
            continue;  // which goes to stderr
        const std::uint64_t count = one.deleted.to - one.deleted.from;
        fmt::format_to(std::back_inserter(text), "partition {}: {} deleted, the log starts at {}", one.partition,
                       counted(count, "record"), one.deleted.to);
        if (!one.deleted.holder.empty())
            fmt::format_to(std::back_inserter(text), "; {} holds what is before {}", one.deleted.holder, one.before);
        text.push_back('\n');
    }
    return text;
}

void run_trim(const CLI::App& app, const TrimArguments& arguments) {
    (void)parse_place(arguments.before);  // a slip is told before anything is opened
    Broker broker = open_broker(app);
    const std::vector<Trimmed> trimmed = trim(broker, arguments);
    print(arguments.json ? to_json(trimmed) : to_text(trimmed));
    std::uint64_t damaged = 0;
    for (const Trimmed& one : trimmed) {
        if (one.damage.empty())
            continue;
        ++damaged;
        note("topic '{}' partition {}: nothing was deleted: {}", arguments.name, one.partition, one.damage);
    }
    if (damaged != 0)
        throw Exit{kExitFailed};
}

}  // namespace

void add_topic_trim(CLI::App& topic) {
    CLI::App* trim = topic.add_subcommand("trim", "Delete the oldest records of a topic now, without asking");
    const auto arguments = std::make_shared<TrimArguments>();
    trim->add_option("NAME", arguments->name, "The topic")->required();
    trim->add_option_function<std::string>(
            "-p,--partition",
            [arguments](const std::string& text) {
                arguments->partition = static_cast<std::uint32_t>(parse_number("-p", text, {0, kPartitionsMax - 1}));
            },
            "Only this partition (default: all)")
        ->type_name("P");
    trim->add_option("--before", arguments->before,
                     "Delete up to this offset, the end, or the first record of that time or later")
        ->required()
        ->type_name("OFFSET|end|@TIME");
    trim->add_flag("--json", arguments->json, "Print an array of objects, one per partition");
    trim->footer(
        "Readers that were behind are told what they lost. Records that a group or a gate still needs stay; what holds them is "
        "printed.\nTimes are those of the records; see `ringmain consume --help` for how they are written.\n\n"
        "Examples:\n"
        "  ringmain topic trim trades --before end\n"
        "  ringmain topic trim trades -p 0 --before 1000 --json\n"
        "  ringmain topic trim trades --before @2026-01-02T03:04:05Z");
    trim->callback([trim, arguments] { run_trim(*trim, *arguments); });
}

}  // namespace ringmain::cli
