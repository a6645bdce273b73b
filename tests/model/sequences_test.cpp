// Random sequences of everything that can be done with a topic by one process, against a reference of fifty lines.
#include <rapidcheck.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "concurrency/seed.hpp"
#include "model/operations.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

// RINGMAIN_SEED and RINGMAIN_MODEL_SEQUENCES go to rapidcheck in its own words; RC_PARAMS, if set, wins.
void configure(std::uint64_t sequences) {
    const std::uint64_t seed = seed_for("model");
    const std::string parameters =
        "seed=" + std::to_string(seed) + " max_success=" + std::to_string(sequences) + " max_size=60";
    ::setenv("RC_PARAMS", parameters.c_str(), 0);
}

rc::Gen<Operation> some_operation() {
    const auto action = rc::gen::weightedElement<Action>({{12, Action::publish},
                                                          {6, Action::batch},
                                                          {4, Action::loan},
                                                          {8, Action::poll},
                                                          {3, Action::visit},
                                                          {4, Action::seek},
                                                          {4, Action::gate},
                                                          {1, Action::reopen_consumer},
                                                          {1, Action::reopen_producer},
                                                          {1, Action::recreate},
                                                          {1, Action::keep},
                                                          {1, Action::look}});
    const auto number = rc::gen::resize(1000, rc::gen::inRange<std::uint32_t>(0, 1'000'000));
    return rc::gen::build<Operation>(rc::gen::set(&Operation::action, action), rc::gen::set(&Operation::a, number),
                                     rc::gen::set(&Operation::b, number), rc::gen::set(&Operation::c, number));
}

rc::Gen<std::uint64_t> some_first_offset() {
    constexpr std::uint64_t kOne = 1;
    return rc::gen::weightedElement<std::uint64_t>({{10, 0},
                                                    {1, 5},
                                                    {1, (kOne << 31) - 20},
                                                    {2, (kOne << 32) - 30},
                                                    {2, (kOne << 48) - 25},
                                                    {2, kFirstOffsetMax - 40},
                                                    {1, kFirstOffsetMax}});
}

}  // namespace

TEST_CASE("Random sequences of calls do to a topic what they do to the reference") {
    const std::uint64_t usual = from_environment("RINGMAIN_LONG", 0) != 0 ? 100'000 : 1'200;
    const std::uint64_t sequences = from_environment("RINGMAIN_MODEL_SEQUENCES", usual);
    configure(sequences);
    std::uint64_t ran = 0;
    std::uint64_t operations = 0;
    const bool good = rc::check("a topic behaves like the reference", [&] {
        Sequence sequence;
        sequence.shape = *rc::gen::resize(1000, rc::gen::inRange<std::uint32_t>(0, 1'000'000)).as("shape");
        sequence.first_offset = *some_first_offset().as("first offset");
        sequence.operations = *rc::gen::container<std::vector<Operation>>(some_operation()).as("operations");
        ++ran;
        operations += sequence.operations.size();
        try {
            run_sequence(sequence);
        } catch (const std::exception& error) {
            RC_FAIL(error.what());
        }
    });
    std::cout << "model: " << ran << " sequences, " << operations << " operations\n";
    CHECK(good);
    CHECK(ran >= sequences);
}

}  // namespace ringmain::test
