// Running one random sequence on the real thing and on the reference.
#include "model/operations.hpp"

#include <stdexcept>
#include <string>

#include "model/sequence_run.hpp"

namespace ringmain::test {

std::ostream& operator<<(std::ostream& out, const Operation& operation) {
    static constexpr const char* kNames[] = {"publish",         "batch",    "loan", "poll",
                                             "visit",           "seek",     "gate", "reopen_consumer",
                                             "reopen_producer", "recreate", "keep", "look"};
    return out << kNames[static_cast<std::size_t>(operation.action)] << '(' << operation.a << ", " << operation.b
               << ", " << operation.c << ')';
}

TopicOptions options_from(std::uint32_t shape, std::uint64_t first_offset) {
    const auto draw = [&shape](std::uint32_t choices) {
        const std::uint32_t choice = shape % choices;
        shape /= choices;
        return choice;
    };
    TopicOptions options;
    options.when_full = draw(2) == 0 ? WhenFull::overwrite : WhenFull::block;
    options.partitions = 1 + draw(3);
    options.records = std::uint64_t{16} << draw(4);
    options.producer_slots = 1U << draw(3);
    options.cell_bytes = 64U << draw(3);
    options.payload_bytes = draw(3) == 0 ? 0 : std::uint64_t{1} << (16 + draw(3));
    options.first_offset = first_offset;
    return options;
}

void run_sequence(const Sequence& sequence) {
    SequenceRun run(options_from(sequence.shape, sequence.first_offset));
    std::size_t index = 0;
    try {
        for (const Operation& operation : sequence.operations) {
            run.apply(operation);
            ++index;
        }
        run.finish();
    } catch (const std::exception& error) {
        throw std::runtime_error("after " + std::to_string(index) + " operations: " + error.what());
    }
}

}  // namespace ringmain::test
