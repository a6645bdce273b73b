// `ringmain queue create`.
#include <fmt/core.h>

#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "context.hpp"
#include "durations.hpp"
#include "errors.hpp"
#include "json_values.hpp"
#include "options.hpp"
#include "output.hpp"
#include "positions.hpp"
#include "queue_commands.hpp"
#include "queue_report.hpp"
#include "signals.hpp"

namespace ringmain::cli {

namespace {

struct CreateArguments {
    std::string topic;
    std::string queue;
    QueueOptions options;
    bool json = false;
};

using Arguments = std::shared_ptr<CreateArguments>;

/// The library's text with the options called as on the command line.
std::string in_our_words(std::string text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNames = {{
        {"lock_time", "--lock-time"},
        {"delivery_limit", "--delivery-limit"},
        {"backoff.first", "--backoff-first"},
        {"backoff.max", "--backoff-max"},
        {"backoff.factor", "--backoff-factor"},
        {"backoff.jitter", "--backoff-jitter"},
        {"dead_letter_topic", "--dead-letter-topic"},
        {"max_in_flight", "--max-in-flight"},
        {"window ", "--window "},
        {"exhausted is", "--exhausted is"},
        {"expired is", "--expired is"},
    }};
    for (const auto& [theirs, ours] : kNames) {
        for (std::size_t at = text.find(theirs); at != std::string::npos; at = text.find(theirs, at + ours.size()))
            text.replace(at, theirs.size(), ours);
    }
    return text;
}

std::chrono::milliseconds parse_milliseconds(std::string_view option, std::string_view text) {
    const auto duration = parse_duration(text);
    if (duration && *duration % std::chrono::milliseconds(1) == std::chrono::nanoseconds(0))
        return std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
    throw UsageError(fmt::format("{}: '{}' is no duration such as 500ms, 30s, 10m, 2h", option, text));
}

double parse_decimal(std::string_view option, std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error == std::errc() && end == text.data() + text.size())
        return value;
    throw UsageError(fmt::format("{}: '{}' is no decimal number such as 2 or 1.5", option, text));
}

Exhausted parse_end(std::string_view option, std::string_view text) {
    if (text == "dead-letter")
        return Exhausted::dead_letter;
    if (text == "skip")
        return Exhausted::skip;
    throw UsageError(fmt::format("{}: '{}' is neither dead-letter nor skip", option, text));
}

template <class Value, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, Value& value, const Parse& parse, const std::string& help) {
    return app.add_option_function<std::string>(
        name, [&value, parse, name](const std::string& text) { value = parse(name, text); }, help);
}

void run(const CLI::App& app, const CreateArguments& arguments) {
    hold_stop_signals();
    QueueAdmin admin(open_broker(app));
    try {
        admin.create(arguments.topic, arguments.queue, arguments.options);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::invalid_argument)
            throw UsageError(in_our_words(error.what()));
        throw;
    }
    const QueueDescription queue = admin.describe(arguments.topic, arguments.queue);
    for (const QueuePartitionDescription& partition : queue.partitions)
        note_if_beyond_end(queue.topic, partition.lag);
    print(arguments.json ? line(queue_to_json(queue)) + "\n" : queue_options_to_text(queue));
}

}  // namespace

void add_queue_create(CLI::App& queue) {
    CLI::App* create = queue.add_subcommand("create", "Create a work queue of a topic's records, with its memory");
    const auto arguments = std::make_shared<CreateArguments>();
    QueueOptions& options = arguments->options;
    create->add_option("QUEUE", arguments->queue, "1 to 200 bytes; no other group of the topic has the name")->required();
    create->add_option("-t,--topic", arguments->topic, "The topic")->required()->type_name("TOPIC");
    add_parsed(*create, "--start", options.start, parse_position, "earliest (default), latest, OFFSET or @TIME")->type_name("POSITION");
    create->add_flag("--gating", options.gating, "On a topic that blocks when full: producers wait for unfinished records");
    add_parsed(*create, "--lock-time", options.lock_time, parse_milliseconds, "How long a worker has a record: 10ms to 12h (default 30s)")
        ->type_name("DURATION");
    add_number(*create, "--delivery-limit", options.delivery_limit, {0, kDeliveryLimitMax}, "Deliveries of a record before it is given up: 1 to 30 (default 5); 0: no limit")
        ->type_name("N");
    add_parsed(*create, "--backoff-first", options.backoff.first, parse_milliseconds, "Wait after the first failure, up to --backoff-max (default 1s)")->type_name("DURATION");
    add_parsed(*create, "--backoff-max", options.backoff.max, parse_milliseconds, "The longest wait, up to 12h (default 1m)")->type_name("DURATION");
    add_parsed(*create, "--backoff-factor", options.backoff.factor, parse_decimal, "By which waits grow: 1 to 100 (default 2)")->type_name("X");
    add_parsed(*create, "--backoff-jitter", options.backoff.jitter, parse_decimal, "By which each wait may differ: 0 to 0.5 of it (default 0.1)")->type_name("X");
    add_parsed(*create, "--exhausted", options.exhausted, parse_end, "What becomes of a record that is given up or rejected: dead-letter (default), skip")
        ->type_name("WHAT");
    add_parsed(*create, "--expired", options.expired, parse_end, "The same when its time to live is over")->type_name("WHAT");
    create->add_option("--dead-letter-topic", options.dead_letter_topic, "Where dead letters go (default TOPIC.dlq); created if it is not there")->type_name("TOPIC");
    add_number(*create, "--max-in-flight", options.max_in_flight, {0, UINT32_MAX}, "Records that all workers hold together at most; 0 (default): no limit")->type_name("N");
    add_number(*create, "--window", options.window, {0, UINT64_MAX}, "Offsets with unfinished records at most, a power of two; 0 (default): all that the topic holds")
        ->type_name("N");
    create->add_flag("--json", arguments->json, "Print an object");
    create->footer(
        "A queue takes 8 bytes of memory for each record that the topic holds, and 132 KiB.\n\n"
        "Examples:\n"
        "  ringmain queue create mail -t orders\n"
        "  ringmain queue create mail -t orders --lock-time 2m --delivery-limit 3 --backoff-first 5s\n"
        "  ringmain queue create audit -t orders --start latest --exhausted skip --expired skip");
    create->callback([create, arguments] { run(*create, *arguments); });
}

}  // namespace ringmain::cli
