// `ringmain verify` and `ringmain dump`.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using Json = nlohmann::json;

/// The file of the topic's first partition.
std::filesystem::path partition_file(const CliBroker& broker) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(broker.directory())) {
        if (entry.path().filename() == "0.log")
            return entry.path();
    }
    throw std::runtime_error("no 0.log");
}

}  // namespace

TEST_CASE("Verify counts what is there and finds no damage in a sound broker") {
    const CliBroker broker;
    broker.create_topic("a", {"--partitions", "2"});
    broker.create_topic("b");
    REQUIRE(broker.run({"produce", "a", "-p", "1"}, "x\ny\n" + std::string(1000, 'z') + "\n").exit_code == 0);
    const CliResult text = broker.run({"verify"});
    CHECK(text.exit_code == 0);
    CHECK(text.errors == "");
    CHECK(text.output == "topics 2, partitions 3, records 3, skipped offsets 0, open tickets 0\nno damage\n");
    const Json one = Json::parse(broker.run({"verify", "b", "--json"}).output);
    CHECK(one["topics"] == 1);
    CHECK(one["partitions"] == 1);
    CHECK(one["records"] == 0);
    CHECK(one["damage"].empty());
}

TEST_CASE("Verify lists damage and exits with 1") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, "x\ny\nz\n").exit_code == 0);
    const Json cell = Json::parse(broker.run({"dump", "t", "-o", "1", "--json"}).output);
    std::fstream file(partition_file(broker), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(cell["file_position"].get<std::uint64_t>()) +
               16);  // the length of the record
    file.write("\xFF\xFF\xFF\xFF", 4);
    file.close();
    REQUIRE(file);

    const CliResult text = broker.run({"verify"});
    CHECK(text.exit_code == 1);
    CHECK_THAT(text.output, contains("damage: ") && contains("0.log"));
    CHECK_THAT(text.errors,
               contains("ringmain: ") && contains(broker.directory().string()) && contains("1 finding of damage"));
    const CliResult json = broker.run({"verify", "--json"});
    CHECK(json.exit_code == 1);
    REQUIRE(Json::parse(json.output)["damage"].size() == 1);

    const CliResult consumed = broker.run({"consume", "t", "-e"});
    CHECK(consumed.exit_code == 0);
    CHECK(consumed.output == "x\nz\n");
    CHECK_THAT(consumed.errors, contains("gap: t[0] 1..2 1 records corrupt"));
}

TEST_CASE("Dump shows the raw bytes of a cell and what they mean") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t", "-k", "KEY"}, "VALUE\n").exit_code == 0);
    const CliResult text = broker.run({"dump", "t", "-p", "0", "-o", "0"});
    CHECK(text.exit_code == 0);
    CHECK_THAT(text.output, contains("topic t partition 0 offset 0\n") && contains("committed") &&
                                contains("key length     3\n") && contains("cell, 128 bytes\n00000000: ") &&
                                contains("KEY") && contains("VALUE"));
    const Json cell = Json::parse(broker.run({"dump", "t", "-o", "0", "--json"}).output);
    CHECK(cell["offset"] == 0);
    CHECK(cell["key_length"] == 3);
    CHECK(cell["cell_base64"].get<std::string>().size() == 172);
}

TEST_CASE("Dump of an offset that is not in the log is refused with the range") {
    const CliBroker broker;
    broker.create_topic("t");
    REQUIRE(broker.run({"produce", "t"}, "a\nb\n").exit_code == 0);
    const CliResult result = broker.run({"dump", "t", "-o", "2"});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("ringmain: ") && contains("2"));
    CHECK(broker.run({"dump", "t", "-p", "1", "-o", "0"}).exit_code == 1);
}

}  // namespace ringmain::test
