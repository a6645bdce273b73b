// Whole runs of the main job on real input: its counts, its errors, and what it leaves behind.
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "demo_run.hpp"
#include "support/catch.hpp"

using namespace ringmain::test;
using Json = nlohmann::json;

namespace {

/// Rows with everything that RFC 4180 allows; the keys repeat unevenly, one of them is empty.
std::string awkward_csv(int rows) {
    const char* keys[] = {"plain", "\"with, comma\"", "\"two\r\nlines\"", "\"say \"\"hi\"\"\"", "", "Zürich", "東京"};
    std::string text = "number,place,note\r\n";
    for (int row = 0; row < rows; ++row) {
        text += std::to_string(row) + "," + keys[row % 23 % 7] + ",";
        if (row % 5 == 0)
            text += "\"" + std::string(static_cast<std::size_t>(row % 300), 'x') + ",\n\"\"\"";
        text += "\r\n";
    }
    return text;
}

}  // namespace

TEST_CASE("The demo on telemetry counts every record right and removes its directory") {
    const TestDirectory directory;
    const Json report = report_of(run_demo({"-d", directory.path(), "demo", "telemetry", "--seconds", "3", "--json"}));
    CHECK(directory.empty());
    CHECK(report.at("published").get<std::uint64_t>() > 1'000);
    CHECK(report.at("live").at("keys").get<std::uint64_t>() > 100);
    CHECK(report.at("live").at("gap_offsets") == 0);
    CHECK(report.at("late").at("joined_at_end").get<std::uint64_t>() > 0);
    CHECK(report.at("producers").size() == 4);
    CHECK(report.at("producers").at(3).at("published").get<std::uint64_t>() > 0);
    CHECK(report.at("producers").at(3).at("found_in_log").get<std::uint64_t>() > 0);
    CHECK(report.at("kill").at("while_publishing").get<bool>());
    CHECK(report.at("log").at("reaped_producers").get<std::uint64_t>() > 0);
}

TEST_CASE("The demo on a CSV file delivers every row exactly once, although a producer is killed") {
    const TestDirectory directory;
    const std::string file = directory.write("awkward.csv", awkward_csv(5'000));
    const Json report =
        report_of(run_demo({"demo", "--seconds", "3", "--input", file, "--key-column", "place", "--json"}));
    CHECK(report.at("source").at("rows") == 5'000);
    CHECK(report.at("source").at("keys") == 7);
    CHECK(report.at("live").at("read") == 5'000);
    CHECK(report.at("late").at("read") == 5'000);
    CHECK(report.at("late").at("keys") == 7);
    CHECK_FALSE(report.at("stopped_early").get<bool>());
}

TEST_CASE("The demo on a CSV file with fewer rows than producers still counts right") {
    const TestDirectory directory;
    const std::string file = directory.write("tiny.csv", "k,v\na,1\n");
    const Json report = report_of(run_demo({"demo", "--seconds", "2", "--input", file, "--key-column", "k", "--json"}));
    CHECK(report.at("live").at("read") == 1);
    CHECK_FALSE(report.at("kill").at("while_publishing").get<bool>());
}

TEST_CASE("The demo on a CSV file sorted by key counts right") {
    const TestDirectory directory;
    std::string text = "k,v\n";
    for (int key = 0; key < 4; ++key) {
        for (int row = 0; row < 30'000; ++row)
            text += "key" + std::to_string(key) + "," + std::to_string(row) + "\n";
    }
    const std::string file = directory.write("sorted.csv", text);
    const Json report = report_of(run_demo({"demo", "--seconds", "2", "--input", file, "--key-column", "k", "--json"}));
    CHECK(report.at("live").at("read") == 120'000);
}

TEST_CASE("The demo works with one producer and with eight") {
    for (const char* producers : {"1", "8"}) {
        const Json report =
            report_of(run_demo({"demo", "telemetry", "--seconds", "2", "--producers", producers, "--json"}));
        CHECK(report.at("producers").size() == std::stoul(producers) + 1);
    }
}

TEST_CASE("The demo on the flights counts every one of them") {
    const char* named = std::getenv("RINGMAIN_FLIGHTS_CSV");
    if (named == nullptr)
        SKIP("RINGMAIN_FLIGHTS_CSV does not name a file");
    const Json report =
        report_of(run_demo({"demo", "--seconds", "4", "--input", named, "--key-column", "origin", "--json"}));
    CHECK(report.at("live").at("read") == report.at("source").at("rows"));
}

TEST_CASE("The demo prints its table for people, and its progress in plain lines where there is no terminal") {
    const ProgramResult result = run_demo({"demo", "telemetry", "--seconds", "2"});
    INFO(result.output);
    REQUIRE(result.exit_code == 0);
    CHECK(result.errors.empty());
    for (const char* part :
         {"killed with SIGKILL", "a second consumer joined at offset 0", "publish to receive", "p99.9",
          "the kill of producer", "violations of the order", "  ok    the live consumer lost nothing"}) {
        CHECK_THAT(result.output, contains(part));
    }
    CHECK(result.output.find('\r') == std::string::npos);
    CHECK(result.output.find("WRONG") == std::string::npos);
}

TEST_CASE("The demo refuses bad input before it makes anything, and says where it is") {
    const TestDirectory directory;
    const std::string bad = directory.write("bad.csv", "k,v\na,1\nb,2,3\n");
    const ProgramResult fields = run_demo({"demo", "--input", bad, "--key-column", "k"});
    CHECK(fields.exit_code == 1);
    CHECK_THAT(fields.errors, contains("bad.csv:3:6: the row has 3 fields, the header has 2"));

    const ProgramResult column = run_demo({"demo", "--input", bad, "--key-column", "origin"});
    CHECK(column.exit_code == 2);
    CHECK_THAT(column.errors, contains("there is no column 'origin'; there are: k, v"));

    const ProgramResult absent =
        run_demo({"demo", "--input", "/dev/shm/ringmain-test-absent.csv", "--key-column", "k"});
    CHECK(absent.exit_code == 1);
    CHECK_THAT(absent.errors, contains("/dev/shm/ringmain-test-absent.csv"));

    const std::string header_only = directory.write("header.csv", "k,v\n");
    CHECK_THAT(run_demo({"demo", "--input", header_only, "--key-column", "k"}).errors, contains("there are no rows"));
}

TEST_CASE("The demo names a row that is too large for a record, and leaves nothing behind") {
    const TestDirectory directory;
    const std::string file = directory.write("large.csv", "k,v\na,1\nb," + std::string(8'000'000, 'x') + "\n");
    const ProgramResult result =
        run_demo({"-d", directory.path() / "new", "demo", "--seconds", "2", "--input", file, "--key-column", "k"});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("large.csv:3:1: the row has 8000002 bytes"));
    CHECK_FALSE(std::filesystem::exists(directory.path() / "new"));
}

TEST_CASE("The demo refuses options out of range and options without each other") {
    CHECK(run_demo({"demo", "telemetry", "--seconds", "1"}).exit_code == 2);
    CHECK(run_demo({"demo", "--seconds", "soon"}).exit_code == 2);
    CHECK(run_demo({"demo", "--producers", "0"}).exit_code == 2);
    CHECK(run_demo({"demo", "--producers", "9"}).exit_code == 2);
    CHECK(run_demo({"demo", "--input", "x.csv"}).exit_code == 2);
    CHECK(run_demo({"demo", "--key-column", "x"}).exit_code == 2);
    CHECK(run_demo({"demo", "--value-column", "x"}).exit_code == 2);
    CHECK(run_demo({"demo", "orders", "--input", "x.csv", "--key-column", "x"}).exit_code == 2);
    CHECK(run_demo({"demo", "telemetry", "--plant", "skip"}).exit_code == 2);
    CHECK(run_demo({"demo", "weather"}).exit_code == 2);
}

TEST_CASE("An interrupted demo ends its children and removes its directory") {
    const TestDirectory directory;
    for (const int number : {SIGINT, SIGTERM}) {
        Program demo({RINGMAIN_CLI_PATH, "-d", directory.path(), "demo", "telemetry", "--seconds", "20"});
        REQUIRE(demo.wait_for("producers publish"));
        demo.signal(number);
        const ProgramResult result = demo.finish();
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.errors, contains("interrupted"));
        CHECK(directory.empty());
    }
}

TEST_CASE("A demo that is killed leaves nothing behind") {
    const TestDirectory directory;
    const std::filesystem::path parent = directory.path() / "made by the demo";
    Program demo({RINGMAIN_CLI_PATH, "-d", parent, "demo", "telemetry", "--seconds", "20"});
    REQUIRE(demo.wait_for("producers publish"));
    demo.signal(SIGKILL);
    CHECK(demo.finish().exit_code == -1);
    // Removed once the last of its processes is dead.
    CHECK(becomes_empty(directory));
}

TEST_CASE("A demo that is killed with all its processes is swept by the next one") {
    const TestDirectory directory;
    Program demo({RINGMAIN_CLI_PATH, "-d", directory.path(), "demo", "telemetry", "--seconds", "20"});
    REQUIRE(demo.wait_for("producers publish"));
    for (const pid_t child : children_of(demo.pid()))
        ::kill(child, SIGSTOP);
    demo.signal(SIGSTOP);
    for (const pid_t child : children_of(demo.pid()))
        ::kill(child, SIGKILL);
    demo.signal(SIGKILL);
    CHECK(demo.finish().exit_code == -1);
    REQUIRE_FALSE(directory.empty());
    // Its children hold the directory's lock as long as they live, and the first of these may come while they are still dying.
    for (int runs = 0; runs < 3 && !directory.empty(); ++runs)
        report_of(run_demo({"-d", directory.path(), "demo", "telemetry", "--seconds", "2", "--json"}));
    CHECK(directory.empty());
}

TEST_CASE("A measurement that is killed leaves no topic in the broker it was given") {
    const TestDirectory directory;
    REQUIRE(run_program({RINGMAIN_CLI_PATH, "-d", directory.path(), "topic", "create", "keep", "--records", "1K",
                         "--payload", "0"})
                .exit_code == 0);
    const auto topics = [&] {
        return run_program({RINGMAIN_CLI_PATH, "-d", directory.path(), "topic", "list"}).output;
    };
    Program perf({RINGMAIN_CLI_PATH, "-d", directory.path(), "perf", "--seconds", "60", "--wait", "block"});
    REQUIRE(eventually([&] { return topics().find("perf-") != std::string::npos; }));
    perf.signal(SIGKILL);
    CHECK(perf.finish().exit_code == -1);
    CHECK(eventually([&] { return topics() == "keep\n"; }));
}

TEST_CASE("The demo fits a container's 64 MiB of shared memory, and says what is missing in 16 MiB") {
    const TestDirectory directory;
    {
        const SmallFileSystem container(directory, "64m");
        if (!container.mounted())
            SKIP("mounting a tmpfs is not permitted here");
        report_of(run_demo({"-d", container.path(), "demo", "telemetry", "--seconds", "2", "--json"}));
        CHECK(std::filesystem::is_empty(container.path()));
    }
    const SmallFileSystem small(directory, "16m");
    REQUIRE(small.mounted());
    const ProgramResult result = run_demo({"-d", small.path(), "demo", "telemetry", "--seconds", "2"});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("bytes"));
    CHECK_THAT(result.errors, contains("free"));
    CHECK(std::filesystem::is_empty(small.path()));
}
