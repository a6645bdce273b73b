// The keeper: housekeeping of one broker directory. The data path never needs it; only recycling does.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "ringmain/broker.hpp"
#include "ringmain/export.hpp"

namespace ringmain {

/// What one step did.
struct KeeperReport {
    std::uint64_t reaped_producers = 0;
    std::uint64_t reaped_gates = 0;
    std::uint64_t sealed_extents = 0;
    std::uint64_t closed_tickets = 0;
    std::uint64_t released_cells = 0;
    std::uint64_t swept_directories = 0;
    std::uint64_t evicted_members = 0;      ///< Of consumer groups: proven dead, or silent for their session time-out.
    std::uint64_t freed_member_slots = 0;
    std::uint64_t swept_groups = 0;
    std::uint64_t let_go = 0;               ///< Partitions of groups whose next record was older than they want to hold.
    std::uint64_t unfinished = 0;  ///< Partitions whose cells are being walked over several steps: work again at once.
    [[nodiscard]] bool idle() const noexcept {
        return reaped_producers + reaped_gates + sealed_extents + closed_tickets + released_cells + swept_directories + evicted_members +
                   freed_member_slots + swept_groups + let_go + unfinished == 0;
    }
};

/// Reaps dead producers and gates, closes tickets that nobody else closed, releases quarantined cells and sweeps what a
/// killed creation or deletion left behind, evicts members of groups that are gone. One at a time per broker directory, by a
/// kernel-held lock. If it dies anywhere, the next keeper goes on from what it finds. A moved-from keeper may be assigned to or
/// destroyed, nothing else.
class RINGMAIN_API Keeper {
public:
    /// Throws Error: busy (names the pid of the other keeper), permission_denied.
    explicit Keeper(const Broker& broker);
    Keeper(Keeper&&) noexcept;
    Keeper& operator=(Keeper&&) noexcept;
    ~Keeper();

    /// One bounded step. `now`: monotonic, any origin; used for patience only. Errors of single topics do not stop the
    /// others. Throws nothing; not to be called from two threads at once.
    KeeperReport do_work(std::chrono::nanoseconds now) noexcept;

    /// Works until told to stop, sleeping `interval` between idle steps.
    void run(std::stop_token stop, std::chrono::milliseconds interval = std::chrono::milliseconds(10));

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
