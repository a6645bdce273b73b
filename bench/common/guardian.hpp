// A process that tidies up after this one, if this one is killed.
#pragma once

#include <sys/types.h>

#include <functional>

namespace ringmain::bench {

/// Forks a process that sleeps until this process and all children that it has forked since are gone, however they went,
/// and then runs `clean_up`. The object's destructor, in the process that made it, ends the guardian without that.
class Guardian {
public:
    /// Requires one thread. Throws std::system_error.
    explicit Guardian(const std::function<void()>& clean_up);
    ~Guardian();
    Guardian(const Guardian&) = delete;
    Guardian& operator=(const Guardian&) = delete;

private:
    pid_t maker_;
    pid_t pid_ = -1;
    int alive_ = -1;  // write end of a pipe that is never written to: closed when its last holder is gone
};

}  // namespace ringmain::bench
