// Threads of one child process, with the calls of ChildGroup that a duel makes.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace ringmain::bench {

/// What is started runs when wait() is called: in threads of one child process, so that signals, failures and private
/// memory are treated as with processes.
class ThreadGroup {
public:
    void start(int cpu, std::function<void()> work) { works_.emplace_back(cpu, std::move(work)); }

    /// Until all threads ended well. Throws as ChildGroup::wait.
    void wait();

private:
    std::vector<std::pair<int, std::function<void()>>> works_;
};

}  // namespace ringmain::bench
