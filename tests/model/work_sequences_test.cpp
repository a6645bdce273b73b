// Random sequences of calls of the workers of a queue, with deaths in any of them, against a reference with a clock of its own.
#include <rapidcheck.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "concurrency/seed.hpp"
#include "model/work_run.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

rc::Gen<WorkOperation> some_operation() {
    const auto action = rc::gen::weightedElement<WorkAction>({{8, WorkAction::publish},
                                                              {1, WorkAction::skip},
                                                              {14, WorkAction::acquire},
                                                              {7, WorkAction::ack},
                                                              {5, WorkAction::nack},
                                                              {3, WorkAction::release},
                                                              {3, WorkAction::reject},
                                                              {3, WorkAction::renew},
                                                              {8, WorkAction::pass},
                                                              {3, WorkAction::die},
                                                              {2, WorkAction::restart},
                                                              {1, WorkAction::refuse},
                                                              {1, WorkAction::retain},
                                                              {1, WorkAction::reset},
                                                              {1, WorkAction::keep}});
    const auto number = rc::gen::resize(1000, rc::gen::inRange<std::uint32_t>(0, 1'000'000));
    return rc::gen::build<WorkOperation>(rc::gen::set(&WorkOperation::action, action), rc::gen::set(&WorkOperation::a, number),
                                         rc::gen::set(&WorkOperation::b, number), rc::gen::set(&WorkOperation::c, number));
}

rc::Gen<std::uint64_t> some_first_offset() {
    constexpr std::uint64_t kOne = 1;
    return rc::gen::weightedElement<std::uint64_t>({{10, 0},
                                                    {1, 5},
                                                    {2, (kOne << 32) - 30},
                                                    {2, (kOne << 48) - 25},
                                                    {2, (kOne << 60) - 20},
                                                    {2, (kOne << 61) - 40}});
}

rc::Gen<std::uint64_t> some_time() {
    constexpr std::uint64_t kTurn = work_table::kClockMask + 1;
    return rc::gen::weightedElement<std::uint64_t>({{5, 1'000'000}, {2, kTurn - 700}, {1, kTurn - 5'000}, {1, 3 * kTurn - 2'000}});
}

}  // namespace

TEST_CASE("Random sequences of calls of workers do to a queue what they do to the reference") {
    const std::uint64_t seed = seed_for("work model");
    const std::uint64_t usual = from_environment("RINGMAIN_LONG", 0) != 0 ? 100'000 : 3'000;
    const std::uint64_t sequences = from_environment("RINGMAIN_MODEL_SEQUENCES", usual);
    const std::string parameters = "seed=" + std::to_string(seed) + " max_success=" + std::to_string(sequences) + " max_size=160";
    ::setenv("RC_PARAMS", parameters.c_str(), 0);
    std::uint64_t ran = 0;
    std::uint64_t operations = 0;
    const bool good = rc::check("a queue behaves like the reference", [&] {
        WorkSequence sequence;
        sequence.shape = *rc::gen::resize(1000, rc::gen::inRange<std::uint32_t>(0, 1'000'000)).as("shape");
        sequence.first_offset = *some_first_offset().as("first offset");
        sequence.now = *some_time().as("now");
        sequence.operations = *rc::gen::container<std::vector<WorkOperation>>(some_operation()).as("operations");
        ++ran;
        operations += sequence.operations.size();
        try {
            run_work_sequence(sequence);
        } catch (const std::exception& error) {
            RC_FAIL(error.what());
        }
    });
    std::cout << "work model: " << ran << " sequences, " << operations << " operations\n";
    CHECK(good);
    CHECK(ran >= sequences);
}

}  // namespace ringmain::test
