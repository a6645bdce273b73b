// Who is attached to a broker directory, and when somebody of them has died.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "client_table/client_table.hpp"
#include "platform/process_watch.hpp"

namespace ringmain {

/// Counts the deaths of clients, so that a keeper looks for what the dead held only after one. A pidfd says at once when to ask
/// for the proof, which is the lock; a client of another pid namespace is asked after now and then. Not thread-safe but for
/// interrupt().
class ClientWatch {
public:
    /// How long the death of a client without a pidfd may go unnoticed.
    static constexpr std::int64_t kProbeNs = 500'000'000;

    /// `clients` outlives it. Throws Error as ProcessWatch.
    explicit ClientWatch(const client_table::ClientTable& clients) : clients_(&clients) {}

    /// Takes note of clients that came, and of those that died. `now_ns`: monotonic.
    void look(std::int64_t now_ns);
    /// Grows when a client that had attached is proven dead. A keeper's first look counts as one.
    [[nodiscard]] std::uint64_t deaths() const noexcept { return deaths_; }
    [[nodiscard]] std::size_t alive() const noexcept { return alive_; }
    /// Those whose end a wait notices.
    [[nodiscard]] std::size_t watched() const noexcept { return processes_.watched(); }

    /// Ends waits when this descriptor is readable, too.
    void add(int descriptor) noexcept { processes_.add(descriptor); }
    /// Until a client with a pidfd ends, a descriptor is readable, interrupt(), or the time-out.
    void wait(std::chrono::nanoseconds timeout) noexcept;
    void interrupt() noexcept { processes_.interrupt(); }

private:
    struct Seen {
        std::uint32_t incarnation = 0;
        bool alive = false;
    };
    [[nodiscard]] std::uint32_t slots_to_look_at() noexcept;
    bool note_newcomers();
    bool probe();
    void watch_the_living();

    const client_table::ClientTable* clients_;
    platform::ProcessWatch processes_;
    std::vector<Seen> seen_;  // by slot, as far as slots have been used
    std::uint64_t looks_ = 0;
    std::uint64_t deaths_ = 0;
    std::size_t alive_ = 0;
    bool somebody_ended_ = true;
    std::int64_t probed_ns_ = 0;
};

}  // namespace ringmain
