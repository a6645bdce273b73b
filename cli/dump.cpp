// `ringmain dump`: one cell, its raw bytes and what they mean.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "hex_dump.hpp"
#include "options.hpp"
#include "output.hpp"
#include "ringmain/broker.hpp"
#include "times.hpp"
#include "utf8.hpp"

namespace ringmain::cli {

namespace {

struct DumpArguments {
    std::string topic;
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;
    bool json = false;
};

std::string cell_to_text(const DumpArguments& arguments, const CellDump& cell) {
    return fmt::format(
        "topic {} partition {} offset {}\n"
        "file position  {}\n"
        "word           0x{:016x}: {}\n"
        "timestamp      {} ({} ns)\n"
        "length         {}\n"
        "key length     {}\n"
        "flags          0x{:04x}\n"
        "cell, {} bytes\n{}"
        "body, {} bytes\n{}",
        arguments.topic, arguments.partition, cell.offset, cell.file_position, cell.word, cell.meaning,
        format_time_ns(cell.timestamp_ns), cell.timestamp_ns, cell.length, cell.key_length, cell.flags,
        cell.cell.size(), hex_dump(cell.cell), cell.body.size(), hex_dump(cell.body));
}

std::string cell_to_json(const DumpArguments& arguments, const CellDump& cell) {
    const nlohmann::ordered_json object = {{"topic", arguments.topic},
                                           {"partition", arguments.partition},
                                           {"offset", cell.offset},
                                           {"file_position", cell.file_position},
                                           {"word", cell.word},
                                           {"meaning", cell.meaning},
                                           {"timestamp_ns", cell.timestamp_ns},
                                           {"length", cell.length},
                                           {"key_length", cell.key_length},
                                           {"flags", cell.flags},
                                           {"cell_base64", to_base64(as_text(cell.cell))},
                                           {"body_base64", to_base64(as_text(cell.body))}};
    return object.dump() + "\n";
}

void run_dump(const CLI::App& app, const DumpArguments& arguments) {
    const CellDump cell = open_broker(app).dump(arguments.topic, arguments.partition, arguments.offset);
    print(arguments.json ? cell_to_json(arguments, cell) : cell_to_text(arguments, cell));
}

}  // namespace

void add_dump(CLI::App& app) {
    CLI::App* dump = app.add_subcommand("dump", "Show the raw bytes of one offset's cell, and what they mean");
    const auto arguments = std::make_shared<DumpArguments>();
    dump->add_option("TOPIC", arguments->topic, "The topic")->required();
    add_number(*dump, "-p,--partition", arguments->partition, {0, kPartitionsMax - 1}, "The partition (default 0)")
        ->type_name("P");
    add_number(*dump, "-o,--offset", arguments->offset, {}, "The offset")->type_name("OFFSET")->required();
    dump->add_flag("--json", arguments->json, "Print one object, bytes as base64");
    dump->footer("Example:\n  ringmain dump trades -p 0 -o 17");
    dump->callback([dump, arguments] { run_dump(*dump, *arguments); });
}

}  // namespace ringmain::cli
