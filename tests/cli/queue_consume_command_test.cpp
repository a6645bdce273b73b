// `ringmain consume -q`, as a shell sees it: what it refuses, and the answers on standard input.
#include <string>
#include <vector>

#include "cli_process.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

/// Topic t with two records, and queue q.
struct Place : CliBroker {
    Place() {
        create_topic("t", {"--records", "64", "--payload", "0", "--producers", "2"});
        REQUIRE(run({"produce", "t"}, "a\nb\n").exit_code == 0);
        REQUIRE(run({"queue", "create", "q", "-t", "t", "--exhausted", "skip", "--expired", "skip"}).exit_code == 0);
    }
    [[nodiscard]] CliResult consume(const std::vector<std::string>& options, const std::string& input = "") const {
        std::vector<std::string> arguments = {"consume", "t"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        return run(arguments, input);
    }
};

}  // namespace

TEST_CASE(
    "consume -q refuses what cannot be in the words of the command line, and takes a queue as it is without them") {
    const Place place;
    const auto refused = [&](const std::vector<std::string>& options, int exit_code) {
        const CliResult result = place.consume(options);
        CHECK(result.exit_code == exit_code);
        CHECK(result.output == "");
        return result.errors;
    };
    CHECK_THAT(refused({"-q", "new", "--lock-time", "1ms"}, 2),
               contains("--lock-time 1 ms is outside 10 ms to 43200000 ms"));
    CHECK_THAT(refused({"-q", "q", "--lock-time", "5s", "-e"}, 1),
               contains("exists with --lock-time 30000 ms, not 5000 ms; without the option it is taken as it is"));
    CHECK_THAT(refused({"-q", "", "-e"}, 2), contains("a name has 1 to 200 bytes"));
    CHECK_THAT(refused({"-q", "ringmain.dlq", "-e"}, 2), contains("reserved"));
    CHECK(place.consume({"-q", "q", "-e"}).output == "a\nb\n");
}

TEST_CASE("An answer that says more than it may is refused, and the record goes back") {
    const Place place;
    const CliResult result =
        place.consume({"-q", "q", "--ack", "manual", "-c", "2"}, "ack 0:0 late\nack 0:1\nnonsense 0:0\n");
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.errors, contains("'ack 0:0 late': ack takes nothing behind the record, not 'late'") &&
                                  contains("'nonsense' is none of ack, nack, release, reject and renew") &&
                                  contains("1 record answered, 0 answers refused"));
    CHECK(place.consume({"-q", "q", "-e"}).output == "a\n");
}

TEST_CASE("consume -q that waits for answers ends at once when its queue or topic is deleted") {
    const std::vector<std::string> end = GENERATE(std::vector<std::string>{"queue", "delete", "q", "--force"},
                                                  std::vector<std::string>{"topic", "delete", "t"});
    const std::vector<std::string> more =
        GENERATE(std::vector<std::string>{}, std::vector<std::string>{"-c", "2"}, std::vector<std::string>{"--max-in-flight", "2"});
    const Place place;
    std::vector<std::string> arguments = {"consume", "t", "-q", "q", "--ack", "manual"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    CliProcess worker(place.in_directory(arguments));
    REQUIRE(worker.wait_for_output("b\n"));
    REQUIRE(place.run(end).exit_code == 0);
    REQUIRE(worker.wait_for_errors("deleted"));  // its input is open still
    const CliResult result = worker.finish();
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("queue 'q' of topic 't': "));
}

}  // namespace ringmain::test
