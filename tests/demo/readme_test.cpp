// The README tells the truth: its commands run, its programs are the examples, its limits are the headers', its links
// lead somewhere.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/demo_text.hpp"
#include "demo_run.hpp"
#include "markdown.hpp"
#include "ringmain/topic_options.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using namespace ringmain::test;
using ringmain::cli::demo::grouped;

namespace {

std::string without_first_line(const std::string& text) { return text.substr(text.find('\n') + 1); }

/// Runs a block as a user's shell would, with the programs of this build first in the path.
ProgramResult run_block(const FencedBlock& block, const std::filesystem::path& home,
                        const std::filesystem::path& broker) {
    const char* path = std::getenv("PATH");
    const std::string programs = std::filesystem::path(RINGMAIN_CLI_PATH).parent_path().string() + ":" +
                                 std::filesystem::path(RINGMAIN_DAEMON_PATH).parent_path().string();
    return run_program({"/bin/sh", "-euc", "cd '" + home.string() + "'\n" + block.text},
                       {{"PATH", programs + ":" + (path == nullptr ? "" : path)}, {"RINGMAIN_DIR", broker.string()}});
}

std::string range_of(std::uint64_t from, std::uint64_t to) { return grouped(from) + " to " + grouped(to); }

}  // namespace

TEST_CASE("Every shell block of the README runs, in order, in one broker directory, and prints what is shown behind it") {
    const TestDirectory directory;
    const std::filesystem::path home = directory.path() / "home";
    std::filesystem::create_directory(home);
    int run = 0;
    int shown = 0;
    std::string printed;  // by the block before, if it was a shell block that ran
    for (const FencedBlock& block : fenced_blocks(read_source_file("README.md"))) {
        if (block.language == "text" && !printed.empty()) {
            INFO("README.md:" << block.line);
            CHECK(block.text == printed);
            ++shown;
        }
        printed.clear();
        if (block.language != "sh" || block.remark.starts_with("skip-test"))
            continue;
        const ProgramResult result = run_block(block, home, directory.path() / "broker");
        INFO("README.md:" << block.line << "\n" << block.text << result.output << result.errors);
        CHECK(result.exit_code == 0);
        printed = result.output;
        ++run;
    }
    CHECK(run >= 5);
    CHECK(shown >= 3);
}

TEST_CASE("The programs in the README are short and print what is shown behind them, in any order of their first starts") {
    const TestDirectory directory;
    const std::map<std::string, std::string> environment = {{"RINGMAIN_DIR", (directory.path() / "broker").string()}};
    const auto run = [&](const std::string& name) {
        return run_program({std::string(RINGMAIN_EXAMPLES_PATH) + "/" + name}, environment);
    };
    const ProgramResult early = run("consumer");
    CHECK(early.exit_code == 0);
    CHECK(early.output == "");
    const std::vector<FencedBlock> blocks = fenced_blocks(read_source_file("README.md"));
    std::vector<std::string> names = {"producer", "consumer", "group_member", "queue_worker"};
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
        if (blocks[i].language != "cpp")
            continue;
        REQUIRE_FALSE(names.empty());
        INFO(names.front());
        CHECK(std::count(blocks[i].text.begin(), blocks[i].text.end(), '\n') <= 15);
        REQUIRE(blocks[i + 1].language == "text");
        const ProgramResult result = run(names.front());
        CHECK(result.exit_code == 0);
        CHECK(result.output == blocks[i + 1].text);
        names.erase(names.begin());
    }
    CHECK(names.empty());
}

TEST_CASE("A shell block of the README that is not run says why, and there are few") {
    int skipped = 0;
    for (const FencedBlock& block : fenced_blocks(read_source_file("README.md"))) {
        if (!block.remark.starts_with("skip-test"))
            continue;
        INFO("README.md:" << block.line);
        CHECK(std::regex_match(block.remark, std::regex("skip-test \\(.{20,}\\)")));
        ++skipped;
    }
    CHECK(skipped <= 2);
}

TEST_CASE("The programs in the README are the examples") {
    const std::string readme = read_source_file("README.md");
    std::vector<std::string> programs;
    for (const FencedBlock& block : fenced_blocks(readme)) {
        if (block.language == "cpp")
            programs.push_back(block.text);
    }
    REQUIRE(programs.size() == 4);
    CHECK(programs[0] == without_first_line(read_source_file("examples/producer.cpp")));
    CHECK(programs[1] == without_first_line(read_source_file("examples/consumer.cpp")));
    CHECK(programs[2] == without_first_line(read_source_file("examples/group_member.cpp")));
    CHECK(programs[3] == without_first_line(read_source_file("examples/queue_worker.cpp")));
}

TEST_CASE("The limits in the README are those of the headers") {
    const TopicOptions defaults;
    const std::string readme = read_source_file("README.md");
    for (const std::string& row : {
             "| partitions of a topic | " + grouped(defaults.partitions) + " | " + range_of(1, kPartitionsMax) + " |",
             "| records (cells) per partition | " + grouped(defaults.records) + " | " +
                 range_of(kRecordsMin, kRecordsMax) + ", a power of two",
             "| bytes of a cell | " + grouped(defaults.cell_bytes) + " | 64, 128 or 256;",
             "| payload memory per partition, for larger records | " + grouped(defaults.payload_bytes) +
                 " bytes | 0, or " + range_of(kPayloadMin, kPayloadMax) + " bytes, a power of two, and 8,192 to 2,147,483,648 per producer slot |",
             "| producers attached to a partition at one time | " + grouped(defaults.producer_slots) + " | " +
                 range_of(1, kProducerSlotsMax),
             "| consumer groups of a topic at one time | " + grouped(defaults.groups) + " | " + range_of(1, kGroupsMax) + " |",
             "| members of a consumer group at one time | " + grouped(defaults.members) + " | " + range_of(1, kMembersMax) + " |",
             "| retention: age, records, bytes per partition | none | " + grouped(kRetentionAgeMin.count()) + " ms to " +
                 grouped(kRetentionAgeMax.count() / 24) + " days; " + range_of(1, kRetentionRecordsMax) + "; 1 byte to " +
                 grouped(kRetentionBytesMax >> 40) + " TiB |",
             "| first offset | " + grouped(defaults.first_offset) + " | " + range_of(0, kFirstOffsetMax) + " |",
             "| key | | " + grouped(kKeyBytesMax) + " bytes |",
             "| topic name | | " + grouped(kTopicNameMax) + " characters",
             "| largest record | " + grouped(defaults.payload_bytes / (2 * std::uint64_t{defaults.producer_slots})) +
                 " bytes |",
         }) {
        CHECK_THAT(readme, contains(row));
    }
}

TEST_CASE("The links of the README lead to files and headings that are there") {
    const std::string readme = read_source_file("README.md");
    const std::regex link("\\]\\(([^)#]+)\\)");
    int links = 0;
    for (std::sregex_iterator match(readme.begin(), readme.end(), link), end; match != end; ++match, ++links) {
        INFO((*match)[1]);
        CHECK(std::filesystem::exists(std::filesystem::path(RINGMAIN_SOURCE_DIR) / (*match)[1].str()));
    }
    CHECK(links >= 5);
}

TEST_CASE("The README quotes results from the committed file alone") {
    const std::string readme = read_source_file("README.md");
    const std::size_t begin = readme.find("<!-- results -->");
    const std::size_t end = readme.find("<!-- /results -->");
    REQUIRE(begin != std::string::npos);
    REQUIRE(end != std::string::npos);
    std::istringstream lines(readme.substr(begin, end - begin));
    const bool committed =
        std::filesystem::exists(std::filesystem::path(RINGMAIN_SOURCE_DIR) / "bench/results/latest.md");
    // which is not the README's directory, and so has another way to the reasons
    const std::string results =
        committed ? std::regex_replace(read_source_file("bench/results/latest.md"),
                                       std::regex(R"(, \[why\]\([^)]*\))"), "")
                  : "";
    std::string line;
    while (std::getline(lines, line)) {
        if (!line.starts_with("|"))
            continue;
        INFO(line);
        CHECK(results.find(line + "\n") != std::string::npos);
    }
}
