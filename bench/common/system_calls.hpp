// Counting the system calls of a piece of work, as strace -c would.
#pragma once

#include <cstdint>
#include <functional>

namespace ringmain::bench {

/// Forks a traced child that runs `prepare` and then `work`; answers how many system calls `work` made. Throws Skipped
/// when tracing is not allowed here, std::runtime_error when the child failed.
std::uint64_t count_system_calls(const std::function<void()>& prepare, const std::function<void()>& work);

}  // namespace ringmain::bench
