// A random sequence: options of a topic, then operations on it. Every number stands for something legal, so that a
// sequence can be shrunk by leaving operations out and making numbers smaller.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "ringmain/topic_options.hpp"

namespace ringmain::test {

enum class Action : std::uint8_t {
    publish,
    batch,
    loan,
    poll,
    visit,
    seek,
    gate,
    reopen_consumer,
    reopen_producer,
    recreate,
    keep,
    look,
    count
};

struct Operation {
    Action action = Action::publish;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;
};
std::ostream& operator<<(std::ostream& out, const Operation& operation);

struct Sequence {
    std::uint32_t shape = 0;  // decides the topic's options
    std::uint64_t first_offset = 0;
    std::vector<Operation> operations;
};

/// Legal options, each reachable from some number.
[[nodiscard]] TopicOptions options_from(std::uint32_t shape, std::uint64_t first_offset);

/// Runs the sequence on a broker of its own and on the reference. Throws std::runtime_error where they differ.
void run_sequence(const Sequence& sequence);

}  // namespace ringmain::test
