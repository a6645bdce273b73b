// Runs a function in a child and stops it before and after each system call, by ptrace.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace ringmain::test {

/// Whether this process may trace its children.
[[nodiscard]] bool can_trace();

/// Runs `body` in a child and kills it by SIGKILL at its `stop`-th stop (0: before its first system call).
/// False: the child ended before. Throws std::runtime_error if the child failed by itself.
bool run_killed_at(std::uint64_t stop, const std::function<void()>& body);

/// Runs `body` in a child to its end and returns the numbers of the system calls it made.
[[nodiscard]] std::vector<std::uint64_t> system_calls_of(const std::function<void()>& body);

}  // namespace ringmain::test
