// One slot of the client table: the next client that takes it, and whether one that had it is gone.
//
// A lock of the kernel says who has the slot, the incarnation which of its clients that is. Only the holder of the lock
// raises it: a client that is named by another file is {slot, incarnation}, and nobody is ever called so again.
#pragma once

#include <cstdint>

#include "layout/clients.hpp"
#include "platform/process.hpp"

namespace ringmain::client_table {

template <class M>
class ClientSlot {
public:
    ClientSlot(layout::ClientEntry<M>& entry, std::uint32_t slot) noexcept : entry_(entry), slot_(slot) {}

    /// Requires the slot's lock.
    layout::ClientId take(const platform::ProcessIdentity& me, std::uint64_t now_ns) const noexcept {
        // relaxed: for show; whoever reads them compares the incarnation
        entry_.pid.store(me.pid, std::memory_order_relaxed);
        entry_.pid_namespace.store(me.pid_namespace, std::memory_order_relaxed);
        entry_.start_ticks.store(me.start_ticks, std::memory_order_relaxed);
        entry_.since_ns.store(now_ns, std::memory_order_relaxed);

        // relaxed load: only holders of the lock write it, and the kernel orders them
        std::uint64_t incarnation = entry_.incarnation.load(std::memory_order_relaxed) + 1;
        if (static_cast<std::uint32_t>(incarnation) == 0)
            ++incarnation;  // 0 is nobody
        // release CLIENT: before any other file names the new client
        entry_.incarnation.store(incarnation, std::memory_order_release);
        return {slot_, static_cast<std::uint32_t>(incarnation)};
    }

    /// The last client that had the slot; 0: none ever had.
    [[nodiscard]] std::uint32_t incarnation() const noexcept {
        // acquire CLIENT: at least as new as the word that named the client
        return static_cast<std::uint32_t>(entry_.incarnation.load(std::memory_order_acquire));
    }

    /// `lock_is_held` asks the kernel, after the look at the incarnation.
    template <class LockIsHeld>
    [[nodiscard]] bool proven_dead(std::uint32_t incarnation_of_client, const LockIsHeld& lock_is_held) const noexcept {
        const std::int32_t lives = lives_since(incarnation_of_client, incarnation());
        if (lives != 0)
            return lives > 0;
        // The holder took the lock before it raised the incarnation and keeps it while it lives: if the lock is free,
        // it ended.
        return !lock_is_held();
    }

private:
    // How many lives of the slot lie between; negative if `then` has not been given out yet.
    static std::int32_t lives_since(std::uint32_t then, std::uint32_t now) noexcept {
        return static_cast<std::int32_t>(now - then);
    }

    layout::ClientEntry<M>& entry_;
    std::uint32_t slot_;
};

}  // namespace ringmain::client_table
