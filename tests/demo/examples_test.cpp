// The examples, run as programs.
#include <string>

#include "demo_run.hpp"
#include "support/catch.hpp"

using namespace ringmain::test;

namespace {

ProgramResult run_example(const std::string& name, const TestDirectory& directory) {
    return run_program({std::string(RINGMAIN_EXAMPLES_PATH) + "/" + name},
                       {{"RINGMAIN_DIR", (directory.path() / "broker").string()}});
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
