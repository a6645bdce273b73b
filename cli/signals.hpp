// Being told to stop, and writing to a closed pipe.
#pragma once

namespace ringmain::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP makes `stop_requested` true and interrupts blocking system calls; the next
/// one has its default effect, so that a program that does not look can still be ended.
void catch_stop_signals();

[[nodiscard]] bool stop_requested() noexcept;

/// From now on SIGINT, SIGTERM and SIGHUP wait until the program ends: for work that is short and must not be left half
/// done.
void hold_stop_signals();

/// From now on a write to a closed pipe fails with EPIPE.
void ignore_broken_pipes();

}  // namespace ringmain::cli
