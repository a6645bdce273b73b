// The examples, run as programs.
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "demo_run.hpp"
#include "support/catch.hpp"

using namespace ringmain::test;

namespace {

ProgramResult run_example(const std::string& name, const TestDirectory& directory) {
    return run_program({std::string(RINGMAIN_EXAMPLES_PATH) + "/" + name},
                       {{"RINGMAIN_DIR", (directory.path() / "broker").string()}});
}

/// Kills the example a little later each time, until a run comes to its end; then once more, undisturbed.
ProgramResult run_killed(const std::vector<std::string>& arguments, const TestDirectory& directory, int& kills) {
    const std::map<std::string, std::string> environment{{"RINGMAIN_DIR", (directory.path() / "broker").string()}};
    constexpr int kKillsMax = 40;
    for (kills = 0; kills < kKillsMax; ++kills) {
        Program program(arguments, environment);
        std::this_thread::sleep_for(std::chrono::microseconds(500 + 1700 * kills));
        program.signal(SIGKILL);
        if (program.finish().exit_code != -1)
            break;
    }
    return run_program(arguments, environment);
}

}  // namespace

TEST_CASE("The trading example sees every update in order") {
    const TestDirectory directory;
    const ProgramResult result = run_example("trading", directory);
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, contains("in order: yes"));
}

TEST_CASE("The event loop example reads its records through a descriptor") {
    const TestDirectory directory;
    const ProgramResult result = run_example("event_loop", directory);
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, contains("records 50,"));
}

TEST_CASE("The embedded keeper example outlives the producers that it kills") {
    const TestDirectory directory;
    const ProgramResult result = run_example("embedded_keeper", directory);
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, contains("producers killed 5"));
}

TEST_CASE("The retries example bills the flaky order at its third attempt, and the poison one becomes a dead letter") {
    const TestDirectory directory;
    const ProgramResult result = run_example("retries", directory);
    INFO(result.errors);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, contains("billed: carol flaky (at attempt 3)"));
    CHECK_THAT(result.output, contains("dead letter: bob poison, 3 attempts, no such product"));
    CHECK_THAT(result.output, contains("shipped 6, poison tried 3 times"));
}

TEST_CASE("The pipeline example loses and repeats nothing, however often it is killed") {
    const TestDirectory directory;
    int kills = 0;
    const ProgramResult result = run_killed({std::string(RINGMAIN_EXAMPLES_PATH) + "/pipeline", "100000"}, directory, kills);
    INFO(result.errors);
    CHECK(kills > 0);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, contains("invoices 100000, each once and in order: yes"));
}

#ifdef RINGMAIN_HAS_SQLITE_EXAMPLE
TEST_CASE("The SQLite example counts every payment once, however often it is killed") {
    const TestDirectory directory;
    int kills = 0;
    const std::string database = (directory.path() / "balances.db").string();
    const ProgramResult result = run_killed({std::string(RINGMAIN_EXAMPLES_PATH) + "/sqlite_sink", database, "20000"}, directory, kills);
    INFO(result.errors);
    CHECK(kills > 0);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.output, contains("payments 20000, cents 200010000, each once: yes"));
}
#endif
