// A broker with a topic, a process that is killed somewhere in what it does to them, and a second keeper that goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "crash/shared_bytes.hpp"
#include "crash/stride.hpp"
#include "ringmain/ringmain.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::crash {

inline constexpr const char* kTopic = "t";

/// How far a victim gets in its operation, and what it was stopped at on the way.
struct Way {
    StrideUnit unit;
    std::uint64_t points;
    std::vector<std::uint64_t> trace;
};

[[nodiscard]] TopicOptions small();
/// Stops where the parent can begin to count.
void begin_here();

/// Runs an operation in a process of its own as far as the way goes, and kills it there. Once the process is at its
/// mark, `beside` is done. Says how far it got.
[[nodiscard]] Way kill_on_way(const Way& way, const std::function<void()>& operation,
                              const std::function<void()>& beside = {});

/// Kills after each effect; with RINGMAIN_LONG also at many instructions. `kill` goes a way and says how far it got.
/// Returns how many kills there were.
std::uint64_t kill_everywhere(const std::function<Way(const Way&)>& kill);

struct KeeperStage {
    test::ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};

    KeeperStage() { broker.create_topic(kTopic, small()); }

    /// A second keeper gives everything back that only the dead hold. Says what it did not.
    [[nodiscard]] std::string keep_and_judge();
    [[nodiscard]] bool publishes(std::string_view topic);
};

}  // namespace ringmain::crash
