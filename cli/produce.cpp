// `ringmain produce`: each line of standard input, or each file, becomes a record.
#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "input_file.hpp"
#include "line_reader.hpp"
#include "options.hpp"
#include "publisher.hpp"
#include "record_template.hpp"
#include "ringmain/producer.hpp"
#include "signals.hpp"
#include "whole_input.hpp"

namespace ringmain::cli {

namespace {

constexpr std::string_view kStandardInput = "standard input";

constexpr const char* kFooter =
    "Lines are bytes: any but the newline may be in them, the newline is not part of the record, and a last line "
    "without\n"
    "one counts. With FILE, each file's whole content is one record ('-' is all of standard input), newlines "
    "included;\n"
    "with FILE and -K, each line of each file is one.\n"
    "A record goes to the partition of -p; otherwise to the one of its key's hash, as in Kafka; records with a null "
    "key\n"
    "are spread over the partitions, those that were read together to one. An empty key (-k '', or -K with nothing "
    "before\n"
    "the delimiter) is not null. -Z concerns values only.\n"
    "The number of published records is printed on stderr.\n\n"
    "Examples:\n"
    "  echo 'MSFT,421.5' | ringmain produce trades -K ,\n"
    "  tail -F app.log | ringmain produce logs -H host=web1\n"
    "  ringmain produce trades -K , --name loader trades.csv   # again after a kill: publishes the rest\n"
    "  ringmain produce frames -k camera1 frame1.jpg frame2.jpg\n"
    "  ringmain produce trades -K , monday.csv tuesday.csv";

struct ProduceArguments {
    std::string topic;
    std::vector<std::string> files;
    std::optional<std::string> key;
    std::optional<std::string> delimiter;
    std::vector<std::string> headers;
    std::string name;
    std::uint32_t partition = 0;
    bool has_partition = false;
    bool empty_is_null = false;
};

/// Keeps views of the arguments.
RecordTemplate make_template(const ProduceArguments& arguments) {
    RecordTemplate record;
    if (arguments.key)
        record.set_key(*arguments.key);
    if (arguments.delimiter)
        record.set_delimiter(*arguments.delimiter);
    for (const std::string& header : arguments.headers)
        record.add_header(header);
    if (arguments.has_partition)
        record.set_partition(arguments.partition);
    record.set_empty_is_null(arguments.empty_is_null);
    return record;
}

void check_partition(const ProduceArguments& arguments, const Producer& producer) {
    if (!arguments.has_partition || arguments.partition < producer.partitions())
        return;
    throw CommandError(fmt::format("topic '{}' has no partition {}, only 0 to {}", producer.topic(),
                                   arguments.partition, producer.partitions() - 1));
}

std::string_view source_name(std::string_view path) noexcept { return path == "-" ? kStandardInput : path; }

/// Numbers the records of a named producer over all its input, and no others.
class Sequence {
public:
    explicit Sequence(bool named) noexcept : named_(named) {}
    [[nodiscard]] ProducerRecord number(ProducerRecord record) noexcept {
        record.sequence = named_ ? ++last_ : 0;
        return record;
    }

private:
    bool named_;
    std::uint64_t last_ = 0;
};

void produce_lines(const std::string& path, const RecordTemplate& record, const Producer& producer, Sequence& sequence,
                   Publisher& publisher) {
    const InputFile input(path);
    const std::uint64_t line_bytes_max = record.line_bytes_max(producer.record_bytes_max());
    LineReader reader(input.descriptor(), std::string(source_name(path)), line_bytes_max);
    Origin origin{source_name(path)};
    while (reader.fill()) {
        while (const std::optional<LineReader::Line> line = reader.next()) {
            ++origin.line;
            if (line->bytes > line_bytes_max)
                publisher.refuse_large(origin, line->bytes);
            publisher.add(sequence.number(record.from_line(line->text)), origin);
        }
        publisher.publish();  // before the next read, which may wait
    }
}

void produce_file(const std::string& path, const RecordTemplate& record, const Producer& producer, Sequence& sequence,
                  Publisher& publisher) {
    const WholeInput input = read_whole(path, producer.record_bytes_max());
    const Origin origin{source_name(path)};
    if (input.bytes > input.content.size())
        publisher.refuse_large(origin, input.bytes);
    publisher.add(sequence.number(record.from_value(input.content)), origin);
    publisher.publish();
}

void run_produce(const CLI::App& app, const ProduceArguments& arguments) {
    const RecordTemplate record = make_template(arguments);
    const Broker broker = open_broker(app);
    Producer producer(broker, arguments.topic, {.timeout = Publisher::kPublishPatience, .name = arguments.name});
    check_partition(arguments, producer);
    catch_stop_signals();
    Publisher publisher(broker, producer);
    Sequence sequence(!arguments.name.empty());
    const auto tell_count = [&] {
        note("{} published to {}", counted(publisher.published(), "record"), arguments.topic);
        if (publisher.duplicates() != 0)
            note("{} had been published before by '{}'", counted(publisher.duplicates(), "record"), arguments.name);
    };
    try {
        if (arguments.files.empty())
            produce_lines("-", record, producer, sequence, publisher);
        for (const std::string& path : arguments.files) {
            if (arguments.delimiter)
                produce_lines(path, record, producer, sequence, publisher);
            else
                produce_file(path, record, producer, sequence, publisher);
        }
    } catch (...) {
        tell_count();  // what was published before the error stays published
        throw;
    }
    tell_count();
}

}  // namespace

void add_produce(CLI::App& app) {
    CLI::App* produce = app.add_subcommand("produce", "Publish lines of standard input, or whole files, as records");
    const auto arguments = std::make_shared<ProduceArguments>();
    produce->add_option("TOPIC", arguments->topic, "The topic; it is never created here")->required();
    produce->add_option("FILE", arguments->files, "Publish each file as one record, or with -K each of its lines");
    CLI::Option* key = produce->add_option("-k,--key", arguments->key, "Key of every record")->type_name("KEY");
    produce
        ->add_option("-K,--key-delimiter", arguments->delimiter,
                     "Split key and value at the first DELIM (one or more bytes; \\t, \\xNN are understood); a line "
                     "without it has a null key")
        ->type_name("DELIM")
        ->excludes(key);
    CLI::Option* partition = add_number(*produce, "-p,--partition", arguments->partition, {0, kPartitionsMax - 1},
                                        "Partition of every record");
    partition->type_name("P");
    produce
        ->add_option("-H,--header", arguments->headers,
                     "Header of every record; without '=' its value is null; may be repeated")
        ->type_name("name=value")
        ->allow_extra_args(false);
    produce
        ->add_option("--name", arguments->name,
                     "Publish as the named producer NAME, each record numbered by its place in the input: run again with the "
                     "same input after any interruption, this publishes only what is not in the log yet")
        ->type_name("NAME")
        ->check(CLI::Validator([](std::string& name) { return name.empty() ? "a name is not empty" : ""; }, ""));
    produce->add_flag("-Z,--empty-is-null", arguments->empty_is_null, "Publish an empty value as null");
    produce->footer(kFooter);
    produce->callback([produce, partition, arguments] {
        arguments->has_partition = partition->count() > 0;
        run_produce(*produce, *arguments);
    });
}

}  // namespace ringmain::cli
