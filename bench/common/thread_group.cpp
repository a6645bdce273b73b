// One forked process, one pinned thread for each side.
#include "bench/common/thread_group.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <thread>

#include "bench/common/process.hpp"

namespace ringmain::bench {
namespace {

/// A side that fails ends the process: the other one may be waiting for it.
void run_side(int cpu, const std::function<void()>& work) {
    try {
        pin_to_cpu(cpu);
        work();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "thread: %s\n", error.what());
        std::fflush(stderr);
        ::_exit(1);
    }
}

}  // namespace

void ThreadGroup::wait() {
    ChildGroup group;
    group.start(-1, [this] {
        std::vector<std::thread> threads;
        for (const auto& [cpu, work] : works_)
            threads.emplace_back([cpu = cpu, &work = work] { run_side(cpu, work); });
        for (std::thread& thread : threads)
            thread.join();
    });
    group.wait();
}

}  // namespace ringmain::bench
